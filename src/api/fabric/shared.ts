import type { CelRule } from '../schema.ts';

/** What the kinds of `cloud.datumapis.com` share. */
export const cloud = { group: 'cloud.datumapis.com', version: 'v1alpha1' } as const;

/** The rule of a text that may go from empty to a value once, and then stays. */
export function writeOnce(field: string): CelRule {
  return { rule: "oldSelf == '' || self == oldSelf", message: `${field} can be set once and not changed after` };
}

/** The rule, on the object around it, that a text once set is not removed. */
export function notRemoved(field: string): CelRule {
  return {
    rule: `!has(oldSelf.${field}) || oldSelf.${field} == '' || has(self.${field})`,
    message: `${field} can not be removed once set`,
  };
}
