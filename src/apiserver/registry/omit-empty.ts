import type { KubeObject } from '../../meta/index.ts';

type Fields = Record<string, unknown>;

/** Takes empty maps and lists at `paths` (`data`, `spec.finalizers`) off the object; what is on the way is copied. */
export function omitEmpty(object: KubeObject, paths: readonly string[]): void {
  for (const path of paths) {
    const [first, second] = path.split('.') as [string, string?];
    const fields = object as unknown as Fields;
    const inner = fields[first];
    if (second === undefined) {
      if (isEmpty(inner)) delete fields[first];
    } else if (typeof inner === 'object' && inner !== null && isEmpty((inner as Fields)[second])) {
      const { [second]: _, ...rest } = inner as Fields;
      fields[first] = rest;
    }
  }
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
