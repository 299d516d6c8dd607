import { fromBase62, toBase62 } from './base62.ts';

/**
 * A kind of identifier of the data plane (reference B.4): a number of so many bits, of which 0 and all ones are reserved.
 * Published in base 62 without leading zeros; in object names, which know no upper case, in hexadecimal.
 */
export interface IdentifierKind {
  readonly largest: number;
  /** What the largest takes, in base 62 and in hexadecimal. */
  readonly base62Digits: number;
  readonly hexDigits: number;
}

export const vpcIdentifier: IdentifierKind = { largest: 2 ** 48 - 2, base62Digits: 9, hexDigits: 12 };
export const attachmentIdentifier: IdentifierKind = { largest: 2 ** 16 - 2, base62Digits: 3, hexDigits: 4 };

/** Whether `value` is an identifier of the kind. */
export function isIdentifier({ largest }: IdentifierKind, value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= largest;
}

/** The published form: base 62, unpadded. @throws RangeError where `value` is no identifier of the kind. */
export function formatIdentifier(kind: IdentifierKind, value: number): string {
  if (!isIdentifier(kind, value)) throw new RangeError(`${value} is not an identifier: 1 to ${kind.largest} are`);
  return toBase62(value);
}

/** The identifier a published form stands for, however padded; undefined where it is none of the kind. */
export function parseIdentifier(kind: IdentifierKind, text: string): number | undefined {
  const value = fromBase62(text);
  return value !== undefined && isIdentifier(kind, value) ? value : undefined;
}

/** Lower-case hexadecimal, padded to the width of the kind. @throws RangeError where `value` is no identifier of the kind. */
export function toHex(kind: IdentifierKind, value: number): string {
  if (!isIdentifier(kind, value)) throw new RangeError(`${value} is not an identifier: 1 to ${kind.largest} are`);
  return value.toString(16).padStart(kind.hexDigits, '0');
}

/** The identifier of a hexadecimal text, padded or not; undefined where it is none of the kind. */
export function fromHex(kind: IdentifierKind, text: string): number | undefined {
  if (text.length > kind.hexDigits || !/^[0-9a-f]+$/.test(text)) return undefined;
  const value = Number.parseInt(text, 16);
  return isIdentifier(kind, value) ? value : undefined;
}
