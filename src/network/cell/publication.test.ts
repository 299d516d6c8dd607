import { expect, it } from 'vitest';
import { interfaceOf } from './claim/testing.ts';
import { interfaceSettling } from './publication.ts';

const prepared = (status: 'True' | 'False') => {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  return { conditions: [{ type: 'Prepared', status, reason: 'Said', message: '', lastTransitionTime }] };
};

it('the hub is told of an interface once the fabric has spoken of it, and later where many are under way', () => {
  const settling = interfaceSettling('fabric');
  const other = interfaceOf({ metadata: { uid: 'other' } });
  const soon = settling(interfaceOf({ status: prepared('True') }));
  const late = settling(interfaceOf());
  expect(late).toBeGreaterThan(soon);
  expect(settling(other)).toBeGreaterThan(late);
  expect(settling(interfaceOf())).toBeGreaterThan(late);
  expect(settling(interfaceOf({ status: prepared('False') }))).toBe(soon);
  // The last of many has waited for all of them, gone or not; one that comes when nobody is left begins anew.
  expect(settling(other)).toBeGreaterThan(late);
  const { claimRef: _, ...spec } = other.spec;
  expect(settling({ ...other, spec })).toBe(soon);
  expect(settling(other)).toBe(late);
});

it('the hub is told at once of what is given back', () => {
  for (const dataPlane of ['none', 'fabric', 'external'] as const) {
    const settling = interfaceSettling(dataPlane);
    expect(settling(interfaceOf({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }))).toBe(0);
    const { claimRef: _, ...spec } = interfaceOf().spec;
    expect(settling({ ...interfaceOf({ status: { phase: 'Available' } }), spec })).toBe(0);
    // Its status follows the unbinding in a moment.
    expect(settling({ ...interfaceOf({ status: { phase: 'Bound' } }), spec })).toBeGreaterThan(0);
  }
});

it('where nothing, or somebody else, prepares interfaces, nobody is waited for', () => {
  for (const dataPlane of ['none', 'external'] as const) {
    const settling = interfaceSettling(dataPlane);
    expect(settling(interfaceOf())).toBe(settling(interfaceOf({ status: prepared('True') })));
  }
});
