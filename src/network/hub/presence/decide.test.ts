import { describe, expect, it } from 'vitest';
import {
  Network,
  type NetworkBinding,
  type NetworkContext,
  networkingAnnotations,
  networkingLabels,
} from '../../../api/index.ts';
import { apiVersionOf, formatTime, type Stored } from '../../../meta/index.ts';
import { bindingStatus } from '../../shared/answer.ts';
import type { Intent } from '../egress/resolve.ts';
import { decide, type Snapshot } from './decide.ts';
import { pairName, pairOf } from './key.ts';

const apiVersion = apiVersionOf(Network);
const start = 1_767_225_600_000;
const stored = { resourceVersion: '1', creationTimestamp: formatTime(start) };
const deletionTimestamp = formatTime(start);

function network(metadata: Partial<Stored<Network>['metadata']> = {}): Stored<Network> {
  return {
    apiVersion,
    kind: 'Network',
    metadata: { ...stored, name: 'net', namespace: 'default', uid: 'net-uid', generation: 1, ...metadata },
    spec: { ipam: { mode: 'Auto' }, ipFamilies: ['IPv6'], mtu: 1460 },
  };
}

const binding: Stored<NetworkBinding> = {
  apiVersion,
  kind: 'NetworkBinding',
  metadata: { ...stored, name: 'b', namespace: 'ns-1', uid: 'b-uid', generation: 1 },
  spec: { network: { name: 'net' }, location: { name: 'loc' } },
};

function snapshot(part: Partial<Snapshot> = {}): Snapshot {
  return {
    pair: { network: 'net', location: 'loc' },
    project: 'alpha',
    namespace: 'default',
    upstream: { up: 'x' },
    bindings: [binding],
    inUse: false,
    locationAvailable: true,
    network: network(),
    fabric: undefined,
    contexts: [],
    nameTaken: false,
    now: start,
    quietPeriodMilliseconds: 20_000,
    ...part,
  };
}

/** As presence itself makes it. */
function context(metadata: Partial<Stored<NetworkContext>['metadata']> = {}, ready?: 'True'): Stored<NetworkContext> {
  const step = decide(snapshot()).steps[0];
  if (step?.do !== 'create') throw new Error('nothing was created');
  const { object } = step;
  return {
    ...object,
    metadata: { ...object.metadata, ...stored, uid: 'c-uid', ...metadata },
    ...(ready === undefined
      ? {}
      : {
          status: {
            conditions: [
              { type: 'Ready', status: ready, reason: 'Ready', message: '', lastTransitionTime: deletionTimestamp },
            ],
          },
        }),
  };
}

const unstamped = { ...context().metadata.labels };
delete unstamped[networkingLabels.networkUID];
const since = (seconds: number) => ({
  annotations: { [networkingAnnotations.unclaimedSince]: formatTime(start + seconds * 1000) },
});

function said(part: Partial<Snapshot>): string {
  const { steps, answer, requeueAfterMilliseconds } = decide(snapshot(part));
  const words = steps.map((step) => (step.do === 'create' ? `create ${step.object.metadata.name}` : step.do));
  if (answer !== undefined) {
    words.push(
      answer.context === undefined ? answer.reason : `${answer.ready ? 'ready' : 'not ready'} ${answer.context}`,
    );
  }
  if (requeueAfterMilliseconds !== undefined) words.push(`again in ${requeueAfterMilliseconds}`);
  return words.join(', ');
}

describe('a presence that is asked for', () => {
  it.each<[string, Partial<Snapshot>, string]>([
    ['made', {}, 'create net-loc, not ready net-loc'],
    ['there', { contexts: [context()] }, 'not ready net-loc'],
    ['ready', { contexts: [context({}, 'True')] }, 'ready net-loc'],
    [
      'the name is another presence\u2019s',
      { nameTaken: true },
      expect.stringMatching(/^create net-loc-[0-9a-f]{12}, not ready net-loc-/),
    ],
    ['no longer unclaimed', { contexts: [context(since(-5), 'True')] }, 'update, ready net-loc'],
    [
      'the network was edited',
      { contexts: [context()], network: network({ generation: 2 }) },
      'update, not ready net-loc',
    ],
    ['made in an older way', { contexts: [context({ labels: unstamped })] }, 'update, not ready net-loc'],
    ['going: waited for', { contexts: [context({ deletionTimestamp })] }, 'NetworkContextTerminating'],
    [
      'of a network that is gone',
      { contexts: [context()], network: network({ uid: 'new' }) },
      'delete, NetworkContextTerminating',
    ],
    ['the location withdrawn', { contexts: [context()], locationAvailable: false }, 'LocationNotAvailable'],
    ['no network', { network: undefined }, 'NetworkNotFound'],
    ['no network any more', { network: undefined, contexts: [context()] }, 'NetworkNotFound'],
    ['the network is going', { network: network({ deletionTimestamp }) }, 'NetworkNotFound'],
    [
      'the network is going, the context is there',
      { network: network({ deletionTimestamp }), contexts: [context({}, 'True')] },
      'NetworkNotFound',
    ],
  ])('%s', (_, part, expected) => {
    expect(said(part)).toEqual(expected);
  });

  it('keeps what others put into its spec', () => {
    const held = context();
    const spec = { ...held.spec!, fabricIdentity: 7 };
    const { steps } = decide(snapshot({ contexts: [{ ...held, spec }], network: network({ generation: 2 }) }));
    expect(steps[0]).toMatchObject({ do: 'update', spec: { networkGeneration: 2 } });
    expect(steps[0]).not.toHaveProperty('spec.fabricIdentity');
  });
});

