/** resource.Quantity: an exact decimal, `units` times ten to the minus `scale`. */
export class Quantity {
  readonly units: bigint;
  readonly scale: number;

  constructor(units: bigint, scale: number) {
    this.units = units;
    this.scale = scale;
  }

  /** Undefined where `text` is not a quantity (`1.5Gi`, `100m`, `2e3`). */
  static parse(text: string): Quantity | undefined {
    const match = /^([+-]?)(\d{1,40})?(?:\.(\d{0,40}))?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d{1,3})?$/.exec(
      text,
    );
    if (match === null) return undefined;
    const [, sign, whole = '', fraction = '', suffix = ''] = match;
    if (whole === '' && fraction === '') return undefined;
    let units = BigInt(whole + fraction || '0');
    let scale = fraction.length;
    const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].indexOf(suffix);
    if (binary >= 0) units *= 1024n ** BigInt(binary + 1);
    else scale -= exponentOf(suffix);
    if (scale < 0) {
      units *= 10n ** BigInt(-scale);
      scale = 0;
    }
    return new Quantity(sign === '-' ? -units : units, scale);
  }

  compare(other: Quantity): number {
    const [a, b] = align(this, other);
    return a < b ? -1 : a > b ? 1 : 0;
  }

  plus(other: Quantity): Quantity {
    const [a, b] = align(this, other);
    return new Quantity(a + b, Math.max(this.scale, other.scale));
  }

  minus(other: Quantity): Quantity {
    const [a, b] = align(this, other);
    return new Quantity(a - b, Math.max(this.scale, other.scale));
  }

  /** Undefined where it is not a whole number of 64 bits. */
  toInteger(): bigint | undefined {
    const divisor = 10n ** BigInt(this.scale);
    if (this.units % divisor !== 0n) return undefined;
    const value = this.units / divisor;
    return BigInt.asIntN(64, value) === value ? value : undefined;
  }

  toNumber(): number {
    return Number(`${this.units}e-${this.scale}`);
  }
}

function exponentOf(suffix: string): number {
  const exponents: Record<string, number> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
  if (suffix === '') return 0;
  return exponents[suffix] ?? Number(suffix.slice(1));
}

function align(a: Quantity, b: Quantity): [bigint, bigint] {
  const scale = Math.max(a.scale, b.scale);
  return [a.units * 10n ** BigInt(scale - a.scale), b.units * 10n ** BigInt(scale - b.scale)];
}
