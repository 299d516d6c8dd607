/** One step of a path; a step takes the values so far and answers the next ones. */
type Step = (values: unknown[]) => unknown[];

/** A compiled JSONPath of kubectl's dialect (k8s.io/client-go/util/jsonpath): the values it finds in an object. */
export type JsonPath = (object: unknown) => unknown[];

const cache = new Map<string, JsonPath>();

/**
 * Compiles a simple path, as printer columns, selectable fields and scale subresources have it: `.a.b`, `.a['b/c']`,
 * `.a\.b`, `[0]`, `[-1]`, `[1:3]`, `[*]`, `.*`, `..name`, `[?(@.type=="Ready")]`, `['a','b']`. A leading `$`, and braces
 * around the whole, are allowed. A missing field finds nothing; it is no error.
 *
 * @throws Error saying what in `source` is not understood.
 */
export function compileJsonPath(source: string): JsonPath {
  const known = cache.get(source);
  if (known !== undefined) return known;
  const steps = new Parser(source).parse();
  const path: JsonPath = (object) => {
    let values: unknown[] = [object];
    for (const step of steps) {
      if (values.length === 0) return values;
      values = step(values);
    }
    return values;
  };
  if (cache.size >= 2_000) cache.clear();
  cache.set(source, path);
  return path;
}

class Parser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    const trimmed = source.trim();
    const bare = trimmed.startsWith('{') && trimmed.endsWith('}') ? trimmed.slice(1, -1).trim() : trimmed;
    this.#source = bare.replace(/^[$@]/, '');
  }

  parse(): Step[] {
    const steps: Step[] = [];
    while (this.#at < this.#source.length) steps.push(this.#step());
    return steps;
  }

  #error(what: string): Error {
    return new Error(`JSONPath ${JSON.stringify(this.#source)} at ${this.#at}: ${what}`);
  }

  #step(): Step {
    if (this.#source[this.#at] === '[') return this.#brackets();
    if (this.#source.startsWith('..', this.#at)) {
      this.#at += 2;
      return descend(this.#source[this.#at] === '[' ? this.#brackets() : this.#name());
    }
    if (this.#source[this.#at] === '.') {
      this.#at++;
      // A lone dot, at the end or before a bracket, stays where it is.
      if (this.#at === this.#source.length || this.#source[this.#at] === '[') return (values) => values;
    } else if (this.#at > 0) throw this.#error('expected . or [');
    return this.#name();
  }

  #name(): Step {
    let name = '';
    for (; this.#at < this.#source.length; this.#at++) {
      const char = this.#source[this.#at]!;
      if (char === '.' || char === '[') break;
      if (char === '\\' && this.#at + 1 < this.#source.length) name += this.#source[++this.#at];
      else if (/[\s\])}(,=]/.test(char)) throw this.#error(`unexpected ${JSON.stringify(char)}`);
      else name += char;
    }
    if (name === '') throw this.#error('expected a field name');
    return name === '*' ? wildcard : child([name]);
  }

  /** From `[` to the `]` that closes it, quotes respected. */
  #brackets(): Step {
    const start = ++this.#at;
    let quote = '';
    let depth = 1;
    for (; this.#at < this.#source.length; this.#at++) {
      const char = this.#source[this.#at]!;
      if (quote !== '') {
        if (char === '\\') this.#at++;
        else if (char === quote) quote = '';
      } else if (char === '"' || char === "'" || char === '`') quote = char;
      else if (char === '[') depth++;
      else if (char === ']' && --depth === 0) break;
    }
    if (depth !== 0) throw this.#error('unterminated [');
    const text = this.#source.slice(start, this.#at++).trim();
    if (text === '*') return wildcard;
    const filter = /^\?\(([\s\S]*)\)$/.exec(text);
    if (filter !== null) return this.#filter(filter[1]!);
    const names = quotedList(text);
    if (names !== undefined) return child(names);
    const slice = /^(-?\d{1,9})?(?:(:)(-?\d{1,9})?(?::(\d{1,9}))?)?$/.exec(text);
    if (slice !== null && text !== '') {
      const number = (group: string | undefined) => (group === undefined ? undefined : Number(group));
      return slice[2] === undefined
        ? index(Number(slice[1]))
        : range(number(slice[1]), number(slice[3]), number(slice[4]) || 1);
    }
    const list = text.split(',').map((part) => part.trim());
    if (list.every((part) => /^-?\d{1,9}$/.test(part))) {
      const steps = list.map((part) => index(Number(part)));
      return (values) => steps.flatMap((step) => step(values));
    }
    // kubectl takes an unquoted word in brackets for a field name too.
    if (/^[\w./-]+$/.test(text)) return child([text]);
    throw this.#error(`cannot read [${text}]`);
  }

  #filter(text: string): Step {
    const match = /^\s*(.*?)\s*(?:(==|!=|<=|>=|<|>)\s*([\s\S]*?))?\s*$/.exec(text);
    const operator = match?.[2];
    const left = this.#operand(match?.[1] ?? '');
    if (operator === undefined) {
      return items((item) => left(item).length > 0);
    }
    const right = this.#operand(match?.[3] ?? '');
    return items((item) => {
      const [a] = left(item);
      const [b] = right(item);
      return a !== undefined && b !== undefined && compare(operator, a, b);
    });
  }

  #operand(text: string): JsonPath {
    if (text.startsWith('@') || text.startsWith('$') || text.startsWith('.')) return compileJsonPath(text);
    const quoted = quotedList(text);
    if (quoted?.length === 1) return () => quoted;
    if (/^-?\d+(\.\d+)?$/.test(text)) return () => [Number(text)];
    if (text === 'true' || text === 'false') return () => [text === 'true'];
    if (/^[\w-]+$/.test(text)) return () => [text];
    throw this.#error(`cannot read ${JSON.stringify(text)} in a filter`);
  }
}

