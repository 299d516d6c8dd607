import { describe, expect, test } from 'vitest';
import type { EgressShard, EgressShardParameters } from '../../../api/index.ts';
import type { Stored } from '../../../meta/index.ts';
import { type Egress, resolveEgress } from './resolve.ts';
import { contextOf, egressTo, type Intent, parametersOf, shardNamespace, shardOf } from './testing.ts';

const sid = (number: number) => `2001:db8:ff01:a00${number}:e000::`;
const address = '2001:db8:f00d:1::100';

interface Options {
  internet?: Intent | undefined;
  parameters?: Stored<EgressShardParameters> | undefined;
  shards?: Stored<EgressShard>[];
}

function resolved(options: Options): Egress {
  const {
    internet = egressTo('public'),
    parameters = parametersOf('public'),
    shards = [shardOf('egress-a', { sid: sid(1), address })],
  } = options;
  return resolveEgress({ context: contextOf(internet), parameters, shards });
}

const said = ({ ready }: Egress) => (ready === undefined ? 'nothing' : `${ready.status}/${ready.reason}`);
const note = ({ finding }: Egress) => finding?.note.replace(/ \(see .*\)$/, '');

test('the shard\u2019s address, and how long it stays, as the class shares it', () => {
  expect(resolved({})).toMatchObject({
    shardSIDs: [sid(1)],
    sourceAddress: { family: 'IPv6', address, stability: 'None' },
  });
  expect(resolved({ internet: egressTo('public', 'Dedicated') }).sourceAddress?.stability).toBe('Network');
});

describe('which shards', () => {
  test('in the order of their names, each segment once, none without one', () => {
    const shards = [
      shardOf('egress-c', { sid: sid(3) }),
      shardOf('egress-b', { sid: sid(1) }),
      shardOf('egress-a', { sid: sid(2) }),
      shardOf('egress-d'),
      shardOf('egress-e', { sid: '2001:0db8:ff01:a001:e000:0:0:0' }),
      shardOf('egress-f', { sid: '::' }),
    ];
    expect(resolved({ shards }).shardSIDs).toEqual([sid(2), sid(1), sid(3)]);
  });

  test('those the selector selects, of the namespace, with the family\u2019s label "true"', () => {
    const labels = { 'network.datumapis.com/egress-pool': 'a', 'network.datumapis.com/egress-cell': 'here' };
    const shards = [
      shardOf('egress-a', { sid: sid(1), labels }),
      shardOf('egress-b', { sid: sid(2), labels, ipv6: undefined }),
      shardOf('egress-c', { sid: sid(3), labels, ipv6: 'false' }),
      shardOf('egress-d', { sid: sid(4), labels: { ...labels, 'network.datumapis.com/egress-pool': 'b' } }),
      shardOf('egress-e', { sid: sid(5), labels, namespace: 'ns' }),
    ];
    const selector = { matchLabels: labels };
    expect(resolved({ shards, parameters: parametersOf('public', selector) }).shardSIDs).toEqual([sid(1)]);
    expect(resolved({ shards, parameters: parametersOf('public', {}) }).shardSIDs).toEqual([sid(1), sid(4)]);
    const cell = { matchExpressions: [{ key: 'network.datumapis.com/egress-pool', operator: 'In', values: ['b'] }] };
    expect(resolved({ shards, parameters: parametersOf('public', cell) }).shardSIDs).toEqual([sid(4)]);
  });

  test('the address is the preferred one\u2019s or nobody\u2019s', () => {
    const shards = [shardOf('egress-a', { sid: sid(1) }), shardOf('egress-b', { sid: sid(2), address })];
    const egress = resolved({ shards });
    expect(egress.shardSIDs).toEqual([sid(1), sid(2)]);
    expect(egress.sourceAddress).toBeUndefined();
    expect(said(egress)).toBe('False/AddressUnavailable');
    expect(note(egress)).toBe('The source address of internet egress is not known: shard egress-a has no IPv6 address');
  });
});

const { sharing: _, ...unshared } = egressTo('public');
const { parametersRef: ours, ...unparametrized } = egressTo('public');

describe('no way out', () => {
  test.each<[string, Options, string, string | undefined]>([
    ['nothing stated', { internet: {} }, 'nothing', undefined],
    [
      'Disabled, whatever else is left',
      { internet: { ...egressTo('public'), mode: 'Disabled' } },
      'nothing',
      undefined,
    ],
    [
      'parameters of somebody else\u2019s',
      { internet: { ...egressTo('public'), parametersRef: { ...ours!, group: 'egress.example.com' } } },
      'nothing',
      undefined,
    ],
    [
      'another kind',
      { internet: { ...egressTo('public'), parametersRef: { ...ours!, kind: 'EgressShardPool' } } },
      'nothing',
      undefined,
    ],
    [
      'no parameters named',
      { internet: unparametrized },
      'False/Unavailable',
      'The egress parameters are not available: egress class standard names none',
    ],
    [
      'no shard',
      { shards: [] },
      'False/Unavailable',
      'EgressShardParameters public give no usable shard in namespace galactic-system: its selector matches no shard',
    ],
    [
      'shards that lack something',
      { shards: [shardOf('egress-a'), shardOf('egress-b', { sid: sid(2), ipv6: undefined })] },
      'False/Unavailable',
      'EgressShardParameters public give no usable shard in namespace galactic-system: egress-a without a SID; egress-b without label network.datumapis.com/egress-ipv6="true"',
    ],
  ])('%s', (_, options, ready, told) => {
    const egress = resolved(options);
    expect(egress.shardSIDs).toEqual([]);
    expect(egress.sourceAddress).toBeUndefined();
    expect(said(egress)).toBe(ready);
    expect(note(egress)).toBe(told);
  });

  test('parameters that are not there, or say nothing', () => {
    const context = contextOf(egressTo('public'));
    const missing = resolveEgress({ context, parameters: undefined, shards: [] });
    expect(said(missing)).toBe('False/Unavailable');
    expect(note(missing)).toContain('EgressShardParameters public does not exist');
    const { spec: _, ...empty } = parametersOf('public');
    expect(note(resolveEgress({ context, parameters: empty, shards: [] }))).toContain('public has no spec');
  });

  test('no context', () => {
    expect(resolveEgress({ context: undefined, parameters: parametersOf('public'), shards: [] })).toEqual({
      shardSIDs: [],
    });
  });
});

test('a class that says nothing of sharing gives a way and no address', () => {
  const egress = resolved({ internet: unshared });
  expect(egress.shardSIDs).toEqual([sid(1)]);
  expect(egress.sourceAddress).toBeUndefined();
  expect(said(egress)).toBe('False/AddressUnavailable');
});

test('what a consumer reads names no shard, no namespace and no parameters', () => {
  const all: Options[] = [
    {},
    { shards: [] },
    { shards: [shardOf('egress-a', { sid: sid(1) })] },
    { internet: unparametrized },
  ];
  for (const each of all) {
    const { message = '' } = resolved(each).ready ?? {};
    expect(message).not.toMatch(new RegExp(`egress-a|public|${shardNamespace}|standard`));
    expect(message).toMatch(/Internet egress/);
  }
});
