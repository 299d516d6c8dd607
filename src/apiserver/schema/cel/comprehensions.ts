import { type Environment, EvaluationError } from '@marcbachmann/cel-js';
import { charge } from './budget.ts';
import { type CelTypeNode, type Checker, type MacroCall, type Runner, type Scope, variableOf } from './macros.ts';
import { weightOf } from './weight.ts';

/** Comprehensions with two variables (cel-go `ext/comprehensions.go`): the index or key, and the value beside it. */

type Entry = readonly [key: unknown, value: unknown];

/** Runs the macro's expression for one entry. */
type Run = (node: unknown, entry: Entry) => unknown;

interface Comprehension {
  /** The expressions after the two variables. */
  readonly expressions: number;
  /** Type of the result, from those of the keys and of the expressions. Undefined where an expression has a wrong one. */
  result(checker: Checker, key: CelTypeNode, types: readonly CelTypeNode[]): CelTypeNode | undefined;
  evaluate(entries: readonly Entry[], run: Run, expressions: readonly unknown[]): unknown;
}

interface Macro {
  readonly receiver: unknown;
  readonly expressions: readonly unknown[];
  readonly names: readonly [string, string];
  outer?: Scope;
  inner?: Scope;
}

const isBool = (type: CelTypeNode | undefined): boolean => type?.name === 'bool' || type?.name === 'dyn';
const mapType = (checker: Checker, key: CelTypeNode, value: CelTypeNode): CelTypeNode =>
  checker.getType(`map<${key.name}, ${value.name}>`);

/** `wanted` decides; else an expression that failed, if one did. */
function quantify(entries: readonly Entry[], run: Run, predicate: unknown, wanted: boolean): boolean {
  let failed: unknown;
  for (const entry of entries) {
    try {
      if (run(predicate, entry) === wanted) return wanted;
    } catch (error) {
      failed = error;
    }
  }
  if (failed !== undefined) throw failed;
  return !wanted;
}

function quantifier(wanted: boolean): Comprehension {
  return {
    expressions: 1,
    result: (checker, _, [predicate]) => (isBool(predicate) ? checker.getType('bool') : undefined),
    evaluate: (entries, run, [predicate]) => quantify(entries, run, predicate, wanted),
  };
}

const existsOne: Comprehension = {
  expressions: 1,
  result: (checker, _, [predicate]) => (isBool(predicate) ? checker.getType('bool') : undefined),
  evaluate: (entries, run, [predicate]) => entries.filter((entry) => run(predicate, entry) === true).length === 1,
};

/** With an expression that filters before the one that transforms, or without. */
function transforming(
  filtered: boolean,
  result: (checker: Checker, key: CelTypeNode, made: CelTypeNode) => CelTypeNode | undefined,
  collect: (made: readonly (readonly [Entry, unknown])[]) => unknown,
): Comprehension {
  return {
    expressions: filtered ? 2 : 1,
    result: (checker, key, types) =>
      filtered && !isBool(types[0]) ? undefined : result(checker, key, types.at(-1) as CelTypeNode),
    evaluate: (entries, run, expressions) => {
      const kept = filtered ? entries.filter((entry) => run(expressions[0], entry) === true) : entries;
      return collect(kept.map((entry) => [entry, run(expressions.at(-1), entry)] as const));
    },
  };
}

function record(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const made: Record<string, unknown> = Object.create(null);
  for (const [key, value] of entries) {
    if (Object.hasOwn(made, key)) throw new EvaluationError(`insert failed: key ${key} already exists`);
    made[key] = value;
  }
  return made;
}

const comprehensions: readonly (readonly [string, Comprehension])[] = [
  ['all', quantifier(false)],
  ['exists', quantifier(true)],
  ['existsOne', existsOne],
  ['exists_one', existsOne],
  ...[false, true].flatMap((filtered) => [
    [
      'transformList',
      transforming(
        filtered,
        (checker, _, made) => checker.getType(`list<${made.name}>`),
        (made) => made.map(([, value]) => value),
      ),
    ] as const,
    [
      'transformMap',
      transforming(filtered, mapType, (made) => record(made.map(([[key], value]) => [String(key), value] as const))),
    ] as const,
    [
      'transformMapEntry',
      transforming(
        filtered,
        (_, __, made) => (made.kind === 'map' || made.name === 'dyn' ? made : undefined),
        (made) => record(made.flatMap(([, entry]) => Object.entries(entry as Record<string, unknown>))),
      ),
    ] as const,
  ]),
];

export function registerComprehensions(environment: Environment): void {
  for (const [name, comprehension] of comprehensions) {
    const signature = ['ast', 'ast', ...Array<string>(comprehension.expressions).fill('ast')].join(', ');
    environment.registerFunction(
      `list.${name}(${signature}): dyn`,
      ({ args, receiver }: MacroCall) => ({
        receiver,
        expressions: args.slice(2),
        names: [variableOf(name, args[0]), variableOf(name, args[1])],
        typeCheck: (checker: Checker, macro: Macro, scope: Scope) => check(name, comprehension, checker, macro, scope),
        evaluate: (runner: Runner, macro: Macro, scope: Scope) => evaluate(comprehension, runner, macro, scope),
      }),
      { async: false },
    );
  }
}

function check(name: string, comprehension: Comprehension, checker: Checker, macro: Macro, scope: Scope): CelTypeNode {
  const over = checker.check(macro.receiver, scope);
  const dyn = checker.getType('dyn');
  if (over.kind !== 'list' && over.kind !== 'map' && over.name !== 'dyn') {
    throw checker.createError(
      'invalid_comprehension_range',
      `${over.name} cannot be a range of a comprehension`,
      macro.receiver,
    );
  }
  const key = over.kind === 'list' ? checker.getType('int') : (over.keyType ?? dyn);
  macro.outer = scope.forkWithVariable(macro.names[0], key);
  macro.inner = macro.outer.forkWithVariable(macro.names[1], over.valueType ?? dyn);
  const types = macro.expressions.map((expression) => checker.check(expression, macro.inner));
  const result = comprehension.result(checker, key, types);
  if (result !== undefined) return result;
  throw checker.createError('invalid_macro_argument', `${name}() found no matching overload`, macro.expressions[0]);
}

function evaluate(comprehension: Comprehension, runner: Runner, macro: Macro, scope: Scope): unknown {
  const over = runner.run(macro.receiver, scope);
  const entries: Entry[] = Array.isArray(over)
    ? over.map((value, index) => [BigInt(index), value])
    : Object.entries(over as Record<string, unknown>);
  // The first entry may decide; all were gathered.
  charge(entries.length);
  const run: Run = (node, [key, value]) => {
    charge(weightOf(node));
    const outer = macro.outer!.reuse(scope).setIterValue(key, runner);
    return runner.run(node, macro.inner!.reuse(outer).setIterValue(value, runner));
  };
  return comprehension.evaluate(entries, run, macro.expressions);
}
