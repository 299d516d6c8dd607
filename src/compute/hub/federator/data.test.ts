import { describe, expect, it } from 'vitest';
import { computeAnnotations, computeLabels, WorkloadDeployment } from '../../../api/index.ts';
import { sourceUid } from '../../../federation/index.ts';
import { apiVersionOf, type ConfigMap, type Secret, type Stored } from '../../../meta/index.ts';
import { companionSteps, type Data, dataAnnotations } from './data.ts';

const identity = (uid: string) => ({
  uid,
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
});

const copy: Stored<WorkloadDeployment> = {
  apiVersion: apiVersionOf(WorkloadDeployment),
  kind: WorkloadDeployment.kind,
  metadata: { name: 'web', namespace: 'ns-u', ...identity('h') },
  spec: { locationRef: { name: 'x' } } as NonNullable<WorkloadDeployment['spec']>,
};

function settings(data: Record<string, string> = { a: '1' }, uid = 's', more: object = {}): Stored<ConfigMap> {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings', namespace: 'default', labels: { own: 'label' }, ...identity(uid) },
    data,
    ...more,
  };
}

const needed = { kind: 'ConfigMap', name: 'settings', optional: false } as const;
const data = (source?: Stored<ConfigMap>, companions: Data['companions'] = [], more: object = {}): Data => ({
  references: [{ ...needed, ...more, source }],
  companions,
});

const told = (of: Data | undefined) => {
  const { expectedReferencedData, referencedDataError } = computeAnnotations;
  const annotations = dataAnnotations('web', of, { id: 'hub' });
  return [annotations[expectedReferencedData], annotations[referencedDataError]];
};

describe('what a cell is told', () => {
  it('is what to expect, and nothing where there is nothing', () => {
    expect(told(data(settings()))).toEqual(['["web-configmap-settings"]', undefined]);
    for (const none of [undefined, { references: [], companions: [] }])
      expect(told(none)).toEqual([undefined, undefined]);
  });

  it('is why something will not come, of what is needed', () => {
    expect(told(data())[1]).toMatch(/^\{"reason":"SourceNotFound","message":"ConfigMap settings does not exist/);
    expect(told(data(undefined, [], { optional: true }))).toEqual(['[]', undefined]);
    const large = settings({ a: 'x'.repeat(1024 * 1024) });
    expect(told(data(large))[1]).toMatch(/^\{"reason":"SourceTooLarge","message":"ConfigMap settings is too large/);
    expect(companionSteps(copy, data(large))).toEqual([]);
  });
});

describe('a companion', () => {
  const [made] = companionSteps(copy, data(settings())) as unknown as [{ do: string; object: ConfigMap }];
  const held = { ...made.object, metadata: { ...made.object.metadata, ...identity('c') } } as Stored<ConfigMap>;
  const does = (of: Data) => companionSteps(copy, of).map((step) => step.do);

  it('is its source\u2019s data under a name of the deployment\u2019s, for its location, owned by the hub\u2019s copy', () => {
    expect(made).toEqual({
      do: 'create-companion',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'web-configmap-settings',
          namespace: 'ns-u',
          labels: { [computeLabels.referencedData]: 'true', [computeLabels.location]: 'x' },
          annotations: {
            [sourceUid]: 's',
            [computeAnnotations.referencedDataOf]: 'web',
            [computeAnnotations.referencedDataSource]: 'settings',
          },
          ownerReferences: [expect.objectContaining({ kind: 'WorkloadDeployment', uid: 'h' })],
        },
        data: { a: '1' },
      },
    });
    expect(does(data(settings(), [held]))).toEqual([]);
  });

  it('follows its source, which may be immutable and made anew', () => {
    expect(does(data(settings({ a: '2' }), [held]))).toEqual(['update-companion']);
    const [frozen] = companionSteps(copy, data(settings({ a: '1' }, 's', { immutable: true }))) as never as [
      { object: ConfigMap },
    ];
    expect(frozen.object.immutable).toBeUndefined();
    expect(does(data(settings({ a: '1' }, 'another'), [held]))).toEqual(['delete-companion']);
    const going = { ...held, metadata: { ...held.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(does(data(settings({ a: '1' }, 'another'), [going]))).toEqual([]);
  });

  it('outlives its source, and goes once the template no longer names that', () => {
    expect(does(data(undefined, [held]))).toEqual([]);
    expect(does({ references: [], companions: [held] })).toEqual(['delete-companion']);
    const secret = { ...held, kind: 'Secret' } as Stored<Secret>;
    expect(does(data(settings(), [held, secret]))).toEqual(['delete-companion']);
  });
});
