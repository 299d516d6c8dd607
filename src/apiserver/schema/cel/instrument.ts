import type { ASTNode } from '@marcbachmann/cel-js';
import { EvaluationError } from '@marcbachmann/cel-js';
import { regexOf } from '../regex/regex.ts';
import { associativeList, merged } from './associative.ts';
import { charge } from './budget.ts';
import { equal, hasParts } from './equality.ts';
import { isMap, keysOf } from './objects.ts';
import { weightOf } from './weight.ts';

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / 10;
  if (Array.isArray(value)) return 1 + value.length;
  if (value instanceof Uint8Array) return 1 + value.length / 10;
  return isMap(value) ? 1 + keysOf(value).length : 1;
}

/** cel-js's nodes as they are after type checking (version 8.0.0, pinned; cel.test.ts fails if this moves). */
interface CheckedNode {
  readonly op: string;
  readonly args: unknown;
  checkedType?: { kind: string; name: string };
  handle?: (...args: unknown[]) => unknown;
  readonly meta: { evaluate: (...args: unknown[]) => unknown; alternate?: unknown; macro?: Record<string, unknown> };
  setMeta(key: string, value: unknown): void;
}

/** Adds charges to a checked expression, and makes `matches` linear and changes of case those of ASCII. Returns whether it reads `oldSelf`. */
export function instrument(root: ASTNode): { readsOldSelf: boolean } {
  let readsOldSelf = false;
  const seen = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    if (Array.isArray(value)) {
      for (const item of value) visit(item);
      return;
    }
    if (!isNode(value)) {
      if (Object.getPrototypeOf(value) !== Object.prototype) return;
      // The arguments of a comprehension, or a macro's own record.
      for (const item of Object.values(value)) visit(item);
      return;
    }
    if (value.op === 'id' && value.args === 'oldSelf') readsOldSelf = true;
    addCharges(value);
    visit(value.args);
    visit(value.meta.alternate);
    visit(value.meta.macro);
  };
  visit(root);
  return { readsOldSelf };
}

function isNode(value: object): value is CheckedNode {
  return 'op' in value && 'meta' in value && 'args' in value && typeof (value as CheckedNode).setMeta === 'function';
}

function addCharges(node: CheckedNode): void {
  switch (node.op) {
    case 'comprehension': {
      const step = (node.args as { step: CheckedNode }).step;
      const inner = step.meta.evaluate;
      const weight = weightOf(step);
      step.setMeta('evaluate', (...args: unknown[]) => {
        charge(weight);
        return inner(...args);
      });
      overKeysOnce(node);
      return;
    }
    case '+':
      concatenate(node);
      return;
    case '==':
    case '!=':
    case 'in':
      compare(node);
      return;
    case 'call':
      if (isCheap((node.args as [string])[0])) return;
      if ((node.args as [string])[0] === 'size') {
        countOnce(node);
        return;
      }
      chargeHandle(node, (args) => sumSizes(args[0] as unknown[]));
      return;
    case 'rcall': {
      const [name] = node.args as [string];
      if (isCheap(name)) return;
      if (name === 'size') {
        countOnce(node);
        return;
      }
      if (name === 'matches') {
        const handle = node.handle;
        if (handle === undefined) return;
        node.handle = (args, ...rest) => {
          const [text, pattern] = args as unknown[];
          if (typeof text !== 'string' || typeof pattern !== 'string') return handle(args, ...rest);
          charge((1 + text.length / 10) * Math.max(1, pattern.length / 4));
          try {
            return regexOf(pattern).test(text);
          } catch (error) {
            throw new EvaluationError((error as Error).message);
          }
        };
        return;
      }
      if (name === 'upperAscii' || name === 'lowerAscii') asciiOnly(node, name);
      chargeHandle(node, (args) => sumSizes(args[0] as unknown[]));
    }
  }
}

