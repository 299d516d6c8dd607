import { type Environment, EvaluationError } from '@marcbachmann/cel-js';
import { charge } from './budget.ts';
import { keyOf, less } from './collections.ts';
import { type CelTypeNode, type Checker, type MacroCall, type Runner, type Scope, variableOf } from './macros.ts';
import { weightOf } from './weight.ts';

/** cel-go's list extension (`ext/lists.go`). */

class Lists {}

const mostInRange = 1_000_000n;

export function registerLists(environment: Environment): void {
  const add = (signature: string, handler: (...args: never[]) => unknown) =>
    environment.registerFunction(signature, handler, { async: false });
  add('list<T>.slice(int, int): list<T>', (list: unknown[], start: bigint, end: bigint) => {
    const refuse = (why: string): never => {
      throw new EvaluationError(`cannot slice(${start}, ${end}), ${why}`);
    };
    if (start < 0n || end < 0n) refuse('negative indexes not supported');
    if (start > end) refuse('start index must be less than or equal to end index');
    if (end > BigInt(list.length)) refuse(`list is length ${list.length}`);
    return list.slice(Number(start), Number(end));
  });
  add('list.flatten(): list<dyn>', (list: unknown[]) => flattened(list, 1));
  add('list.flatten(int): list<dyn>', (list: unknown[], depth: bigint) => {
    if (depth < 0n) throw new EvaluationError('level must be non-negative');
    return flattened(list, Number(depth));
  });
  add('list<T>.reverse(): list<T>', (list: unknown[]) => list.slice().reverse());
  add('list<T>.distinct(): list<T>', (list: unknown[]) => [
    ...new Map(list.map((item) => [keyOf(item), item])).values(),
  ]);
  add('list<T>.sort(): list<T>', (list: unknown[]) => sorted(list, list));
  environment.registerType('ListsNamespace', Lists);
  environment.registerConstant('lists', 'ListsNamespace', new Lists());
  add('ListsNamespace.range(int): list<int>', (_: Lists, size: bigint) => {
    if (size < 0n) throw new EvaluationError(`lists.range: size must be non-negative, got ${size}`);
    if (size > mostInRange) {
      throw new EvaluationError(`lists.range: size ${size} exceeds maximum allowed (${mostInRange})`);
    }
    charge(Number(size));
    return Array.from({ length: Number(size) }, (_item, index) => BigInt(index));
  });
  registerSortBy(environment);
}

function flattened(list: unknown[], depth: number): unknown[] {
  charge(list.length);
  return list.flatMap((item) => (Array.isArray(item) && depth > 0 ? flattened(item, depth - 1) : [item]));
}

/** `items` in the order of their keys. */
function sorted(items: readonly unknown[], keys: readonly unknown[]): unknown[] {
  const kinds = new Set(keys.map(kindOf));
  if (kinds.has(undefined)) throw new EvaluationError('list elements must be comparable');
  if (kinds.size > 1) throw new EvaluationError('list elements must have the same type');
  charge(items.length * Math.max(1, Math.log2(items.length)));
  const order = items.map((_, index) => index);
  order.sort((a, b) => (less(keys[a], keys[b]) ? -1 : less(keys[b], keys[a]) ? 1 : 0));
  return order.map((index) => items[index]);
}

/** Of what can be compared with its like; undefined for anything else. */
function kindOf(value: unknown): string | undefined {
  if (typeof value !== 'object') return value === undefined ? undefined : typeof value;
  if (value === null || Array.isArray(value)) return undefined;
  const made = value.constructor;
  return made === undefined || made === Object ? undefined : made.name;
}

interface Macro {
  readonly receiver: unknown;
  readonly name: string;
  readonly key: unknown;
  scope?: Scope;
}

function registerSortBy(environment: Environment): void {
  environment.registerFunction(
    'list.sortBy(ast, ast): list<dyn>',
    ({ args, receiver }: MacroCall) => ({
      receiver,
      name: variableOf('sortBy', args[0]),
      key: args[1],
      typeCheck(checker: Checker, macro: Macro, scope: Scope): CelTypeNode {
        const type = checker.check(macro.receiver, scope);
        macro.scope = scope.forkWithVariable(macro.name, type.valueType ?? checker.getType('dyn'));
        checker.check(macro.key, macro.scope);
        return type;
      },
      evaluate(runner: Runner, macro: Macro, scope: Scope) {
        const list = runner.run(macro.receiver, scope) as unknown[];
        const keys = list.map((item) => {
          charge(weightOf(macro.key));
          return runner.run(macro.key, macro.scope!.reuse(scope).setIterValue(item, runner));
        });
        return sorted(list, keys);
      },
    }),
    { async: false },
  );
}
