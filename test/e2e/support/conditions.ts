import { type Condition, findCondition } from '../../../src/meta/index.ts';

/** A condition of an object of any kind; undefined where the object or the condition is not there. */
export function said(object: { status?: unknown } | undefined, type: string): Condition | undefined {
  const { conditions } = (object?.status ?? {}) as { conditions?: Condition[] };
  return findCondition(conditions, type);
}

export function isTrue(object: { status?: unknown } | undefined, type: string): boolean {
  return said(object, type)?.status === 'True';
}
