import { describe, expect, it } from 'vitest';
import { Instance } from '../../api/index.ts';
import { apiVersionOf, isConditionTrue, type Stored } from '../../meta/index.ts';
import { decide } from './decide.ts';

function instance(gates: readonly string[], more: object = {}): Stored<Instance> {
  return {
    apiVersion: apiVersionOf(Instance),
    kind: Instance.kind,
    metadata: {
      name: 'web-0',
      namespace: 'ns',
      uid: 'i',
      resourceVersion: '1',
      generation: 3,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...more,
    },
    spec: {
      runtime: { resources: { instanceType: 'small' } },
      controller: { templateHash: 'h', schedulingGates: gates.map((name) => ({ name })) },
    },
  };
}

describe('the simulated provider', () => {
  it('says nothing of an instance behind a gate, of one that goes, or of one that is nobody\u2019s', () => {
    expect(decide(instance(['Network']), 0)).toBeUndefined();
    expect(decide(instance([], { deletionTimestamp: '2026-01-01T00:00:00Z' }), 0)).toBeUndefined();
    const { controller: _, ...spec } = instance([]).spec!;
    expect(decide({ ...instance([]), spec }, 0)).toBeUndefined();
  });

  it('says Programmed and Available of any other, that it is simulated, and nothing else', () => {
    const { conditions = [] } = decide(instance([]), 0) ?? {};
    expect(conditions.map(({ type }) => type)).toEqual(['Programmed', 'Available']);
    for (const condition of conditions) {
      expect(condition).toMatchObject({
        status: 'True',
        observedGeneration: 3,
        lastTransitionTime: '1970-01-01T00:00:00Z',
      });
      expect(condition.message).toContain('simulated-provider');
    }
  });

  it('says the same later on, and leaves the conditions of others alone', () => {
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'Available',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    } as const;
    const first = decide(instance([]), 0);
    const again = decide({ ...instance([]), status: { conditions: [ready, ...(first?.conditions ?? [])] } }, 60_000);
    expect(again).toEqual(first);
    expect(isConditionTrue(again?.conditions, 'Ready')).toBe(false);
  });
});