/** `'a', "b"` as [a, b]; undefined where it is not a list of quoted texts. */
function quotedList(text: string): string[] | undefined {
  const out: string[] = [];
  let rest = text;
  for (;;) {
    const match = /^\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`([^`]*)`)\s*(,|$)/.exec(rest);
    if (match === null) return undefined;
    out.push(match[3] ?? (match[1] ?? match[2] ?? '').replace(/\\(.)/g, '$1'));
    if (match[4] === '') return out;
    rest = rest.slice(match[0].length);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function child(names: string[]): Step {
  return (values) => {
    const out: unknown[] = [];
    for (const value of values) {
      if (!isRecord(value)) continue;
      for (const name of names) if (Object.hasOwn(value, name) && value[name] !== undefined) out.push(value[name]);
    }
    return out;
  };
}

const wildcard: Step = (values) =>
  values.flatMap((value) => (Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []));

function index(at: number): Step {
  return (values) =>
    values.flatMap((value) => {
      const item = Array.isArray(value) ? value.at(at) : undefined;
      return item === undefined ? [] : [item];
    });
}

function range(start: number | undefined, end: number | undefined, step: number): Step {
  return (values) =>
    values.flatMap((value) => (Array.isArray(value) ? value.slice(start, end).filter((_, at) => at % step === 0) : []));
}

function items(accepts: (item: unknown) => boolean): Step {
  return (values) => values.flatMap((value) => (Array.isArray(value) ? value.filter(accepts) : []));
}

function descend(step: Step): Step {
  const all = (value: unknown): unknown[] => [value, ...wildcard([value]).flatMap(all)];
  return (values) => values.flatMap((value) => all(value).flatMap((item) => step([item])));
}

function compare(operator: string, a: unknown, b: unknown): boolean {
  if (operator === '==') return a === b;
  if (operator === '!=') return a !== b;
  const sameType = typeof a === typeof b && (typeof a === 'string' || typeof a === 'number');
  if (!sameType) return false;
  const [x, y] = [a as number, b as number];
  if (operator === '<') return x < y;
  if (operator === '>') return x > y;
  return operator === '<=' ? x <= y : x >= y;
}
