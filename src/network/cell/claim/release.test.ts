import { describe, expect, it } from 'vitest';
import { computeFinalizers, networkingFinalizers } from '../../../api/index.ts';
import { decide } from './decide.ts';
import type { Done, Snapshot } from './snapshot.ts';
import { claimOf, holdingClaim, interfaceOf, routing, snapshotOf, unheld } from './testing.ts';

const early = '2026-01-01T00:01:00Z';
const late = '2026-01-01T00:02:00Z';

function ending(reclaimPolicy: 'Delete' | 'Retain', deletionTimestamp = early) {
  return holdingClaim({
    metadata: { deletionTimestamp },
    spec: { reclaimPolicy },
    status: { networkInterfaceRef: { name: 'nic' } },
  });
}

type Policy = 'Delete' | 'Retain';
const at = (policy: Policy, deletionTimestamp?: string, finalizers?: string[]) =>
  interfaceOf({
    metadata: {
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(finalizers === undefined ? {} : { finalizers }),
    },
    spec: { reclaimPolicy: policy },
  });
const others = interfaceOf({ spec: { claimRef: { name: 'b', uid: 'b' } } });
const released: Done = { released: true };

/** Each row: the interface as a live read shows it, what is done, and the step under each policy. */
const table: [string, (policy: Policy) => Partial<Snapshot>, { Delete: string; Retain: string }][] = [
  ['held', (policy) => ({ networkInterface: at(policy) }), { Delete: 'delete', Retain: 'unbind' }],
  [
    'deleted, released',
    (policy) => ({ networkInterface: at(policy, late), done: released }),
    { Delete: 'remove', Retain: 'remove' },
  ],
  ['gone', () => ({}), { Delete: 'release', Retain: 'restore' }],
  ['gone, released', () => ({ done: released }), { Delete: 'let-go', Retain: 'let-go' }],
  ['gone, restored', () => ({ done: { restored: true } }), { Delete: 'let-go', Retain: 'let-go' }],
  ['gone with its namespace', () => ({ namespaceTerminating: true }), { Delete: 'release', Retain: 'release' }],
  [
    'deleted before the claim',
    (policy) => ({ networkInterface: at(policy, early) }),
    { Delete: 'release', Retain: 'remove' },
  ],
  [
    'deleted after the claim',
    (policy) => ({ networkInterface: at(policy, late) }),
    { Delete: 'release', Retain: 'release' },
  ],
  [
    'deleted before the claim, and kept by somebody',
    (policy) => ({ networkInterface: at(policy, early, ['example.com/wait']), done: released }),
    { Delete: 'rest', Retain: 'rest' },
  ],
  [
    'given back by its tenant while the claim was binding it',
    () => ({ networkInterface: unheld({ metadata: { deletionTimestamp: early }, spec: { reclaimPolicy: 'Retain' } }) }),
    { Delete: 'rest', Retain: 'rest' },
  ],
  ['held by another', () => ({ networkInterface: others }), { Delete: 'let-go', Retain: 'let-go' }],
  [
    'unheld already',
    (policy) => ({ networkInterface: unheld({ spec: { reclaimPolicy: policy } }) }),
    { Delete: 'delete', Retain: 'let-go' },
  ],
  [
    'retained for the next, which this one was not',
    () => ({ networkInterface: unheld({ spec: { reclaimPolicy: 'Retain' } }) }),
    { Delete: 'let-go', Retain: 'let-go' },
  ],
];

describe('the end of a claim', () => {
  for (const policy of ['Delete', 'Retain'] as const) {
    for (const [what, more, steps] of table) {
      it(`under ${policy}, its interface ${what}: ${steps[policy]}`, () => {
        expect(decide(snapshotOf({ claim: ending(policy), ...more(policy) })).do).toBe(steps[policy]);
      });
    }
  }

  it('needs neither location, labels nor presence: it goes by the record', () => {
    const lost = { servingLocations: [], namespaceLabels: undefined, contexts: [] };
    const step = decide(snapshotOf({ claim: ending('Delete'), networkInterface: at('Delete', late), ...lost }));
    expect(step).toEqual({ do: 'release', routing });
  });

  it('asks nothing of IPAM where nothing was ever asked of it', () => {
    const finalizers = [networkingFinalizers.claimRelease];
    const claim = claimOf({ metadata: { deletionTimestamp: early, finalizers } });
    expect(decide(snapshotOf({ claim }))).toEqual({ do: 'let-go' });
  });

  it('leaves a claim alone that it does not hold', () => {
    expect(decide(snapshotOf({ claim: claimOf({ metadata: { deletionTimestamp: early } }) }))).toEqual({ do: 'rest' });
  });

  it('waits while the claim is in use, and keeps it served', () => {
    const finalizers = [networkingFinalizers.claimRelease, computeFinalizers.slotInUse];
    const { metadata, ...rest } = ending('Delete');
    const claim = { ...rest, metadata: { ...metadata, finalizers } };
    expect(decide(snapshotOf({ claim, networkInterface: at('Delete') })).do).toBe('publish');
    expect(decide(snapshotOf({ claim })).do).toBe('allocate');
  });
});
