import type { KubeObject } from '../../meta/index.ts';

type Fields = Record<string, unknown>;

/** Takes empty maps and lists at `paths` (`data`, `spec.finalizers[]`) off the object; what is on the way is copied. */
export function omitEmpty(object: KubeObject, paths: readonly string[]): void {
  for (const path of paths) {
    const list = path.endsWith('[]');
    const [first, second] = path.replace('[]', '').split('.') as [string, string?];
    const fields = object as unknown as Fields;
    const inner = fields[first];
    if (second === undefined) {
      if (isEmpty(inner, list)) delete fields[first];
    } else if (typeof inner === 'object' && inner !== null && isEmpty((inner as Fields)[second], list)) {
      const { [second]: _, ...rest } = inner as Fields;
      fields[first] = rest;
    }
  }
}

function isEmpty(value: unknown, list: boolean): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== list) return false;
  return Object.keys(value).length === 0;
}
