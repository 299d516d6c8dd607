import { type Environment, EvaluationError, Optional } from '@marcbachmann/cel-js';
import { canonical } from '../unique.ts';
import { charge } from './budget.ts';
import { type Checker, type MacroCall, type Runner, type Scope, variableOf } from './macros.ts';
import { CelObject, jsonOf } from './objects.ts';

class Sets {}

/** Kubernetes' list functions, `sets.*`, and `optMap`/`optFlatMap`/`ofNonZeroValue`. */
export function registerCollections(environment: Environment): void {
  const add = (signature: string, handler: (...args: never[]) => unknown) =>
    environment.registerFunction(signature, handler, { async: false });
  add('list.isSorted(): bool', (list: unknown[]) => list.every((item, i) => i === 0 || !less(item, list[i - 1])));
  add('list.sum(): dyn', (list: unknown[]) =>
    list.length === 0 ? 0n : list.slice(1).reduce((sum, item) => plus(sum, item), list[0]),
  );
  add('list.min(): dyn', (list: unknown[]) => extreme(list, 'min', (a, b) => less(a, b)));
  add('list.max(): dyn', (list: unknown[]) => extreme(list, 'max', (a, b) => less(b, a)));
  add('list.indexOf(dyn): int', (list: unknown[], item: unknown) => BigInt(keys(list).indexOf(keyOf(item))));
  add('list.lastIndexOf(dyn): int', (list: unknown[], item: unknown) => BigInt(keys(list).lastIndexOf(keyOf(item))));

  environment.registerType('SetsNamespace', Sets);
  environment.registerConstant('sets', 'SetsNamespace', new Sets());
  const contains = (outer: unknown[], inner: unknown[]) => {
    const known = new Set(keys(outer));
    return inner.every((item) => known.has(keyOf(item)));
  };
  add('SetsNamespace.contains(list, list): bool', (_: Sets, a: unknown[], b: unknown[]) => contains(a, b));
  add(
    'SetsNamespace.equivalent(list, list): bool',
    (_: Sets, a: unknown[], b: unknown[]) => contains(a, b) && contains(b, a),
  );
  add('SetsNamespace.intersects(list, list): bool', (_: Sets, a: unknown[], b: unknown[]) => {
    const known = new Set(keys(a));
    return b.some((item) => known.has(keyOf(item)));
  });
  add('OptionalNamespace.ofNonZeroValue(dyn): optional<dyn>', (_: unknown, value: unknown) =>
    isZero(value) ? Optional.none() : Optional.of(value),
  );
  // For the checker; what a rule compares goes through `equal`.
  environment.registerOperator('optional<A> == optional<A>', (a: Optional, b: Optional) => a === b);
  registerOptionalMacro(environment, 'optMap', (value) => Optional.of(value));
  registerOptionalMacro(environment, 'optFlatMap', (value) => value);
}

interface Macro {
  receiver: unknown;
  name: string;
  body: unknown;
  scope?: Scope;
}

function registerOptionalMacro(environment: Environment, name: string, result: (value: unknown) => unknown): void {
  environment.registerFunction(
    `optional.${name}(ast, ast): optional<dyn>`,
    ({ args, receiver }: MacroCall) => {
      const [variable, body] = args;
      return {
        receiver,
        name: variableOf(name, variable),
        body,
        typeCheck(checker: Checker, macro: Macro, scope: Scope) {
          const type = checker.check(macro.receiver, scope);
          const inner = type.kind === 'optional' ? type.valueType : checker.getType('dyn');
          macro.scope = scope.forkWithVariable(macro.name, inner);
          checker.check(macro.body, macro.scope);
          return checker.getType('optional');
        },
        evaluate(runner: Runner, macro: Macro, scope: Scope) {
          const value = runner.run(macro.receiver, scope) as Optional;
          if (!value.hasValue()) return value;
          return result(runner.run(macro.body, macro.scope!.reuse(scope).setIterValue(value.value(), runner)));
        },
      };
    },
    { async: false },
  );
}

/** The same text for equal values. */
export function keyOf(value: unknown): string {
  if (typeof value === 'bigint' || typeof value === 'number') return `n${value}`;
  if (typeof value === 'string') charge(value.length / 100);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const text = JSON.stringify(value, (_, item) =>
    item instanceof CelObject ? jsonOf(item) : typeof item === 'bigint' ? Number(item) : item,
  );
  charge(text.length / 10);
  return canonical(JSON.parse(text));
}

const keys = (list: unknown[]) => list.map(keyOf);

export function less(a: unknown, b: unknown): boolean {
  if (typeof a === 'object' && typeof (a as { compare?: unknown } | null)?.compare === 'function') {
    return (a as { compare(other: unknown): number }).compare(b) < 0;
  }
  return (a as bigint) < (b as bigint);
}

function extreme(list: unknown[], name: string, better: (a: unknown, b: unknown) => boolean): unknown {
  if (list.length === 0) throw new EvaluationError(`${name} called on empty list`);
  return list.reduce((best, item) => (better(item, best) ? item : best));
}

function plus(a: unknown, b: unknown): unknown {
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    const sum = a + b;
    if (BigInt.asIntN(64, sum) !== sum) throw new EvaluationError('integer overflow');
    return sum;
  }
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  const duration = a as { addDuration?: (other: unknown) => unknown };
  if (typeof duration?.addDuration === 'function') return duration.addDuration(b);
  throw new EvaluationError('no such overload: sum');
}

function isZero(value: unknown): boolean {
  if (value === null || value === '' || value === 0 || value === 0n || value === false) return true;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  return typeof value === 'object' && value.constructor === Object && Object.keys(value).length === 0;
}
