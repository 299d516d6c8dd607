import { type Environment, EvaluationError } from '@marcbachmann/cel-js';

/** The `semver` library (apiserver `cel/library/semverlib.go`): versions by the rules of semver.org. */

const number = '(0|[1-9]\\d*)';
const pattern = new RegExp(`^${number}\\.${number}\\.${number}(?:-([0-9A-Za-z.-]+))?(?:\\+([0-9A-Za-z.-]+))?$`);

export class Semver {
  readonly numbers: readonly bigint[];
  /** What comes after the dash, between dots. */
  readonly prerelease: readonly string[];

  private constructor(numbers: readonly bigint[], prerelease: readonly string[]) {
    this.numbers = numbers;
    this.prerelease = prerelease;
  }

  /** Undefined where `text` is no version. */
  static parse(text: string): Semver | undefined {
    const match = text.length > 1000 ? null : pattern.exec(text);
    if (match === null) return undefined;
    const numbers = match.slice(1, 4).map((part) => BigInt(part!));
    const prerelease = match[4]?.split('.') ?? [];
    const build = match[5]?.split('.') ?? [];
    const odd = prerelease.some((part) => part === '' || /^0\d+$/.test(part)) || build.includes('');
    return odd || numbers.some((part) => BigInt.asUintN(64, part) !== part)
      ? undefined
      : new Semver(numbers, prerelease);
  }

  /** -1, 0 or 1; a version without a prerelease comes after those with one. */
  compare(other: Semver): number {
    for (const [index, part] of this.numbers.entries()) {
      if (part !== other.numbers[index]) return part < other.numbers[index]! ? -1 : 1;
    }
    if (this.prerelease.length === 0 || other.prerelease.length === 0) {
      return Math.sign(other.prerelease.length - this.prerelease.length);
    }
    for (const [index, part] of this.prerelease.entries()) {
      const its = other.prerelease[index];
      if (its === undefined) return 1;
      const order = compareParts(part, its);
      if (order !== 0) return order;
    }
    return this.prerelease.length < other.prerelease.length ? -1 : 0;
  }
}

/** Numbers by value and before words. */
function compareParts(a: string, b: string): number {
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (left !== right) return left ? -1 : 1;
  if (a === b) return 0;
  if (left) return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
  return a < b ? -1 : 1;
}

/** Without a `v` before it, with the parts it lacks, without zeros before its numbers. */
function normalized(text: string): string {
  const [major = '', minor, ...rest] = text.replace(/^v/, '').split('.');
  const parts = [major, minor, rest.length === 0 ? undefined : rest.join('.')].filter((part) => part !== undefined);
  const trimmed = parts.map((part) => part.replace(/^0+(?=\d)/, ''));
  if (trimmed.length === 3) return trimmed.join('.');
  // What is short cannot say more than numbers: where would it be put?
  if (/[+-]/.test(trimmed.at(-1)!)) return '';
  return [...trimmed, '0', '0'].slice(0, 3).join('.');
}

export function registerSemver(environment: Environment): void {
  const add = (signature: string, handler: (...args: never[]) => unknown) =>
    environment.registerFunction(signature, handler, { async: false });
  const type = 'kubernetes.Semver';
  const parse = (text: string, normalize: boolean) => Semver.parse(normalize ? normalized(text) : text);
  const must = (text: string, normalize: boolean): Semver => {
    const version = parse(text, normalize);
    if (version === undefined) throw new EvaluationError(`semver parse error: ${JSON.stringify(text)}`);
    return version;
  };
  environment.registerType(type, Semver);
  add('isSemver(string): bool', (text: string) => parse(text, false) !== undefined);
  add('isSemver(string, bool): bool', (text: string, normalize: boolean) => parse(text, normalize) !== undefined);
  add(`semver(string): ${type}`, (text: string) => must(text, false));
  add(`semver(string, bool): ${type}`, must);
  for (const [index, name] of ['major', 'minor', 'patch'].entries()) {
    add(`${type}.${name}(): int`, (version: Semver) => version.numbers[index]);
  }
  add(`${type}.isGreaterThan(${type}): bool`, (a: Semver, b: Semver) => a.compare(b) > 0);
  add(`${type}.isLessThan(${type}): bool`, (a: Semver, b: Semver) => a.compare(b) < 0);
  add(`${type}.compareTo(${type}): int`, (a: Semver, b: Semver) => BigInt(a.compare(b)));
  environment.registerOperator(`${type} == ${type}`, (a: Semver, b: Semver) => a.compare(b) === 0);
}
