import type { ASTNode } from '@marcbachmann/cel-js';
import type { Checker } from './macros.ts';

interface HasMacro {
  readonly args: readonly [Node];
  readonly macroHasProps?: unknown;
  typeCheck(checker: Checker, macro: HasMacro, scope: unknown): unknown;
}

interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly meta?: { readonly alternate?: unknown; readonly macro?: unknown };
}

/**
 * Makes the checker look into `has(a.b)`: cel-js takes any field of anything there, and finds out when the rule runs.
 * To be called between parsing and checking, while macros still await their types.
 */
export function checkSelections(root: ASTNode): void {
  const seen = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    if (!isNode(value)) {
      if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
        Object.values(value).forEach(visit);
      return;
    }
    const macro = value.meta?.macro;
    if (isCallOfHas(value) && isMacro(macro)) alsoCheck(macro);
    visit(value.args);
    visit(value.meta?.alternate);
    visit(macro);
  };
  visit(root);
}

function alsoCheck(macro: HasMacro): void {
  const inner = macro.typeCheck;
  macro.typeCheck = (checker, self, scope) => {
    const type = inner(checker, self, scope);
    checker.check(self.args[0], scope);
    return type;
  };
}

function isNode(value: object): value is Node {
  return 'op' in value && 'args' in value;
}

function isCallOfHas({ op, args }: Node): boolean {
  return op === 'call' && Array.isArray(args) && args[0] === 'has';
}

function isMacro(value: unknown): value is HasMacro {
  return typeof (value as { typeCheck?: unknown } | undefined)?.typeCheck === 'function';
}
