import type { ASTNode } from '@marcbachmann/cel-js';
import { EvaluationError } from '@marcbachmann/cel-js';
import { regexOf } from '../regex/regex.ts';

/**
 * What one rule may spend on one value, and all rules on one object, in steps: an iteration of a comprehension, an
 * element compared or copied, or ten characters looked at. A step takes 0.1 to 1 microseconds, so that the worst rule on
 * the worst object holds the server for about a second. cel-js has no cost model; the charges are put into its checked
 * syntax tree here, where work can grow with the data.
 */
const perRule = 1_000_000;
const perObject = 3_000_000;

let ruleLeft = 0;
let objectLeft = 0;

export function openObjectBudget(): void {
  objectLeft = perObject;
}

export function openRuleBudget(): void {
  ruleLeft = Math.min(perRule, objectLeft);
}

/** To be called after each evaluation; answers which budget ran out, if one did. */
export function closeRuleBudget(): 'rule' | 'object' | undefined {
  objectLeft -= Math.min(perRule, objectLeft) - ruleLeft;
  if (ruleLeft >= 0) return undefined;
  return objectLeft <= 0 ? 'object' : 'rule';
}

/** One for all: a loop that swallows it over and over must not pay for stack traces. */
const exceeded = new EvaluationError('operation cancelled: actual cost limit exceeded');

/** Takes steps off the rule's budget. @throws EvaluationError where none are left */
export function charge(steps: number): void {
  ruleLeft -= steps;
  if (ruleLeft < 0) throw exceeded;
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / 10;
  if (Array.isArray(value)) return 1 + value.length;
  if (value instanceof Uint8Array) return 1 + value.length / 10;
  return 1;
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
      step.setMeta('evaluate', (...args: unknown[]) => {
        charge(1);
        return inner(...args);
      });
      return;
    }
    case '+':
    case 'in':
    case '==':
    case '!=': {
      const operands = node.args as CheckedNode[];
      if (operands.some((operand) => isFlat(operand.checkedType?.name))) return;
      if (node.op !== 'in' && operands.every((operand) => operand.op === 'value' && node.op !== '+')) return;
      chargeHandle(node, (args) => sizeOf(args[0]) + sizeOf(args[1]));
      return;
    }
    case 'call':
      if (node.args !== undefined && isCheap((node.args as [string])[0])) return;
      chargeHandle(node, (args) => sumSizes(args[0] as unknown[]));
      return;
    case 'rcall': {
      const [name] = node.args as [string];
      if (isCheap(name)) return;
      if (name === 'matches') {
        const handle = node.handle;
        if (handle === undefined) return;
        node.handle = (args, ...rest) => {
          const [text, pattern] = args as unknown[];
          if (typeof text !== 'string' || typeof pattern !== 'string') return handle(args, ...rest);
          charge(1 + text.length / 10);
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

/** Types whose comparison takes one step. */
function isFlat(name: string | undefined): boolean {
  return (
    name === 'int' || name === 'uint' || name === 'double' || name === 'bool' || name === 'null' || name === 'type'
  );
}

function isCheap(name: string): boolean {
  return (
    name === 'size' || name === 'hasValue' || name === 'has' || name === 'int' || name === 'dyn' || name === 'type'
  );
}
