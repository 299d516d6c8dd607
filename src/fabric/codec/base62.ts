const digits = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const legal = /^[0-9A-Za-z]+$/;

/** A whole number in base 62 (digits, lower case, upper case: 36 is `A`), without leading zeros. @throws RangeError */
export function toBase62(value: number): string {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} can not be written in base 62`);
  let text = '';
  let rest = value;
  do {
    text = digits.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  } while (rest > 0);
  return text;
}

/** The number a base 62 text stands for, leading zeros ignored; undefined where it is none, or one too large to hold. */
export function fromBase62(text: string): number | undefined {
  if (!legal.test(text)) return undefined;
  let value = 0;
  for (let at = 0; at < text.length; at++) {
    value = value * 62 + digits.indexOf(text.charAt(at));
    if (!Number.isSafeInteger(value)) return undefined;
  }
  return value;
}
