import { foldCase, invert, namedClass, normalize, type Ranges } from './classes.ts';

/** A regular expression of the RE2 dialect, parsed. */
export type RegexNode =
  | { kind: 'empty' }
  | { kind: 'set'; ranges: Ranges }
  | { kind: 'sequence'; parts: RegexNode[] }
  | { kind: 'choice'; options: RegexNode[] }
  | { kind: 'repeat'; part: RegexNode; min: number; max: number; greedy: boolean }
  | { kind: 'assert'; what: Assertion };

export type Assertion = 'textStart' | 'textEnd' | 'lineStart' | 'lineEnd' | 'word' | 'notWord';

interface Flags {
  ignoreCase: boolean;
  multiLine: boolean;
  dotAll: boolean;
  ungreedy: boolean;
}

const maximumRepeat = 1000;
const maximumDepth = 200;
const maximumSource = 10_000;

/**
 * Parses RE2 syntax (https://github.com/google/re2/wiki/Syntax), as Go's regexp does.
 *
 * @throws Error with Go's `error parsing regexp: …` wording. Lookaround and back references are not part of RE2.
 */
export function parseRegex(source: string): RegexNode {
  if (source.length > maximumSource) throw new Error('error parsing regexp: expression too large');
  return new Parser(source).parse();
}

class Parser {
  readonly #chars: string[];
  #at = 0;
  #depth = 0;
  #flags: Flags = { ignoreCase: false, multiLine: false, dotAll: false, ungreedy: false };

  constructor(source: string) {
    this.#chars = Array.from(source);
  }

  parse(): RegexNode {
    const node = this.#choice();
    if (this.#at < this.#chars.length) throw this.#error('unexpected )', this.#chars.join(''));
    return node;
  }

  #error(what: string, where: string): Error {
    return new Error(`error parsing regexp: ${what}: \`${where}\``);
  }

