import { ApiError, type ManagedFieldsEntry } from '../../meta/index.ts';
import { type FieldSet, pathsOf } from './field-set.ts';

/** Fields another manager owns that an apply would change. */
export interface FieldConflict {
  entry: ManagedFieldsEntry;
  fields: FieldSet;
}

/**
 * The 409 of a refused apply, worded as kube-apiserver words it: one sentence for one field, else a list by manager; one
 * cause `FieldManagerConflict` per field.
 */
export function conflictError(conflicts: readonly FieldConflict[]): ApiError {
  const named = conflicts
    .map(({ entry, fields }) => ({ manager: printManager(entry), paths: pathsOf(fields) }))
    .sort((a, b) => (a.manager < b.manager ? -1 : a.manager > b.manager ? 1 : 0));
  const causes = named.flatMap(({ manager, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${manager}`, field })),
  );
  const first = named[0];
  const message =
    causes.length === 1 && first !== undefined
      ? `Apply failed with 1 conflict: conflict with ${first.manager}: ${first.paths[0]}`
      : `Apply failed with ${causes.length} conflicts: ${named
          .map(({ manager, paths }) => [`conflicts with ${manager}:`, ...paths.map((path) => `- ${path}`)].join('\n'))
          .join('\n')}`;
  return ApiError.of('Conflict', message, { causes });
}

function printManager(entry: ManagedFieldsEntry): string {
  const subresource = entry.subresource ? ` with subresource ${JSON.stringify(entry.subresource)}` : '';
  const version = entry.operation === 'Update' ? ` using ${entry.apiVersion}` : '';
  return `${JSON.stringify(entry.manager)}${subresource}${version}`;
}
