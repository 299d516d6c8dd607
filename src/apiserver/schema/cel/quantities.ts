import { type Environment, EvaluationError } from '@marcbachmann/cel-js';
import { Quantity } from './quantity.ts';

/** The `quantity` library. */
export function registerQuantities(environment: Environment): void {
  const add = (signature: string, handler: (...args: never[]) => unknown) =>
    environment.registerFunction(signature, handler, { async: false });
  const type = 'kubernetes.Quantity';
  environment.registerType(type, Quantity);
  add('isQuantity(string): bool', (text: string) => Quantity.parse(text) !== undefined);
  add(`quantity(string): ${type}`, (text: string) => {
    const value = Quantity.parse(text);
    if (value === undefined) throw new EvaluationError(`quantity parse error: ${JSON.stringify(text)}`);
    return value;
  });
  add(`${type}.isInteger(): bool`, (value: Quantity) => value.toInteger() !== undefined);
  add(`${type}.asInteger(): int`, (value: Quantity) => {
    const integer = value.toInteger();
    if (integer === undefined) throw new EvaluationError('cannot convert value to integer');
    return integer;
  });
  add(`${type}.asApproximateFloat(): double`, (value: Quantity) => value.toNumber());
  add(`${type}.isGreaterThan(${type}): bool`, (a: Quantity, b: Quantity) => a.compare(b) > 0);
  add(`${type}.isLessThan(${type}): bool`, (a: Quantity, b: Quantity) => a.compare(b) < 0);
  add(`${type}.compareTo(${type}): int`, (a: Quantity, b: Quantity) => BigInt(a.compare(b)));
  add(`${type}.add(${type}): ${type}`, (a: Quantity, b: Quantity) => a.plus(b));
  add(`${type}.add(int): ${type}`, (a: Quantity, b: bigint) => a.plus(new Quantity(b, 0)));
  add(`${type}.sub(${type}): ${type}`, (a: Quantity, b: Quantity) => a.minus(b));
  add(`${type}.sub(int): ${type}`, (a: Quantity, b: bigint) => a.minus(new Quantity(b, 0)));
  environment.registerOperator(`${type} == ${type}`, (a: Quantity, b: Quantity) => a.compare(b) === 0);
}
