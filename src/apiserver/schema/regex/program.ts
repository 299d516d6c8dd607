import type { Ranges } from './classes.ts';
import { type Assertion, parseRegex, type RegexNode } from './parse.ts';

/** Instructions of a nondeterministic automaton (Thompson's construction). */
export type Instruction =
  | { op: 'set'; ranges: Ranges; next: number }
  /** `next` is preferred to `other`. */
  | { op: 'split'; next: number; other: number }
  | { op: 'assert'; what: Assertion; next: number }
  | { op: 'match' };

const maximumInstructions = 20_000;

/**
 * Compiles an RE2 expression.
 *
 * @throws Error with Go's wording where the expression is not RE2 or is too large.
 */
export function compileProgram(source: string): { code: Instruction[]; start: number } {
  const code: Instruction[] = [{ op: 'match' }];
  const add = (instruction: Instruction): number => {
    if (code.length >= maximumInstructions) throw new Error('error parsing regexp: expression too large');
    return code.push(instruction) - 1;
  };
  // Built back to front: each node is compiled knowing what follows it.
  const emit = (node: RegexNode, next: number): number => {
    switch (node.kind) {
      case 'empty':
        return next;
      case 'set':
        return add({ op: 'set', ranges: node.ranges, next });
      case 'assert':
        return add({ op: 'assert', what: node.what, next });
      case 'sequence':
        return node.parts.reduceRight((after, part) => emit(part, after), next);
      case 'choice': {
        const starts = node.options.map((option) => emit(option, next));
        return starts.reduceRight((other, start) => add({ op: 'split', next: start, other }));
      }
      case 'repeat': {
        let after = next;
        const prefer = (part: number, skip: number): Instruction =>
          node.greedy ? { op: 'split', next: part, other: skip } : { op: 'split', next: skip, other: part };
        if (node.max === Infinity) {
          const loop = add({ op: 'split', next: 0, other: 0 });
          code[loop] = prefer(emit(node.part, loop), next);
          after = loop;
        } else {
          for (let i = node.min; i < node.max; i++) after = add(prefer(emit(node.part, after), next));
        }
        for (let i = 0; i < node.min; i++) after = emit(node.part, after);
        return after;
      }
    }
  };
  const start = emit(parseRegex(source), 0);
  return { code, start };
}
