import { badRequest } from './errors.ts';
import { labelValue, type NameRule, qualifiedName } from './validation/names.ts';

/** The grammar of label selectors (apimachinery `labels`): what it takes, and its words for what it does not. */

export type Operator = 'exists' | '!' | '=' | '==' | '!=' | 'in' | 'notin' | '>' | '<';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: Operator;
  /** In order, each once. */
  readonly values: readonly string[];
}

/** Requirements that all must hold, none where everything is selected. Throws 400. */
export function parseLabelRequirements(text: string): LabelRequirement[] {
  return new Parser(text).parse();
}

type Token = '(' | ')' | ',' | '=' | '==' | '!=' | '!' | '>' | '<' | 'in' | 'notin' | 'identifier' | 'end';

interface Scanned {
  readonly token: Token;
  readonly text: string;
}

const tokens = /[ \t\r\n]*(==|!=|[=!(),><]|[^ \t\r\n=!(),><]+)/y;
const binaryOperators = new Set<Token>(['in', 'notin', '=', '==', '!=', '>', '<']);

function scan(text: string): Scanned[] {
  const scanned: Scanned[] = [];
  // A NUL is the end of a text to this grammar.
  const [whole = ''] = text.split('\0', 1);
  tokens.lastIndex = 0;
  for (let found = tokens.exec(whole); found !== null; found = tokens.exec(whole)) {
    const word = found[1]!;
    const special = /^[=!(),><]/.test(word) || word === 'in' || word === 'notin';
    scanned.push({ token: special ? (word as Token) : 'identifier', text: word });
  }
  scanned.push({ token: 'end', text: '' });
  return scanned;
}

class Parser {
  readonly #scanned: readonly Scanned[];
  #position = 0;

  constructor(text: string) {
    this.#scanned = scan(text);
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const { token, text } = this.#next();
      if (token === 'end') return requirements;
      if (token !== 'identifier' && token !== '!')
        throw unexpected(text, ", expected: !, identifier, or 'end of string'");
      requirements.push(this.#requirement());
      const after = this.#take();
      if (after.token === 'end') return requirements;
      if (after.token !== ',') throw unexpected(after.text, ", expected: ',' or 'end of string'");
      const next = this.#next();
      if (next.token !== 'identifier' && next.token !== '!') {
        throw unexpected(next.text, ", expected: identifier after ','");
      }
    }
  }

  /** The next word, where `in` and `notin` are names and values like any other. */
  #next(): Scanned {
    const scanned = this.#scanned[this.#position]!;
    return scanned.token === 'in' || scanned.token === 'notin' ? { ...scanned, token: 'identifier' } : scanned;
  }

  #take(): Scanned {
    const scanned = this.#next();
    this.#position++;
    return scanned;
  }

  #requirement(): LabelRequirement {
    let { token, text: key } = this.#take();
    const absent = token === '!';
    if (absent) ({ token, text: key } = this.#take());
    if (token !== 'identifier') throw inRequirement(`found '${key}', expected: identifier`);
    const wrong = complaint('<nil>', key, qualifiedName);
    if (wrong.length > 0) throw inRequirement(wrong[0]!);
    if (absent) return { key, operator: '!', values: [] };
    const after = this.#next().token;
    if (after === 'end' || after === ',') return { key, operator: 'exists', values: [] };
    const { token: operator, text } = this.#scanned[this.#position++]!;
    if (!binaryOperators.has(operator)) {
      throw inRequirement(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
    }
    const found = operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()];
    const values = [...new Set(found)].sort(byBytes);
    checkValues(key, operator, values);
    return { key, operator: operator as Operator, values };
  }

  #value(): string {
    const { token } = this.#next();
    if (token === 'end' || token === ',') return '';
    const { text } = this.#take();
    if (token !== 'identifier') throw inRequirement(`found '${text}', expected: identifier`);
    return text;
  }

  #values(): string[] {
    const open = this.#take();
    if (open.token !== '(') throw inRequirement(`found '${open.text}' expected: '('`);
    const { token, text } = this.#next();
    if (token !== 'identifier' && token !== ',' && token !== ')') {
      throw inRequirement(`found '${text}', expected: ',', ')' or identifier`);
    }
    const values: string[] = [];
    let current: string | undefined;
    for (;;) {
      const taken = this.#take();
      if (taken.token === ')') return [...values, current ?? ''];
      if (taken.token === ',') {
        values.push(current ?? '');
        current = undefined;
      } else if (taken.token === 'identifier') {
        current = taken.text;
        const after = this.#next();
        if (after.token !== ',' && after.token !== ')') {
          throw inRequirement(`found '${after.text}', expected: ',' or ')'`);
        }
      } else throw inRequirement(`found '${taken.text}', expected: ',', or identifier`);
    }
  }
}

function checkValues(key: string, operator: Token, values: readonly string[]): void {
  const errors: string[] = [];
  if (operator === '<' || operator === '>') {
    for (const [index, value] of values.entries()) {
      if (integerOf(value) !== undefined) continue;
      const why = "for 'Gt', 'Lt' operators, the value must be an integer";
      errors.push(`values[${index}]: Invalid value: ${JSON.stringify(value)}: ${why}`);
    }
  }
  for (const [index, value] of values.entries()) {
    errors.push(...complaint(`values[${index}][${key}]`, value, labelValue));
  }
  const texts = [...new Set(errors)];
  if (texts.length > 0) throw inRequirement(texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`);
}

function complaint(field: string, value: string, rule: NameRule): string[] {
  const wrong = rule(value);
  return wrong.length === 0 ? [] : [`${field}: Invalid value: ${JSON.stringify(value)}: ${wrong.join('; ')}`];
}

/** A whole number of 64 bits; undefined for anything else. */
export function integerOf(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function unexpected(text: string, expected: string): Error {
  return badRequest(`found '${text}'${expected}`);
}

function inRequirement(why: string): Error {
  return badRequest(`unable to parse requirement: ${why}`);
}
