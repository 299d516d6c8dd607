import { describe, expect, it } from 'vitest';
import { sourceUid } from '../../../federation/index.ts';
import type { KubeObject, Stored } from '../../../meta/index.ts';
import { decide, type Located, type Snapshot } from './decide.ts';

const stored = { resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const deletionTimestamp = stored.creationTimestamp;

function source(metadata: Partial<Stored<Located>['metadata']> = {}): Stored<Located> {
  return {
    apiVersion: 'networking.datumapis.com/v1alpha',
    kind: 'Subnet',
    metadata: {
      ...stored,
      name: 's',
      namespace: 'default',
      uid: 'uid',
      labels: { a: 'b' },
      finalizers: ['f'],
      ...metadata,
    },
    spec: { location: { name: 'loc' } },
    status: { phase: 'x' },
  };
}

function copy(metadata: Partial<Stored<KubeObject>['metadata']> = {}): Stored<KubeObject> {
  const [step] = decide({ source: source(), copy: undefined, hubNamespace: 'ns-1', ending: false });
  if (step?.do !== 'create') throw new Error('nothing was created');
  return { ...step.object, metadata: { ...step.object.metadata, ...stored, uid: 'copy', ...metadata } };
}

describe('a replica', () => {
  it.each<[string, Partial<Snapshot>, string[]]>([
    ['is made', {}, ['create']],
    ['is not made in a namespace that is going', { ending: true }, []],
    ['is as it should be', { copy: copy() }, []],
    ['follows its source', { copy: copy(), source: source({ labels: { a: 'c' } }) }, ['update']],
    ['goes with its source', { copy: copy(), source: undefined }, ['delete']],
    ['goes before its source has gone', { copy: copy(), source: source({ deletionTimestamp }) }, ['delete']],
    ['is going already', { copy: copy({ deletionTimestamp }), source: undefined }, []],
    ['is not taken over while it goes', { copy: copy({ deletionTimestamp }) }, []],
    ['of another source goes first', { copy: copy({ annotations: { [sourceUid]: 'old' } }) }, ['delete']],
    ['is not what stands in its place', { copy: copy({ annotations: {} }) }, ['tell-taken']],
    ['nor what stands where it was', { copy: copy({ annotations: {} }), source: undefined }, []],
  ])('%s', (_, part, expected) => {
    const steps = decide({ source: source(), copy: undefined, hubNamespace: 'ns-1', ending: false, ...part });
    expect(steps.map((step) => step.do)).toEqual(expected);
  });

  it('has neither status nor finalizers of its source', () => {
    expect(copy()).not.toHaveProperty('status');
    expect(copy().metadata.finalizers).toBeUndefined();
    expect(copy().metadata.namespace).toBe('ns-1');
  });
});
