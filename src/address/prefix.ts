import { AddressError, bitsOf, IpAddress, type IpFamily } from './address.ts';

/** A block of addresses: 2^(bits-length) of them, starting at a multiple of that. Immutable. */
export class IpPrefix {
  readonly family: IpFamily;
  /** Number of the first address. */
  readonly start: bigint;
  /** 0 to 32, or 0 to 128. */
  readonly length: number;

  private constructor(family: IpFamily, start: bigint, length: number) {
    this.family = family;
    this.start = start;
    this.length = length;
  }

  /** The block of `length` that holds the address numbered `value`. @throws RangeError */
  static of(family: IpFamily, value: bigint, length: number): IpPrefix {
    const bits = bitsOf[family];
    if (!Number.isInteger(length) || length < 0 || length > bits) {
      throw new RangeError(`/${length} is no IPv${family} prefix length`);
    }
    if (value < 0n || value >> BigInt(bits) !== 0n) throw new RangeError(`${value} is no IPv${family} address`);
    const host = BigInt(bits - length);
    return new IpPrefix(family, (value >> host) << host, length);
  }

  static containing(address: IpAddress, length: number = bitsOf[address.family]): IpPrefix {
    return IpPrefix.of(address.family, address.value, length);
  }

  /** Strict CIDR text: an address, `/`, a length without leading zeros, no bit set behind it. @throws AddressError */
  static parse(text: string): IpPrefix {
    const slash = text.indexOf('/');
    if (slash < 0) throw new AddressError(text, 'is not a prefix: it has no "/" and length');
    const address = IpAddress.parse(text.slice(0, slash));
    const digits = text.slice(slash + 1);
    const length = Number(digits);
    if (!/^(0|[1-9][0-9]{0,2})$/.test(digits) || length > bitsOf[address.family]) {
      throw new AddressError(text, `is not a prefix: the length is a number from 0 to ${bitsOf[address.family]}`);
    }
    const prefix = IpPrefix.of(address.family, address.value, length);
    if (prefix.start !== address.value) {
      throw new AddressError(text, `is not a prefix: it has bits set behind its length; ${prefix} would be right`);
    }
    return prefix;
  }

  static tryParse(text: string): IpPrefix | undefined {
    try {
      return IpPrefix.parse(text);
    } catch {
      return undefined;
    }
  }

  /** How many addresses it holds. */
  get size(): bigint {
    return 1n << BigInt(bitsOf[this.family] - this.length);
  }

  /** Number of the last address. */
  get end(): bigint {
    return this.start + this.size - 1n;
  }

  get first(): IpAddress {
    return IpAddress.of(this.family, this.start);
  }

  get last(): IpAddress {
    return IpAddress.of(this.family, this.end);
  }

  /** The address `index` places after the first, or undefined where the block has no such address. */
  at(index: bigint | number): IpAddress | undefined {
    const offset = BigInt(index);
    return offset < 0n || offset >= this.size ? undefined : IpAddress.of(this.family, this.start + offset);
  }

  contains(other: IpAddress | IpPrefix): boolean {
    if (other.family !== this.family) return false;
    const [start, end] = other instanceof IpPrefix ? [other.start, other.end] : [other.value, other.value];
    return start >= this.start && end <= this.end;
  }

  overlaps(other: IpPrefix): boolean {
    return other.family === this.family && this.start <= other.end && other.start <= this.end;
  }

  /** By family, then first address, then the larger block first. */
  compare(other: IpPrefix): number {
    if (this.family !== other.family) return this.family - other.family;
    if (this.start !== other.start) return this.start < other.start ? -1 : 1;
    return this.length - other.length;
  }

  equals(other: IpPrefix): boolean {
    return this.family === other.family && this.start === other.start && this.length === other.length;
  }

  /** The block of the same size right after, or undefined at the end of the family. */
  next(): IpPrefix | undefined {
    const start = this.start + this.size;
    return start >> BigInt(bitsOf[this.family]) === 0n ? new IpPrefix(this.family, start, this.length) : undefined;
  }

  previous(): IpPrefix | undefined {
    return this.start === 0n ? undefined : new IpPrefix(this.family, this.start - this.size, this.length);
  }

  /** The block twice its size that holds it; undefined for /0. */
  parent(): IpPrefix | undefined {
    return this.length === 0 ? undefined : IpPrefix.of(this.family, this.start, this.length - 1);
  }

  /** The other half of its parent; undefined for /0. */
  sibling(): IpPrefix | undefined {
    return this.length === 0 ? undefined : new IpPrefix(this.family, this.start ^ this.size, this.length);
  }

  /** Every block of `length` inside, in order. @throws RangeError where `length` is shorter than its own. */
  *split(length: number): Generator<IpPrefix, void, undefined> {
    if (!Number.isInteger(length) || length < this.length || length > bitsOf[this.family]) {
      throw new RangeError(`${this} cannot be split into blocks of /${length}`);
    }
    const step = 1n << BigInt(bitsOf[this.family] - length);
    for (let start = this.start; start <= this.end; start += step) yield new IpPrefix(this.family, start, length);
  }

  /** Every address inside, in order. */
  *addresses(): Generator<IpAddress, void, undefined> {
    for (let value = this.start; value <= this.end; value++) yield IpAddress.of(this.family, value);
  }

  toString(): string {
    return `${this.first}/${this.length}`;
  }

  toJSON(): string {
    return this.toString();
  }
}
