import { compileProgram, type Instruction } from './program.ts';

/**
 * Regular expressions with RE2's syntax and RE2's promise: time grows with the length of the text and of the
 * expression, never worse. JavaScript's own engine backtracks, and one pattern of a schema and one value of a request
 * could hang the server; so `test` walks a deterministic automaton that is built state by state as texts need it.
 */
export class Regex {
  readonly #code: Instruction[];
  readonly #start: number;
  /** First code point of each class; characters of one class are never told apart by the expression. */
  readonly #bounds: number[];
  readonly #asciiClass = new Uint16Array(128);
  #states = new Map<string, State>();
  #first: State;

  /** @throws Error with Go's wording where `source` is not RE2. */
  constructor(source: string) {
    const { code, start } = compileProgram(source);
    this.#code = code;
    this.#start = start;
    // Newline and word characters are always told apart: assertions ask.
    const bounds = new Set([0, 10, 11, 0x30, 0x3a, 0x41, 0x5b, 0x5f, 0x60, 0x61, 0x7b]);
    for (const instruction of code) {
      if (instruction.op !== 'set') continue;
      for (const [low, high] of instruction.ranges) bounds.add(low).add(high + 1);
    }
    this.#bounds = [...bounds].sort((a, b) => a - b);
    for (let char = 0, at = 0; char < 128; char++) {
      while (this.#bounds[at + 1] !== undefined && this.#bounds[at + 1]! <= char) at++;
      this.#asciiClass[char] = at;
    }
    this.#first = this.#state([start], -1);
  }

  /** Whether `text` contains a match. */
  test(text: string): boolean {
    let state = this.#first;
    for (let i = 0; i < text.length; i++) {
      let code = text.charCodeAt(i);
      let at: number;
      if (code < 128) at = this.#asciiClass[code]!;
      else {
        code = text.codePointAt(i)!;
        if (code > 0xffff) i++;
        at = this.#classOf(code);
      }
      const next = state.next[at] ?? this.#step(state, at);
      if (next === true) return true;
      state = next;
    }
    state.atEnd ??= this.#close(state.cores, state.before, -1).includes(0);
    return state.atEnd;
  }

  /** Leftmost match at or after `from`, as [start, end) in UTF-16 units; the one a backtracking matcher would prefer. */
  find(text: string, from = 0): [number, number] | undefined {
    let threads: { at: number; start: number }[] = [];
    let best: [number, number] | undefined;
    let before = from === 0 ? -1 : text.charCodeAt(from - 1);
    for (let i = from; ; ) {
      const code = i < text.length ? text.codePointAt(i)! : -1;
      if (best === undefined) threads.push({ at: this.#start, start: i });
      const next: { at: number; start: number }[] = [];
      const seen = new Set<number>();
      const queued = new Set<number>();
      for (const thread of threads) {
        let matched = false;
        for (const at of this.#close([thread.at], before, code, seen)) {
          const instruction = this.#code[at]!;
          if (instruction.op === 'match') {
            best = [thread.start, i];
            matched = true;
            break;
          }
          if (instruction.op !== 'set' || code < 0 || queued.has(instruction.next)) continue;
          if (!inRanges(instruction.ranges, code)) continue;
          queued.add(instruction.next);
          next.push({ at: instruction.next, start: thread.start });
        }
        if (matched) break; // what follows is less preferred
      }
      if (code < 0) return best;
      threads = next;
      if (threads.length === 0 && best !== undefined) return best;
      before = code;
      i += code > 0xffff ? 2 : 1;
    }
  }

  /** All matches that do not overlap, at most `limit` (negative: all of them). */
  findAll(text: string, limit = -1): string[] {
    const out: string[] = [];
    for (let from = 0; from <= text.length && (limit < 0 || out.length < limit); ) {
      const found = this.find(text, from);
      if (found === undefined) break;
      out.push(text.slice(found[0], found[1]));
      from = found[1] > found[0] ? found[1] : found[1] + ((text.codePointAt(found[1]) ?? 0) > 0xffff ? 2 : 1);
    }
    return out;
  }

  #classOf(code: number): number {
    let low = 0;
    let high = this.#bounds.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#bounds[middle]! <= code) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Consuming one character of class `at`: the state after it, or true where a match is already complete. */
  #step(state: State, at: number): State | true {
    const code = this.#bounds[at]!;
    const closed = this.#close(state.cores, state.before, code);
    let next: State | true;
    if (closed.includes(0)) next = true;
    else {
      const cores = new Set<number>();
      for (const pc of closed) {
        const instruction = this.#code[pc]!;
        if (instruction.op === 'set' && inRanges(instruction.ranges, code)) cores.add(instruction.next);
      }
      cores.add(this.#start);
      next = this.#state(
        [...cores].sort((a, b) => a - b),
        code,
      );
    }
    state.next[at] = next;
    return next;
  }

  #state(cores: number[], before: number): State {
    const look = before < 0 ? 0 : before === 10 ? 1 : isWord(before) ? 2 : 3;
    const key = `${look}:${cores.join()}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    // A hostile expression has more states than memory: forget them and go on (RE2 does the same).
    if (this.#states.size >= 2_000) {
      this.#states = new Map();
      if (this.#first !== undefined) this.#first = { ...this.#first, next: [] };
    }
    const state: State = { cores, before, next: [], atEnd: undefined };
    this.#states.set(key, state);
    return state;
  }

  /** What can be reached without consuming anything, between `before` and `after` (-1: the edge of the text). */
  #close(cores: number[], before: number, after: number, seen = new Set<number>()): number[] {
    const out: number[] = [];
    const stack = cores.toReversed();
    while (stack.length > 0) {
      const pc = stack.pop()!;
      if (seen.has(pc)) continue;
      seen.add(pc);
      const instruction = this.#code[pc]!;
      if (instruction.op === 'split') stack.push(instruction.other, instruction.next);
      else if (instruction.op === 'assert') {
        if (holds(instruction.what, before, after)) stack.push(instruction.next);
      } else out.push(pc);
    }
    return out;
  }
}

interface State {
  readonly cores: number[];
  readonly before: number;
  readonly next: (State | true | undefined)[];
  atEnd: boolean | undefined;
}

function isWord(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || (code >= 0x61 && code <= 0x7a)
  );
}

function holds(what: Extract<Instruction, { op: 'assert' }>['what'], before: number, after: number): boolean {
  switch (what) {
    case 'textStart':
      return before < 0;
    case 'textEnd':
      return after < 0;
    case 'lineStart':
      return before < 0 || before === 10;
    case 'lineEnd':
      return after < 0 || after === 10;
    case 'word':
      return isWord(before) !== isWord(after);
    case 'notWord':
      return isWord(before) === isWord(after);
  }
}

function inRanges(ranges: [number, number][], code: number): boolean {
  for (const [low, high] of ranges) if (code >= low && code <= high) return true;
  return false;
}

const cache = new Map<string, Regex>();

/** A compiled expression, shared by everyone who names the same source. @throws as `new Regex` does. */
export function regexOf(source: string): Regex {
  const known = cache.get(source);
  if (known !== undefined) return known;
  const made = new Regex(source);
  if (cache.size >= 5_000) cache.clear();
  cache.set(source, made);
  return made;
}
