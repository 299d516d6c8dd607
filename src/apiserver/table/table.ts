import type { KubeObject, ListMeta, ObjectMeta } from '../../meta/index.ts';
import { parseTime } from '../../meta/index.ts';
import type { ServedResource } from '../resource.ts';
import { humanDuration } from './duration.ts';
import { compileJsonPath } from './jsonpath.ts';

export interface TableColumn {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
}

export type Cell = string | number | boolean | null;

export interface TableRow {
  cells: Cell[];
  object: PartialObjectMetadata | KubeObject | null;
}

/** Versions of meta.k8s.io that transformed output is offered in; clients before Kubernetes 1.15 ask for the older. */
export type MetaVersion = 'v1' | 'v1beta1';

/** meta.k8s.io Table. */
export interface Table {
  kind: 'Table';
  apiVersion: `meta.k8s.io/${MetaVersion}`;
  metadata: Partial<ListMeta>;
  /** Null in all events of a watch but the first. */
  columnDefinitions: TableColumn[] | null;
  rows: TableRow[];
}

export interface PartialObjectMetadata {
  kind: 'PartialObjectMetadata';
  apiVersion: `meta.k8s.io/${MetaVersion}`;
  metadata: ObjectMeta;
}

export interface TableOptions {
  /** What each row carries beside its cells; `Metadata` where absent, as on the wire. */
  includeObject?: 'None' | 'Metadata' | 'Object';
  /** Leaves columnDefinitions out: every event of a watch after the first. */
  noHeaders?: boolean;
  /** Milliseconds since the Unix epoch, for ages. */
  now: number;
  /** Of meta.k8s.io; v1 where absent. */
  version?: MetaVersion;
  /** Of the list, or of the object. */
  metadata?: Partial<ListMeta>;
}

type Column = { definition: TableColumn; cell: (object: KubeObject, now: number) => Cell };

const rendered = new WeakMap<ServedResource['columns'], Column[]>();

const nameDescription = 'What the object is called; unique among its kind in its namespace, and fixed once made.';

/**
 * What `kubectl get` asks for: objects as rows. The first column is always Name, then the resource's own, or Age where
 * it declares none (apiextensions-apiserver, pkg/registry/customresource/tableconvertor). For a watch, one call per event.
 *
 * @param now in `options`: ages are counted to it.
 */
export function renderTable(
  resource: Pick<ServedResource, 'columns'>,
  objects: readonly KubeObject[],
  options: TableOptions,
): Table {
  const columns = columnsOf(resource.columns);
  const include = options.includeObject ?? 'Metadata';
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version ?? 'v1'}`,
    metadata: options.metadata ?? {},
    columnDefinitions: options.noHeaders === true ? null : columns.map((column) => column.definition),
    rows: objects.map((object) => {
      const cells = columns.map((column) => column.cell(object, options.now));
      if (include === 'None') return { cells, object: null };
      return { cells, object: include === 'Object' ? object : partialObjectMetadata(object, options.version) };
    }),
  };
}

/** The object's metadata under the kind PartialObjectMetadata; shares, does not copy. */
export function partialObjectMetadata(object: KubeObject, version: MetaVersion = 'v1'): PartialObjectMetadata {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}

function columnsOf(declared: ServedResource['columns']): Column[] {
  const known = rendered.get(declared);
  if (known !== undefined) return known;
  const own = declared.length > 0 ? declared : [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }];
  const columns: Column[] = [
    {
      definition: { name: 'Name', type: 'string', format: 'name', description: nameDescription, priority: 0 },
      cell: (object) => object.metadata.name ?? '',
    },
    ...own.map(columnOf),
  ];
  rendered.set(declared, columns);
  return columns;
}

function columnOf(column: ServedResource['columns'][number]): Column {
  const path = compileJsonPath(column.jsonPath);
  return {
    definition: {
      name: column.name,
      type: column.type,
      format: column.format ?? '',
      description: column.description ?? `What is at ${column.jsonPath}.`,
      priority: column.priority ?? 0,
    },
    cell: (object, now) => {
      if (column.cell !== undefined) return column.cell(object);
      const found = path(object);
      if (found.length === 0 || found[0] === null) return null;
      // Like the real server, of many matches only the first is shown.
      if (column.type === 'string') return textOf(found[0]);
      return typedCell(column.type, found[0], now);
    },
  };
}

function typedCell(type: string, value: unknown, now: number): Cell {
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date': {
      if (typeof value !== 'string') return null;
      const time = /^\d{4}-\d\d-\d\dT/.test(value) ? parseTime(value) : undefined;
      return time === undefined ? '<invalid>' : humanDuration(now - time);
    }
    default:
      return null;
  }
}

/** Scalars bare, the rest as JSON, as client-go's jsonpath prints them. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value) ?? '';
}
