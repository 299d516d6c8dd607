const quote = 0x22;
const backslash = 0x5c;

interface Frame {
  /** Keys seen, for an object (a set once there are many); undefined for a list. */
  keys: string[] | Set<string> | undefined;
  index: number;
  key: string;
}

/**
 * Fields given twice in one object of a JSON text that JSON.parse has accepted, as `duplicate field "a.b[0].c"`. One
 * pass without building values, so that it costs less than the parse.
 */
export function duplicateKeys(text: string): string[] {
  const found: string[] = [];
  const stack: Frame[] = [];
  let frame: Frame | undefined;
  let expectKey = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    switch (code) {
      case quote: {
        const start = at + 1;
        let escaped = false;
        at = text.indexOf('"', start);
        while (isEscaped(text, at, start)) {
          escaped = true;
          at = text.indexOf('"', at + 1);
        }
        if (expectKey && frame?.keys !== undefined) {
          const raw = text.slice(start, at);
          const key = escaped || raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
          frame.key = key;
          if (!remember(frame, key)) found.push(`duplicate field "${pathOf(stack, frame)}"`);
          expectKey = false;
        }
        break;
      }
      case 0x7b: // {
      case 0x5b: // [
        if (frame !== undefined) stack.push(frame);
        frame = { keys: code === 0x7b ? [] : undefined, index: 0, key: '' };
        expectKey = code === 0x7b;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        frame = stack.pop();
        expectKey = false;
        break;
      case 0x2c: // ,
        if (frame !== undefined) {
          frame.index++;
          expectKey = frame.keys !== undefined;
        }
        break;
    }
  }
  return found;
}

/** Adds `key` to those of the frame; false when it was there. */
function remember(frame: Frame, key: string): boolean {
  if (frame.keys instanceof Set) {
    if (frame.keys.has(key)) return false;
    frame.keys.add(key);
    return true;
  }
  if (frame.keys!.includes(key)) return false;
  if (frame.keys!.push(key) > 16) frame.keys = new Set(frame.keys);
  return true;
}

function isEscaped(text: string, at: number, start: number): boolean {
  let count = 0;
  for (let back = at - 1; back >= start && text.charCodeAt(back) === backslash; back--) count++;
  return count % 2 === 1;
}

function pathOf(stack: readonly Frame[], last: Frame): string {
  let path = '';
  for (const frame of [...stack, last]) {
    if (frame.keys === undefined) path += `[${frame.index}]`;
    else path += path === '' ? frame.key : `.${frame.key}`;
  }
  return path;
}
