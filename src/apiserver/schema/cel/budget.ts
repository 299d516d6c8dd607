import { EvaluationError } from '@marcbachmann/cel-js';

/**
 * What one rule may spend on one value, and all rules on one object, in steps: an iteration of a comprehension, an
 * element compared or copied, or ten characters looked at. A step takes 0.1 to 1 microseconds, so that the worst rule on
 * the worst object holds the server for about a second. cel-js has no cost model: `instrument` puts the
 * charges into its checked syntax tree, and what is ours charges for itself, wherever work can grow with the data.
 */
const perRule = 1_000_000;
const perObject = 3_000_000;

/** Between rules nothing is charged: what is done there is done once for each value. */
let ruleLeft = Number.POSITIVE_INFINITY;
let objectLeft = 0;
let isObjectSpent = false;

export function openObjectBudget(): void {
  objectLeft = perObject;
  isObjectSpent = false;
}

export function openRuleBudget(): void {
  ruleLeft = Math.min(perRule, objectLeft);
}

/** To be called after each evaluation; answers which budget ran out, if one did. */
export function closeRuleBudget(): 'rule' | 'object' | undefined {
  const left = ruleLeft;
  ruleLeft = Number.POSITIVE_INFINITY;
  // What one large step asked for beyond the limit was never spent.
  objectLeft -= Math.min(perRule, objectLeft) - Math.max(left, 0);
  if (left >= 0) return undefined;
  if (objectLeft > 0) return 'rule';
  isObjectSpent = true;
  return 'object';
}

/** Whether `closeRuleBudget` has answered that no rule of this object is to be asked any more. */
export function objectIsSpent(): boolean {
  return isObjectSpent;
}

/** One for all: a loop that swallows it over and over must not pay for stack traces. */
const exceeded = new EvaluationError('operation cancelled: actual cost limit exceeded');

/** Takes steps off the rule's budget. @throws EvaluationError where none are left */
export function charge(steps: number): void {
  ruleLeft -= steps;
  if (ruleLeft < 0) throw exceeded;
}