/** Adding to a list of type `set` or `map` merges. */
function concatenate(node: CheckedNode): void {
  const handle = node.handle;
  if (handle === undefined || (node.args as CheckedNode[]).some(isFlat)) return;
  node.handle = (left, right, ...rest) => {
    const associative = associativeList(left);
    if (associative !== undefined && Array.isArray(right)) {
      return merged(left as unknown[], right, associative);
    }
    charge(sizeOf(left) + sizeOf(right));
    return handle(left, right, ...rest);
  };
}

/** What cel-js passes to the handler of an operator, as far as equality of leaves needs it. */
interface Evaluator {
  debugType(value: unknown): unknown;
  readonly registry: {
    findBinaryOverload(
      operator: string,
      left: unknown,
      right: unknown,
    ): { handler(...args: unknown[]): unknown } | undefined;
  };
}

function compare(node: CheckedNode): void {
  const handle = node.handle;
  if (handle === undefined || (node.op !== 'in' && (node.args as CheckedNode[]).some(isFlat))) return;
  node.handle = (left, right, ast, evaluator) => {
    const leaves = (a: unknown, b: unknown) => leavesEqual(a, b, ast, evaluator as Evaluator);
    if (node.op === 'in') {
      if (Array.isArray(right)) return right.some((item) => equal(left, item, leaves));
      charge(1);
      return handle(left, right, ast, evaluator);
    }
    if (hasParts(left) && hasParts(right)) return equal(left, right, leaves) === (node.op === '==');
    charge(sizeOf(left) + sizeOf(right));
    return handle(left, right, ast, evaluator);
  };
}

function leavesEqual(a: unknown, b: unknown, ast: unknown, evaluator: Evaluator): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    // An integer and a double of one value are equal.
    // biome-ignore lint/suspicious/noDoubleEquals: compares a bigint with a number
    return typeof a !== typeof b && isNumber(a) && isNumber(b) && a == b;
  }
  const [left, right] = [evaluator.debugType(a), evaluator.debugType(b)];
  if (left !== right) return false;
  return evaluator.registry.findBinaryOverload('==', left, right)?.handler(a, b, ast, evaluator) === true;
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** A loop over a map is one over its keys: gathered once for all the loops over it. */
function overKeysOnce(node: CheckedNode): void {
  const handle = node.handle;
  if (handle === undefined) return;
  node.handle = (range, ...rest) => handle(isMap(range) ? keysOf(range) : range, ...rest);
}

/** `size` as cel-js has it counts the keys of a map, and the characters of a text, again each time. */
function countOnce(node: CheckedNode): void {
  const handle = node.handle;
  if (handle === undefined) return;
  node.handle = (args, ...rest) => {
    const [value] = args as unknown[];
    if (typeof value === 'string') charge(value.length / 10);
    return isMap(value) ? BigInt(keysOf(value).length) : handle(args, ...rest);
  };
}

const flat = new Set(['int', 'uint', 'double', 'bool', 'null', 'type']);

/** Of a type whose comparison takes one step. */
function isFlat(node: CheckedNode): boolean {
  return flat.has(node.checkedType?.name ?? '');
}

/** cel-js changes the case of every letter there is. */
function asciiOnly(node: CheckedNode, name: 'upperAscii' | 'lowerAscii'): void {
  const handle = node.handle;
  if (handle === undefined) return;
  node.handle = (args, ...rest) => {
    const [text] = args as unknown[];
    if (typeof text !== 'string') return handle(args, ...rest);
    return name === 'upperAscii'
      ? text.replace(/[a-z]+/g, (part) => part.toUpperCase())
      : text.replace(/[A-Z]+/g, (part) => part.toLowerCase());
  };
}

function chargeHandle(node: CheckedNode, cost: (args: unknown[]) => number): void {
  const handle = node.handle;
  if (handle === undefined) return;
  node.handle = (...args) => {
    charge(cost(args));
    const result = handle(...args);
    if (typeof result === 'object' || (typeof result === 'string' && result.length > 100)) charge(sizeOf(result));
    return result;
  };
}

function sumSizes(args: unknown[]): number {
  let sum = 0;
  for (const arg of args) sum += sizeOf(arg);
  return sum;
}

function isCheap(name: string): boolean {
  return name === 'hasValue' || name === 'has' || name === 'int' || name === 'type';
}
