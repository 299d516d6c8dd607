/** Sets of code points, as inclusive ranges. */
export type Ranges = [number, number][];

const last = 0x10ffff;

/** Sorted, without overlaps. */
export function normalize(ranges: Ranges): Ranges {
  const sorted = ranges.toSorted((a, b) => a[0] - b[0]);
  const out: Ranges = [];
  for (const [low, high] of sorted) {
    const before = out.at(-1);
    if (before !== undefined && low <= before[1] + 1) before[1] = Math.max(before[1], high);
    else out.push([low, high]);
  }
  return out;
}

export function invert(ranges: Ranges): Ranges {
  const out: Ranges = [];
  let next = 0;
  for (const [low, high] of normalize(ranges)) {
    if (low > next) out.push([next, low - 1]);
    next = high + 1;
  }
  if (next <= last) out.push([next, last]);
  return out;
}

/** The set and its other-case twins: letter by letter, as RE2's simple folding does. */
export function foldCase(ranges: Ranges): Ranges {
  const out: Ranges = [...ranges];
  for (const [low, high] of ranges) {
    // Beyond U+24FF almost nothing has case; what has is in blocks few patterns reach (Deseret, full-width letters).
    for (let code = low; code <= Math.min(high, 0x24ff); code++) {
      const char = String.fromCodePoint(code);
      for (const other of [char.toLowerCase(), char.toUpperCase()]) {
        const twin = other.codePointAt(0)!;
        if (twin !== code && other.length === (twin > 0xffff ? 2 : 1)) out.push([twin, twin]);
      }
    }
  }
  return normalize(out);
}

const perl: Record<string, Ranges> = {
  d: [[0x30, 0x39]],
  s: [
    [0x09, 0x0a],
    [0x0c, 0x0d],
    [0x20, 0x20],
  ],
  w: [
    [0x30, 0x39],
    [0x41, 0x5a],
    [0x5f, 0x5f],
    [0x61, 0x7a],
  ],
};

const posix: Record<string, string> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-/:-@[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

const scanned = new Map<string, Ranges>();

/** `d`, `s`, `w`, `posix:alpha`, `p:Lu`, `p:Greek`; undefined where there is no such class. */
export function namedClass(name: string): Ranges | undefined {
  if (Object.hasOwn(perl, name)) return perl[name];
  if (name.startsWith('posix:')) {
    const text = name.slice(6);
    return Object.hasOwn(posix, text) ? scan(`[${posix[text]!.replaceAll('[-`', '\\[-`')}]`, 0x7f) : undefined;
  }
  const property = name.slice(2);
  if (property === 'Any') return [[0, last]];
  if (!/^[A-Za-z_]+$/.test(property)) return undefined;
  for (const source of [`\\p{gc=${property}}`, `\\p{sc=${property}}`]) {
    try {
      return scan(source, last);
    } catch {
      // Not a property of this sort: try the next, or answer that there is none.
    }
  }
  return undefined;
}

function scan(source: string, limit: number): Ranges {
  const known = scanned.get(source);
  if (known !== undefined) return known;
  const test = new RegExp(`^${source}$`, 'u');
  const out: Ranges = [];
  for (let code = 0; code <= limit; code++) {
    if (!test.test(String.fromCodePoint(code))) continue;
    const before = out.at(-1);
    if (before !== undefined && before[1] === code - 1) before[1] = code;
    else out.push([code, code]);
  }
  scanned.set(source, out);
  return out;
}
