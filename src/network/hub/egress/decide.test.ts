import { describe, expect, it } from 'vitest';
import { Network, NetworkContext, networkingLabels } from '../../../api/index.ts';
import { apiVersionOf, type Condition, formatTime, type Stored } from '../../../meta/index.ts';
import { decide } from './decide.ts';

const now = 1_772_323_200_000;
const stored = { resourceVersion: '1', creationTimestamp: formatTime(now), namespace: 'default' };
const ready: Condition = {
  type: 'Ready',
  status: 'True',
  reason: 'Ready',
  message: '',
  lastTransitionTime: formatTime(now),
};
const message = (at: string) => `Internet egress is not available${at}: there is no class (see reasons.md#unavailable)`;
const refusal = (at: string, observedGeneration: number): Condition => ({
  type: 'InternetEgressReady',
  status: 'False',
  reason: 'Unavailable',
  message: message(at),
  observedGeneration,
  lastTransitionTime: formatTime(now),
});

function network(conditions: Condition[] = [ready]): Stored<Network> {
  const metadata = { ...stored, name: 'net', uid: 'n1', generation: 3 };
  return { apiVersion: apiVersionOf(Network), kind: 'Network', metadata, spec: {}, status: { conditions } } as never;
}

function context(name: string, metadata: object = {}, conditions: Condition[] = [ready]): Stored<NetworkContext> {
  return {
    apiVersion: apiVersionOf(NetworkContext),
    kind: 'NetworkContext',
    metadata: {
      ...stored,
      name,
      uid: name,
      generation: 2,
      labels: { [networkingLabels.networkUID]: 'n1' },
      ...metadata,
    },
    spec: { network: { name: 'net' }, location: { name: 'loc' } },
    status: { conditions },
  } as never;
}

const refused = { refused: 'there is no class' };
const resolved = { intent: { mode: 'Disabled' } } as const;

describe('a wish for the internet that is refused', () => {
  it('is said on the network and on its contexts, beside what others say there', () => {
    const own = context('own');
    expect(decide({ network: network(), contexts: [own], resolution: refused, now })).toEqual({
      network: { conditions: [ready, refusal('', 3)] },
      contexts: [{ context: own, status: { conditions: [ready, refusal(' in location loc', 2)] } }],
    });
  });

  it('is not said on contexts of another network of the name, nor on those that go', () => {
    const contexts = [
      context('former', { labels: { [networkingLabels.networkUID]: 'n0' } }),
      context('going', { deletionTimestamp: formatTime(now) }),
    ];
    expect(decide({ network: network(), contexts, resolution: refused, now }).contexts).toEqual([]);
  });

  it('is said no longer once it is not refused, and nothing is said in its place', () => {
    const own = context('own', {}, [refusal(' in location loc', 2), ready]);
    const plan = decide({ network: network([ready, refusal('', 3)]), contexts: [own], resolution: resolved, now });
    expect(plan).toEqual({
      network: { conditions: [ready] },
      contexts: [{ context: own, status: { conditions: [ready] } }],
    });
    expect(decide({ network: network(), contexts: [context('own')], resolution: resolved, now })).toEqual({
      network: undefined,
      contexts: [],
    });
  });
});
