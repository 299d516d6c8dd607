export { humanDuration } from './duration.ts';
export { compileJsonPath, type JsonPath } from './jsonpath.ts';
export {
  type Cell,
  type MetaVersion,
  type PartialObjectMetadata,
  partialObjectMetadata,
  renderTable,
  type Table,
  type TableColumn,
  type TableOptions,
  type TableRow,
} from './table.ts';
