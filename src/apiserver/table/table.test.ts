import { describe, expect, test } from 'vitest';
import { type KubeObject, parseTime } from '../../meta/index.ts';
import { compileJsonPath, humanDuration, partialObjectMetadata, renderTable } from './index.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

describe('humanDuration', () => {
  test.each([
    [-2 * second, '<invalid>'],
    [-second, '0s'],
    [0, '0s'],
    [119 * second, '119s'],
    [2 * minute, '2m'],
    [5 * minute + 3 * second, '5m3s'],
    [10 * minute + 3 * second, '10m'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [3 * hour + 5 * minute, '3h5m'],
    [8 * hour + 5 * minute, '8h'],
    [47 * hour, '47h'],
    [2 * day, '2d'],
    [2 * day + 3 * hour, '2d3h'],
    [8 * day + 3 * hour, '8d'],
    [729 * day, '729d'],
    [730 * day, '2y'],
    [765 * day, '2y35d'],
    [3000 * day, '8y'],
  ])('%d ms is %s', (span, text) => {
    expect(humanDuration(span)).toBe(text);
  });
});

const instance: KubeObject = {
  apiVersion: 'x/v1',
  kind: 'Instance',
  metadata: { name: 'a-0', namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: {
    topology: { 'topology.datum.net/city-code': 'DFW' },
    families: ['IPv6', 'IPv4'],
    replicas: 3,
    ratio: 0.5,
    on: false,
    'dotted.key': 'd',
    nothing: null,
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', n: 2 },
      { type: 'Available', status: 'False', n: 10 },
    ],
    addresses: [{ address: '10.0.0.1' }, { address: 'fd20::1' }],
  },
};

describe('compileJsonPath', () => {
  test.each([
    ['.metadata.name', ['a-0']],
    ['{.metadata.name}', ['a-0']],
    ['$.metadata.name', ['a-0']],
    ['metadata.name', ['a-0']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Available')].status", ['False']],
    ['.status.conditions[?(@.type==`Available`)].status', ['False']],
    ['.status.conditions[?(@.type == "Ready")].status', ['True']],
    ['.status.conditions[?(@.type!="Ready")].type', ['Available']],
    ['.status.conditions[?(@.n>=3)].type', ['Available']],
    ['.status.conditions[?(@.n)].type', ['Ready', 'Available']],
    [".spec.topology['topology.datum.net/city-code']", ['DFW']],
    ['.spec.topology["topology.datum.net/city-code"]', ['DFW']],
    ['.spec.topology.topology\\.datum\\.net/city-code', ['DFW']],
    ['.spec.dotted\\.key', ['d']],
    ['.status.addresses[0].address', ['10.0.0.1']],
    ['.status.addresses[-1].address', ['fd20::1']],
    ['.status.addresses[*].address', ['10.0.0.1', 'fd20::1']],
    ['.status.addresses[0:1].address', ['10.0.0.1']],
    ['.status.addresses[0,1].address', ['10.0.0.1', 'fd20::1']],
    ['..address', ['10.0.0.1', 'fd20::1']],
    ['.metadata.missing.deeper', []],
    ['.metadata.constructor', []],
    ['.status.addresses[7].address', []],
  ])('%s', (path, expected) => {
    expect(compileJsonPath(path)(instance)).toEqual(expected);
  });

  test.each(['.a[', '.a[?(@.b==)]', '.a[?(x', '.a b', '.a..', '.a[!]'])('%s is refused', (path) => {
    expect(() => compileJsonPath(path)).toThrow(/JSONPath/);
  });
});

describe('renderTable', () => {
  const now = parseTime('2026-01-01T00:05:03Z')!;
  const column = (name: string, type: string, jsonPath: string) => ({ name, type, jsonPath });

  test('a resource without columns of its own has Name and Age', () => {
    const table = renderTable({ columns: [] }, [instance], { now, metadata: { resourceVersion: '7' } });
    expect(table.metadata).toEqual({ resourceVersion: '7' });
    expect(table.columnDefinitions!.map(({ name, type, format }) => [name, type, format])).toEqual([
      ['Name', 'string', 'name'],
      ['Age', 'date', ''],
    ]);
    expect(table.rows).toEqual([
      {
        cells: ['a-0', '5m3s'],
        object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: instance.metadata },
      },
    ]);
  });

  test('cells by type: what is missing or of another type is null', () => {
    const columns = [
      column('Ready', 'string', '.status.conditions[?(@.type=="Ready")].status'),
      column('Replicas', 'integer', '.spec.replicas'),
      column('Ratio', 'number', '.spec.ratio'),
      column('On', 'boolean', '.spec.on'),
      column('Families', 'string', '.spec.families'),
      column('Addresses', 'string', '.status.addresses[*].address'),
      column('Number', 'string', '.spec.replicas'),
      column('Missing', 'string', '.status.nope'),
      column('Null', 'string', '.spec.nothing'),
      column('NotANumber', 'integer', '.metadata.name'),
      column('NotADate', 'date', '.metadata.name'),
    ];
    const [row] = renderTable({ columns }, [instance], { now, includeObject: 'None' }).rows;
    expect(row).toEqual({
      cells: ['a-0', 'True', 3, 0.5, false, '["IPv6","IPv4"]', '10.0.0.1', '3', null, null, null, '<invalid>'],
      object: null,
    });
  });

  test('priority, description and format reach the client', () => {
    const columns = [{ ...column('MTU', 'integer', '.spec.mtu'), priority: 1, format: 'int32', description: 'Bytes.' }];
    expect(renderTable({ columns }, [], { now }).columnDefinitions![1]).toEqual({
      name: 'MTU',
      type: 'integer',
      format: 'int32',
      description: 'Bytes.',
      priority: 1,
    });
  });

  test('whole objects, and no headers after the first event of a watch', () => {
    const table = renderTable({ columns: [] }, [instance], { now, includeObject: 'Object', noHeaders: true });
    expect(table.columnDefinitions).toBeNull();
    expect(table.rows[0]?.object).toBe(instance);
  });

  test('partial metadata is only metadata', () => {
    expect(Object.keys(partialObjectMetadata(instance))).toEqual(['kind', 'apiVersion', 'metadata']);
  });
});

test('a column that says its cell itself is shown as it says, whatever its path finds', () => {
  const columns = [{ name: 'Prefix', type: 'string', jsonPath: '.spec.length', cell: () => '/64' }];
  const object = { apiVersion: 'g/v1', kind: 'Pool', metadata: { name: 'a' }, spec: { length: 64 } };
  expect(renderTable({ columns }, [object], { now: 0 }).rows[0]?.cells).toEqual(['a', '/64']);
});
