import type { KubeObject } from '../../meta/index.ts';
import type { Served } from '../served.ts';
import { renderTable, type Table, type TableOptions } from '../table/index.ts';

/** Objects as rows, with the cells that a built-in kind works out instead of reading them at a path. */
export function tableOf(served: Served, objects: readonly KubeObject[], options: TableOptions): Table {
  const table = renderTable(served.resource, objects, options);
  const { cells } = served.strategy;
  if (cells === undefined) return table;
  // The first column is the name; the resource's own follow.
  for (const [index, column] of served.resource.columns.entries()) {
    const cell = cells[column.name];
    if (cell === undefined) continue;
    for (const [row, object] of objects.entries()) table.rows[row]!.cells[index + 1] = cell(object, options.now);
  }
  return table;
}
