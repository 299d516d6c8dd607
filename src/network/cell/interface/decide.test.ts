import { describe, expect, it } from 'vitest';
import { networkingAnnotations, networkingLabels } from '../../../api/index.ts';
import { holdingClaim, interfaceOf, now, routing, unheld } from '../claim/testing.ts';
import { decide } from './decide.ts';

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
      expect(decide({ networkInterface, holder, now }).do).toBe(step);
    });
  }

  it('is released where its record says, whatever became of labels', () => {
    expect(decide({ networkInterface: unheld({ metadata: dying }), holder: undefined, now })).toEqual({
      do: 'release',
      routing,
    });
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
    const step = decide({ networkInterface, holder: undefined, now });
    expect(step).toMatchObject({ do: 'settle', status: { phase: 'Available' } });
    expect(step.do === 'settle' && step.reset?.map(({ op, path }) => `${op} ${path}`)).toEqual([
      'test /metadata/uid',
      'test /metadata/resourceVersion',
      'test /status/conditions/0/type',
      'replace /status/conditions/0',
      'remove /status/vpc',
    ]);
  });
});
