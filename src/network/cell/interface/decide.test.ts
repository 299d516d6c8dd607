import { describe, expect, it } from 'vitest';
import { networkingAnnotations, networkingLabels } from '../../../api/index.ts';
import { holdingClaim, interfaceOf, now, routing, unheld } from '../claim/testing.ts';
import { recordAnnotations } from '../routing.ts';
import { decide } from './decide.ts';
import type { Lease } from './lease.ts';

const deletionTimestamp = '2026-01-01T00:01:00Z';
const dying = { deletionTimestamp };
const retain = { reclaimPolicy: 'Retain' as const };
const alive = holdingClaim();
const ending = holdingClaim({ metadata: { deletionTimestamp } });
const successor = holdingClaim({ metadata: { uid: 'successor' } });
const asked = {
  annotations: { ...unheld().metadata.annotations, [networkingAnnotations.returnRequested]: 'interface-uid' },
};
const other = { annotations: { ...unheld().metadata.annotations, [networkingAnnotations.returnRequested]: 'another' } };

const unstamped = unheld({ metadata: { annotations: recordAnnotations(routing) } });
const givenBack = unheld({
  metadata: {
    annotations: { ...recordAnnotations(routing), [networkingAnnotations.returnRequested]: 'interface-uid' },
  },
});
const hour = 3_600_000;
const expiring = {
  type: 'Expiring',
  status: 'True',
  reason: 'Expiring',
  message: 'x',
  lastTransitionTime: deletionTimestamp,
  observedGeneration: 1,
} as const;

describe('an interface', () => {
  for (const [what, networkInterface, holder, step] of [
    ['held', interfaceOf(), alive, 'rest'],
    ['held, without its finalizer', interfaceOf({ metadata: { finalizers: [] } }), alive, 'hold'],
    ['held by a claim at its end', interfaceOf({ metadata: { finalizers: [] } }), ending, 'rest'],
    ['deleted under a claim that goes on', interfaceOf({ metadata: dying }), alive, 'let-go'],
    ['deleted under a claim at its end', interfaceOf({ metadata: dying }), ending, 'rest'],
    ['deleted, its claim gone', interfaceOf({ metadata: dying }), undefined, 'release'],
    ['deleted, its claim followed by another', interfaceOf({ metadata: dying }), successor, 'release'],
    ['deleted while nobody holds it', unheld({ metadata: dying }), undefined, 'release'],
    ['deleted, let go before', interfaceOf({ metadata: { ...dying, finalizers: [] } }), undefined, 'rest'],
    ['left behind by its claim', interfaceOf(), undefined, 'delete'],
    ['left behind, its claim followed by another', interfaceOf(), successor, 'delete'],
    ['left behind under Retain', interfaceOf({ spec: retain }), successor, 'unbind'],
    ['written ahead of its claim', interfaceOf({ spec: { claimRef: { name: 'nic' } } }), undefined, 'rest'],
    ['nobody holds', unheld({ spec: retain }), undefined, 'settle'],
    ['nobody holds, without a stamp', unstamped, undefined, 'stamp'],
    ['nobody holds, without a stamp, given back', givenBack, undefined, 'delete'],
    ['nobody holds and its tenant gives back', unheld({ metadata: asked }), undefined, 'delete'],
    ['of another UID given back', unheld({ metadata: other }), undefined, 'settle'],
    ['held while its tenant gives it back', interfaceOf({ metadata: asked }), alive, 'rest'],
    [
      'that is a copy',
      interfaceOf({ metadata: { ...dying, labels: { [networkingLabels.interfaceProjection]: 'true' } } }),
      undefined,
      'rest',
    ],
    ['made by hand', unheld({ metadata: { annotations: {} } }), undefined, 'rest'],
  ] as const) {
    it(`${what}: ${step}`, () => {
      expect(decide({ networkInterface, holder, lease: 'forever', now }).do).toBe(step);
    });
  }

  it('is released where its record says, whatever became of labels', () => {
    expect(decide({ networkInterface: unheld({ metadata: dying }), holder: undefined, lease: 'forever', now })).toEqual(
      {
        do: 'release',
        routing,
      },
    );
  });

  it('that nobody holds is Available, and shows nothing of its last holder', () => {
    const prepared = {
      type: 'Prepared',
      status: 'True',
      reason: 'x',
      message: '',
      lastTransitionTime: deletionTimestamp,
    } as const;
    const networkInterface = unheld({ spec: retain, status: { vpc: '3x', conditions: [prepared] } });
    const step = decide({ networkInterface, holder: undefined, lease: 'forever', now });
    expect(step).toMatchObject({ do: 'settle', status: { phase: 'Available' } });
    expect(step.do === 'settle' && step.reset?.map(({ op, path }) => `${op} ${path}`)).toEqual([
      'test /metadata/uid',
      'test /metadata/resourceVersion',
      'test /status/conditions/0/type',
      'replace /status/conditions/0',
      'remove /status/vpc',
    ]);
  });

  describe('that nobody holds and has a lease', () => {
    const said = (lease: Lease, after: number, networkInterface = unheld({ spec: retain })) => {
      const step = decide({ networkInterface, holder: undefined, lease, now: now + after });
      if (step.do !== 'settle') return step.do;
      return (step.status.conditions ?? []).map(({ type, status }) => `${type} ${status}`).join(', ');
    };
    const warned = unheld({ spec: retain, status: { conditions: [expiring] } });

    for (const [what, outcome, expected] of [
      ['says nothing of it at first', said(hour, 0.9 * hour - 1), 'Allocated True'],
      ['says a tenth ahead that it expires', said(hour, 0.9 * hour), 'Allocated True, Expiring True'],
      ['goes when it ends', said(hour, hour), 'delete'],
      ['stays where it can not be read', said('unknown', 40 * hour), 'Allocated True'],
      [
        'goes on saying so where it can not be read',
        said('unknown', 40 * hour, warned),
        'Allocated True, Expiring True',
      ],
      ['says it no more once it is kept for ever', said('forever', hour, warned), 'Allocated True'],
      ['says it no more once it is kept longer', said(40 * hour, hour, warned), 'Allocated True'],
    ] as const) {
      it(what, () => {
        expect(outcome).toBe(expected);
      });
    }

    it('says when its addresses go back, and looks again just then', () => {
      const step = decide({ networkInterface: unheld(), holder: undefined, lease: hour, now: now + 0.95 * hour });
      expect(step).toMatchObject({ do: 'settle', again: 180_000 });
      expect(step.do === 'settle' && step.status.conditions?.[1]?.message).toContain('2026-01-01T01:00:00Z');
    });

    it('is kept while somebody holds it, whatever its stamp says', () => {
      const { annotations = {} } = unheld().metadata;
      const networkInterface = interfaceOf({ metadata: { annotations } });
      expect(decide({ networkInterface, holder: alive, lease: hour, now: now + 2 * hour }).do).toBe('rest');
    });
  });
});
