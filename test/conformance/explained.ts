import type { Difference } from './harness/compare.ts';

/** What is known to differ, and stays so: each rule has its paragraph in docs/kubernetes-differences.md. */

export interface Rule {
  /** Anchor of its paragraph. */
  readonly id: string;
  /** `scenario` is its title, `request` the method and path. */
  matches(difference: Difference, where: { scenario: string; request: string }): boolean;
}

export const rules: readonly Rule[] = [];

export function explain(difference: Difference, where: { scenario: string; request: string }): Rule | undefined {
  return rules.find((rule) => rule.matches(difference, where));
}
