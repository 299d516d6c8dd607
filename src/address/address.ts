export type IpFamily = 4 | 6;

/** How many bits an address of each family has. */
export const bitsOf: Readonly<Record<IpFamily, number>> = { 4: 32, 6: 128 };

/** A text that is no address or prefix. The message says what is wrong with it, in one clause. */
export class AddressError extends Error {
  constructor(text: string, problem: string) {
    super(`${JSON.stringify(text.slice(0, 64))} ${problem}`);
    this.name = 'AddressError';
  }
}

/** One IP address, as a number: two texts of the same address are the same value. Immutable. */
export class IpAddress {
  readonly family: IpFamily;
  /** 0 to 2^32-1, or 0 to 2^128-1. */
  readonly value: bigint;

  private constructor(family: IpFamily, value: bigint) {
    this.family = family;
    this.value = value;
  }

  /** @throws RangeError where `value` does not fit the family. */
  static of(family: IpFamily, value: bigint): IpAddress {
    if (value < 0n || value >> BigInt(bitsOf[family]) !== 0n) {
      throw new RangeError(`${value} is no IPv${family} address`);
    }
    return new IpAddress(family, value);
  }

  /**
   * Strict: dotted decimal without leading zeros; RFC 4291 section 2.2 text without a zone.
   * @throws AddressError
   */
  static parse(text: string): IpAddress {
    if (text.includes(':')) return new IpAddress(6, parseIpv6(text));
    return new IpAddress(4, BigInt(parseIpv4(text, text)));
  }

  static tryParse(text: string): IpAddress | undefined {
    try {
      return IpAddress.parse(text);
    } catch {
      return undefined;
    }
  }

  /** IPv4 before IPv6, then by number: negative, 0 or positive. */
  compare(other: IpAddress): number {
    if (this.family !== other.family) return this.family - other.family;
    return this.value < other.value ? -1 : this.value > other.value ? 1 : 0;
  }

  equals(other: IpAddress): boolean {
    return this.family === other.family && this.value === other.value;
  }

  /** The address `count` further on (back, where negative), or undefined past either end of the family. */
  plus(count: bigint | number): IpAddress | undefined {
    const value = this.value + BigInt(count);
    if (value < 0n || value >> BigInt(bitsOf[this.family]) !== 0n) return undefined;
    return new IpAddress(this.family, value);
  }

  next(): IpAddress | undefined {
    return this.plus(1n);
  }

  previous(): IpAddress | undefined {
    return this.plus(-1n);
  }

  /** Dotted decimal, or RFC 5952 (IPv4-mapped addresses in mixed notation, its section 5). */
  toString(): string {
    return this.family === 4 ? formatIpv4(Number(this.value)) : formatIpv6(this.value);
  }

  toJSON(): string {
    return this.toString();
  }
}

function parseIpv4(part: string, text: string): number {
  const octets = part.split('.');
  if (octets.length !== 4) throw new AddressError(text, 'is not an IP address');
  let value = 0;
  for (const octet of octets) {
    if (!/^(0|[1-9][0-9]{0,2})$/.test(octet) || Number(octet) > 255) {
      throw new AddressError(text, 'is not an IPv4 address: each part is 0 to 255, without leading zeros');
    }
    value = value * 256 + Number(octet);
  }
  return value;
}

function parseIpv6(text: string): bigint {
  if (text.length > 45) throw new AddressError(text, 'is not an IPv6 address: it is too long');
  const halves = text.split('::');
  if (halves.length > 2) throw new AddressError(text, 'is not an IPv6 address: "::" appears twice');
  const head = groupsOf(halves[0]!, text, halves.length === 1);
  const tail = halves.length === 2 ? groupsOf(halves[1]!, text, true) : [];
  const given = head.length + tail.length;
  if (halves.length === 1 ? given !== 8 : given > 7) {
    throw new AddressError(text, 'is not an IPv6 address: it needs eight groups, or "::" for some of them');
  }
  let value = 0n;
  for (const group of head) value = (value << 16n) | BigInt(group);
  value <<= BigInt(16 * (8 - given));
  for (const group of tail) value = (value << 16n) | BigInt(group);
  return value;
}

function groupsOf(part: string, text: string, last: boolean): number[] {
  if (part === '') return [];
  const groups: number[] = [];
  const pieces = part.split(':');
  for (const [index, piece] of pieces.entries()) {
    if (last && index === pieces.length - 1 && piece.includes('.')) {
      const embedded = parseIpv4(piece, text);
      groups.push(Math.floor(embedded / 65536), embedded % 65536);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(piece)) {
      groups.push(Number.parseInt(piece, 16));
    } else {
      throw new AddressError(text, 'is not an IPv6 address: groups are one to four hexadecimal digits, without a zone');
    }
  }
  return groups;
}

function formatIpv4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

function formatIpv6(value: bigint): string {
  if (value >> 32n === 0xffffn) return `::ffff:${formatIpv4(Number(value & 0xffffffffn))}`;
  const hex = value.toString(16).padStart(32, '0');
  const groups: number[] = [];
  for (let at = 0; at < 32; at += 4) groups.push(Number.parseInt(hex.slice(at, at + 4), 16));
  let runStart = -1;
  let runLength = 1;
  for (let at = 0; at < 8; at++) {
    let length = 0;
    while (at + length < 8 && groups[at + length] === 0) length++;
    if (length > runLength) {
      runStart = at;
      runLength = length;
    }
    if (length > 0) at += length - 1;
  }
  const text = (from: number, to: number) =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  return runStart < 0 ? text(0, 8) : `${text(0, runStart)}::${text(runStart + runLength, 8)}`;
}
