import { EvaluationError } from '@marcbachmann/cel-js';

/** What a macro of ours sees of cel-js's checker and evaluator (version 8.0.0, pinned; cel.test.ts fails if this moves). */

export interface CelTypeNode {
  readonly kind: string;
  readonly name: string;
  readonly keyType?: CelTypeNode;
  readonly valueType?: CelTypeNode;
}

export interface Checker {
  check(node: unknown, scope: unknown): CelTypeNode;
  getType(name: string): CelTypeNode;
  createError(code: string, message: string, node: unknown): Error;
}

export interface Runner {
  run(node: unknown, scope: unknown): unknown;
}

export interface Scope {
  forkWithVariable(name: string, type: unknown): Scope;
  reuse(parent: unknown): Scope;
  setIterValue(value: unknown, runner: Runner): Scope;
}

export interface MacroCall {
  readonly args: readonly { readonly op: string; readonly args: unknown }[];
  readonly receiver: unknown;
}

/** The name of a variable that a macro declares. */
export function variableOf(macro: string, node: MacroCall['args'][number] | undefined): string {
  if (node?.op !== 'id') throw new EvaluationError(`${macro}() variable name must be a simple identifier`);
  return node.args as string;
}
