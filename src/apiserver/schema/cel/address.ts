import { isIP } from 'node:net';

/** An IP address inside a rule. This room knows no IPAM: only what the Kubernetes `ip` and `cidr` libraries need. */
export class Ip {
  readonly value: bigint;
  readonly bits: 32 | 128;

  constructor(value: bigint, bits: 32 | 128) {
    this.value = value;
    this.bits = bits;
  }

  /** Undefined where `text` is no address, has a zone, or is an IPv4 address mapped into IPv6. */
  static parse(text: string): Ip | undefined {
    const family = text.includes('%') ? 0 : isIP(text);
    if (family === 4) return new Ip(parse4(text), 32);
    if (family !== 6) return undefined;
    const value = parse6(text);
    return value >> 32n === 0xffffn ? undefined : new Ip(value, 128);
  }

  /** RFC 5952. */
  toString(): string {
    if (this.bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (this.value >> shift) & 255n).join('.');
    const groups = Array.from({ length: 8 }, (_, i) => Number((this.value >> BigInt(112 - 16 * i)) & 0xffffn));
    let [start, length] = [-1, 1];
    for (let i = 0; i < 8; i++) {
      let end = i;
      while (groups[end] === 0) end++;
      if (end - i > length) [start, length] = [i, end - i];
      if (end > i) i = end;
    }
    const text = (part: number[]) => part.map((group) => group.toString(16)).join(':');
    return start < 0 ? text(groups) : `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}`;
  }

  within(network: bigint, prefixLength: number): boolean {
    const shift = BigInt(this.bits - prefixLength);
    return this.value >> shift === network >> shift;
  }

  get isUnspecified(): boolean {
    return this.value === 0n;
  }

  get isLoopback(): boolean {
    return this.bits === 32 ? this.value >> 24n === 127n : this.value === 1n;
  }

  get isLinkLocalMulticast(): boolean {
    return this.bits === 32 ? this.value >> 8n === 0xe00000n : this.value >> 112n === 0xff02n;
  }

  get isLinkLocalUnicast(): boolean {
    return this.bits === 32 ? this.value >> 16n === 0xa9fen : this.value >> 118n === 0x3fan;
  }

  get isMulticast(): boolean {
    return this.bits === 32 ? this.value >> 28n === 0xen : this.value >> 120n === 0xffn;
  }

  /** net.IP.IsGlobalUnicast: private addresses count. */
  get isGlobalUnicast(): boolean {
    const broadcast = this.bits === 32 && this.value === 0xffffffffn;
    return !broadcast && !this.isUnspecified && !this.isLoopback && !this.isMulticast && !this.isLinkLocalUnicast;
  }
}

export class Cidr {
  readonly address: Ip;
  readonly prefixLength: number;

  constructor(address: Ip, prefixLength: number) {
    this.address = address;
    this.prefixLength = prefixLength;
  }

  static parse(text: string): Cidr | undefined {
    const slash = text.lastIndexOf('/');
    const length = text.slice(slash + 1);
    const address = slash < 0 ? undefined : Ip.parse(text.slice(0, slash));
    if (address === undefined || !/^(0|[1-9]\d{0,2})$/.test(length) || Number(length) > address.bits) return undefined;
    return new Cidr(address, Number(length));
  }

  masked(): Cidr {
    const shift = BigInt(this.address.bits - this.prefixLength);
    return new Cidr(new Ip((this.address.value >> shift) << shift, this.address.bits), this.prefixLength);
  }

  containsIp(ip: Ip): boolean {
    return ip.bits === this.address.bits && ip.within(this.address.value, this.prefixLength);
  }

  containsCidr(other: Cidr): boolean {
    return this.prefixLength <= other.prefixLength && this.containsIp(other.address);
  }

  toString(): string {
    return `${this.address}/${this.prefixLength}`;
  }
}

function parse4(text: string): bigint {
  return text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function parse6(text: string): bigint {
  let plain = text;
  const dotted = text.slice(text.lastIndexOf(':') + 1);
  if (dotted.includes('.')) {
    const low = parse4(dotted);
    plain = `${text.slice(0, -dotted.length)}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`;
  }
  const [head = '', tail] = plain.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const front = groups(head);
  const back = tail === undefined ? [] : groups(tail);
  const all = [...front, ...Array(8 - front.length - back.length).fill('0'), ...back];
  return all.reduce((value: bigint, group: string) => (value << 16n) | BigInt(`0x${group}`), 0n);
}