  #choice(): RegexNode {
    if (++this.#depth > maximumDepth) throw new Error('error parsing regexp: expression nests too deeply');
    const options = [this.#sequence()];
    while (this.#chars[this.#at] === '|') {
      this.#at++;
      options.push(this.#sequence());
    }
    this.#depth--;
    return options.length === 1 ? options[0]! : { kind: 'choice', options };
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = [];
    while (this.#at < this.#chars.length) {
      const char = this.#chars[this.#at]!;
      if (char === '|' || char === ')') break;
      if (char === '\\' && this.#chars[this.#at + 1] === 'Q') {
        this.#at += 2;
        while (this.#at < this.#chars.length) {
          if (this.#chars[this.#at] === '\\' && this.#chars[this.#at + 1] === 'E') {
            this.#at += 2;
            break;
          }
          parts.push(this.#literal(this.#chars[this.#at++]!));
        }
        continue;
      }
      const atom = this.#atom();
      if (atom !== undefined) parts.push(this.#repeats(atom));
    }
    if (parts.length === 0) return { kind: 'empty' };
    return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
  }

  #repeats(atom: RegexNode): RegexNode {
    let node = atom;
    let repeated = false;
    for (;;) {
      const start = this.#at;
      const bounds = this.#quantifier();
      if (bounds === undefined) return node;
      if (repeated) {
        throw this.#error('invalid nested repetition operator', this.#chars.slice(start - 1, this.#at).join(''));
      }
      repeated = true;
      let greedy = !this.#flags.ungreedy;
      if (this.#chars[this.#at] === '?') {
        this.#at++;
        greedy = !greedy;
      }
      node = { kind: 'repeat', part: node, min: bounds[0], max: bounds[1], greedy };
    }
  }

  #quantifier(): [number, number] | undefined {
    const char = this.#chars[this.#at];
    if (char === '*' || char === '+' || char === '?') {
      this.#at++;
      return char === '*' ? [0, Infinity] : char === '+' ? [1, Infinity] : [0, 1];
    }
    if (char !== '{') return undefined;
    const close = this.#chars.indexOf('}', this.#at);
    const text = close < 0 ? '' : this.#chars.slice(this.#at, close + 1).join('');
    const match = /^\{(\d{1,6})(,(\d{0,6}))?\}$/.exec(text);
    if (match === null) return undefined;
    this.#at = close + 1;
    const min = Number(match[1]);
    const max = match[2] === undefined ? min : match[3] === '' ? Infinity : Number(match[3]);
    if (min > maximumRepeat || (max !== Infinity && max > maximumRepeat) || max < min) {
      throw this.#error('invalid repeat count', text);
    }
    return [min, max];
  }

  #literal(char: string): RegexNode {
    const code = char.codePointAt(0)!;
    const ranges: Ranges = [[code, code]];
    return { kind: 'set', ranges: this.#flags.ignoreCase ? foldCase(ranges) : ranges };
  }

  #set(ranges: Ranges, negated: boolean): RegexNode {
    const folded = this.#flags.ignoreCase ? foldCase(ranges) : normalize(ranges);
    return { kind: 'set', ranges: negated ? invert(folded) : folded };
  }

  /** Undefined for a group that only sets flags, `(?i)`. */
  #atom(): RegexNode | undefined {
    const char = this.#chars[this.#at++]!;
    switch (char) {
      case '^':
        return { kind: 'assert', what: this.#flags.multiLine ? 'lineStart' : 'textStart' };
      case '$':
        return { kind: 'assert', what: this.#flags.multiLine ? 'lineEnd' : 'textEnd' };
      case '.':
        return { kind: 'set', ranges: this.#flags.dotAll ? invert([]) : invert([[10, 10]]) };
      case '[':
        return this.#class();
      case '(':
        return this.#group();
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        throw this.#error('missing argument to repetition operator', char);
      default:
        return this.#literal(char);
    }
  }

  #group(): RegexNode | undefined {
    const before = this.#flags;
    if (this.#chars[this.#at] === '?') {
      const rest = this.#chars.slice(this.#at - 1, this.#at + 80).join('');
      const named = /^\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>/.exec(rest);
      const flagged = /^\(\?([imsU]*)(?:-([imsU]+))?([:)])/.exec(rest);
      if (named !== null) this.#at += named[0].length - 1;
      else if (flagged !== null) {
        this.#at += flagged[0].length - 1;
        const next = { ...before };
        const set = (letters: string, value: boolean) => {
          if (letters.includes('i')) next.ignoreCase = value;
          if (letters.includes('m')) next.multiLine = value;
          if (letters.includes('s')) next.dotAll = value;
          if (letters.includes('U')) next.ungreedy = value;
        };
        set(flagged[1]!, true);
        set(flagged[2] ?? '', false);
        this.#flags = next;
        if (flagged[3] === ')') return undefined;
      } else throw this.#error('invalid or unsupported Perl syntax', rest.slice(0, 4));
    }
    const node = this.#choice();
    if (this.#chars[this.#at] !== ')') throw this.#error('missing closing )', this.#chars.join(''));
    this.#at++;
    this.#flags = before;
    return node;
  }

  #escape(): RegexNode {
    const char = this.#chars[this.#at];
    if (char === undefined) throw new Error('error parsing regexp: trailing backslash at end of expression: ``');
    switch (char) {
      case 'A':
        this.#at++;
        return { kind: 'assert', what: 'textStart' };
      case 'z':
        this.#at++;
        return { kind: 'assert', what: 'textEnd' };
      case 'b':
        this.#at++;
        return { kind: 'assert', what: 'word' };
      case 'B':
        this.#at++;
        return { kind: 'assert', what: 'notWord' };
    }
    const perl = this.#perlClass();
    if (perl !== undefined) return this.#set(perl, false);
    return this.#literal(String.fromCodePoint(this.#escapedCode()));
  }

  /** After a backslash: \d \w \s \pL and their opposites; undefined, and nothing consumed, for anything else. */
  #perlClass(): Ranges | undefined {
    const char = this.#chars[this.#at]!;
    if ('dDsSwW'.includes(char)) {
      this.#at++;
      const ranges = namedClass(char.toLowerCase())!;
      return char === char.toLowerCase() ? ranges : invert(ranges);
    }
    if (char !== 'p' && char !== 'P') return undefined;
    let name = this.#chars[this.#at + 1] ?? '';
    let end = this.#at + 2;
    if (name === '{') {
      const close = this.#chars.indexOf('}', this.#at);
      if (close < 0) throw this.#error('invalid character class range', this.#chars.slice(this.#at - 1).join(''));
      name = this.#chars.slice(this.#at + 2, close).join('');
      end = close + 1;
    }
    const opposite = name.startsWith('^') !== (char === 'P');
    const ranges = namedClass(`p:${name.replace(/^\^/, '')}`);
    if (ranges === undefined) {
      throw this.#error('invalid character class range', this.#chars.slice(this.#at - 1, end).join(''));
    }
    this.#at = end;
    return opposite ? invert(ranges) : ranges;
  }

  #escapedCode(): number {
    const char = this.#chars[this.#at++];
    const simple: Record<string, number> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };
    if (char !== undefined && Object.hasOwn(simple, char)) return simple[char]!;
    if (char === 'x') {
      const rest = this.#chars.slice(this.#at, this.#at + 12).join('');
      const match = /^(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))/.exec(rest);
      const code = match === null ? Infinity : Number.parseInt(match[1] ?? match[2]!, 16);
      if (match === null || code > 0x10ffff) throw this.#error('invalid escape sequence', `\\x${rest.slice(0, 2)}`);
      this.#at += match[0].length;
      return code;
    }
    if (char === '0') {
      const digits = /^[0-7]{0,2}/.exec(this.#chars.slice(this.#at, this.#at + 2).join(''))![0];
      this.#at += digits.length;
      return Number.parseInt(`0${digits}`, 8);
    }
    if (char !== undefined && /^[^A-Za-z0-9]$/u.test(char) && char.codePointAt(0)! < 0x80) return char.codePointAt(0)!;
    throw this.#error('invalid escape sequence', `\\${char ?? ''}`);
  }

  #class(): RegexNode {
    const start = this.#at - 1;
    const negated = this.#chars[this.#at] === '^';
    if (negated) this.#at++;
    const ranges: Ranges = [];
    let first = true;
    for (;;) {
      const char = this.#chars[this.#at];
      if (char === undefined) throw this.#error('missing closing ]', this.#chars.slice(start).join(''));
      if (char === ']' && !first) {
        this.#at++;
        return this.#set(ranges, negated);
      }
      first = false;
      const posix =
        char === '[' ? /^\[:(\^?)([a-z]+):\]/.exec(this.#chars.slice(this.#at, this.#at + 16).join('')) : null;
      if (posix !== null) {
        const found = namedClass(`posix:${posix[2]}`);
        if (found === undefined) throw this.#error('invalid character class range', posix[0]);
        ranges.push(...(posix[1] === '^' ? invert(found) : found));
        this.#at += posix[0].length;
        continue;
      }
      if (char === '\\') {
        this.#at++;
        const perl = this.#chars[this.#at] === undefined ? undefined : this.#perlClass();
        if (perl !== undefined) {
          ranges.push(...perl);
          continue;
        }
        this.#at--;
      }
      const low = this.#classCode();
      let high = low;
      if (this.#chars[this.#at] === '-' && this.#chars[this.#at + 1] !== ']' && this.#at + 1 < this.#chars.length) {
        const from = this.#at;
        this.#at++;
        high = this.#classCode();
        if (high < low) {
          throw this.#error('invalid character class range', this.#chars.slice(from - 1, this.#at).join(''));
        }
      }
      ranges.push([low, high]);
    }
  }

  #classCode(): number {
    const char = this.#chars[this.#at++];
    if (char === undefined) throw this.#error('missing closing ]', this.#chars.join(''));
    return char === '\\' ? this.#escapedCode() : char.codePointAt(0)!;
  }
}