describe('what the fabric is to know', () => {
  const intent: Intent = { mode: 'Enabled', reach: ['IPv6'], className: 'gold', sharing: 'Shared' };
  const egress = { intent };
  const specOf = (part: Partial<Snapshot>) => {
    const [step] = decide(snapshot(part)).steps;
    return step?.do === 'create' ? step.object.spec : step?.do === 'update' ? step.spec : undefined;
  };
  const held = (spec: object): Stored<NetworkContext> => {
    const made = context();
    return { ...made, spec: { ...made.spec!, ...spec } };
  };

  it('is part of a context from the start', () => {
    expect(specOf({ fabric: { identity: 7, egress } })).toMatchObject({
      fabricIdentity: 7,
      egress: { internet: intent },
    });
  });

  it('is not said while it is not known or refused', () => {
    const spec = specOf({ fabric: { identity: undefined, egress: { refused: 'no class' } } });
    expect(Object.keys(spec ?? {}).sort()).toEqual(['ipFamilies', 'location', 'mtu', 'network', 'networkGeneration']);
  });

  it('stays as it was said while it is refused', () => {
    const fabric = { identity: undefined, egress: { refused: 'no class' } };
    const contexts = [held({ fabricIdentity: 7, egress: { internet: intent } })];
    expect(decide(snapshot({ contexts, fabric })).steps).toEqual([]);
  });

  it('replaces what was said before, all of it', () => {
    const fabric = { identity: 7, egress: { intent: { mode: 'Disabled' } } } as const;
    const contexts = [held({ fabricIdentity: 7, egress: { internet: intent } })];
    expect(specOf({ contexts, fabric })).toMatchObject({
      egress: { internet: { mode: 'Disabled', reach: null, className: null, sharing: null } },
    });
  });

  it('is not touched where there is no fabric', () => {
    const contexts = [held({ fabricIdentity: 7, egress: { internet: intent } })];
    expect(decide(snapshot({ contexts })).steps).toEqual([]);
  });
});

describe('a presence that nobody asks for', () => {
  const quiet = (part: Partial<Snapshot>) => said({ bindings: [], ...part });
  it.each<[string, Partial<Snapshot>, string]>([
    ['is not there', {}, ''],
    ['begins to be quiet', { contexts: [context()] }, 'stamp, again in 20000'],
    ['the stamp is rounded up', { contexts: [context()], now: start + 1 }, 'stamp, again in 20999'],
    ['is quiet', { contexts: [context(since(0))], now: start + 19_999 }, 'again in 1'],
    ['was quiet', { contexts: [context(since(0))], now: start + 20_000 }, 'delete'],
    [
      'an unreadable stamp starts again',
      { contexts: [context({ annotations: { [networkingAnnotations.unclaimedSince]: 'x' } })] },
      'stamp, again in 20000',
    ],
    ['so does one from the future', { contexts: [context(since(60))] }, 'stamp, again in 20000'],
    ['without a quiet period', { contexts: [context()], quietPeriodMilliseconds: 0 }, 'delete'],
    ['is going already', { contexts: [context({ deletionTimestamp })] }, ''],
    ['was not made here', { contexts: [context({ labels: unstamped })] }, ''],
    ['but an interface is in', { contexts: [context()], inUse: true }, ''],
    ['but an interface has come', { contexts: [context(since(-5))], inUse: true }, 'update'],
    ['an interface alone makes none', { inUse: true }, ''],
  ])('%s', (_, part, expected) => {
    expect(quiet(part)).toBe(expected);
  });
});

describe('what a binding is told', () => {
  it('does not change when nothing did, and drops the context it is refused', () => {
    const told = bindingStatus(binding, { context: 'net-loc', ready: false, reason: 'Pending' }, 'default', start);
    const again = bindingStatus(
      { ...binding, status: told },
      { context: 'net-loc', ready: false, reason: 'Pending' },
      'default',
      start + 5000,
    );
    expect(again).toEqual(told);
    const refused = bindingStatus(
      { ...binding, status: told },
      { context: undefined, reason: 'NetworkNotFound', message: 'm' },
      'default',
      start + 9000,
    );
    expect(refused.networkContextRef).toBeUndefined();
    // Still False: only the reason changed.
    expect(refused.conditions?.[0]).toMatchObject({ reason: 'NetworkNotFound', lastTransitionTime: formatTime(start) });
  });
});

it('no two pairs have one name', () => {
  const pairs = [
    { network: 'a/b', location: 'c' },
    { network: 'a', location: 'b/c' },
    { network: 'a%2Fb', location: 'c' },
    { network: '', location: 'é' },
  ];
  expect(pairName({ network: '\ud800', location: 'c' })).toBe('%EF%BF%BD/c');
  expect(new Set(pairs.map(pairName)).size).toBe(pairs.length);
  for (const pair of pairs) expect(pairOf(pairName(pair))).toEqual(pair);
});
