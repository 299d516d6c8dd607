import { describe, expect, it } from 'vitest';
import {
  Network,
  NetworkInterface,
  networkingAnnotations,
  networkingFinalizers,
  networkingLabels,
} from '../../../api/index.ts';
import { sourceUid } from '../../../federation/index.ts';
import { apiVersionOf, parseTime, type Stored } from '../../../meta/index.ts';
import { decide, type Snapshot } from './decide.ts';

const apiVersion = apiVersionOf(Network);
const stored = { resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:10Z' };
const deletionTimestamp = '2026-01-01T00:00:20Z';

const deletedAt = parseTime(deletionTimestamp)!;
const now = deletedAt + 60_000;

const network: Stored<Network> = {
  apiVersion,
  kind: 'Network',
  metadata: { ...stored, name: 'net', namespace: 'default', uid: 'net-uid' },
  spec: { ipam: { mode: 'Auto' }, ipFamilies: ['IPv6'], mtu: 1460 },
};

function source(state: 'held' | 'unheld' | 'unknown', extra: Partial<Stored<NetworkInterface>['metadata']> = {}) {
  const { annotations, ...rest } = extra;
  return {
    apiVersion,
    kind: NetworkInterface.kind,
    metadata: {
      ...stored,
      name: 'nic',
      namespace: 'ns-1',
      uid: 'hub-uid',
      labels: {
        [networkingLabels.interfaceProjection]: 'true',
        ...(state === 'held' ? { [networkingLabels.heldBy]: 'claim' } : {}),
      },
      annotations: { [sourceUid]: 'cell-uid', ...annotations },
      ...rest,
    },
    spec: { network: { name: 'net' }, interfaceName: 'eth0', attachmentMode: 'Netns', reclaimPolicy: 'Retain' },
    status: state === 'unknown' ? {} : { phase: state === 'held' ? 'Bound' : 'Available' },
  } satisfies Stored<NetworkInterface>;
}

function copy(extra: Partial<Stored<NetworkInterface>['metadata']> = {}): Stored<NetworkInterface> {
  const steps = decide({ source: source('unheld'), copy: undefined, network, namespace: 'default', open: true, now });
  const made = steps.find((step) => step.do === 'create');
  if (made?.do !== 'create') throw new Error('nothing was created');
  return {
    ...made.object,
    metadata: { ...made.object.metadata, ...stored, uid: 'copy-uid', ...extra },
    status: { phase: 'Available' },
  };
}

const requested = { annotations: { [networkingAnnotations.returnRequested]: 'cell-uid' } };
const going = { ...network, metadata: { ...network.metadata, deletionTimestamp } };
const successor = { ...network, metadata: { ...network.metadata, uid: 'another' } };
const deleted = copy({ deletionTimestamp });

describe('what becomes of a copy that somebody deleted', () => {
  it.each<[string, Partial<Snapshot>, string[]]>([
    ['unheld: the cell is asked, the copy waits', { source: source('unheld') }, ['ask-return cell-uid']],
    ['asked already: it waits', { source: source('unheld', requested) }, []],
    ['held: it may go, to come back', { source: source('held') }, ['say-held claim', 'let-go']],
    [
      'held, as far as the hub has heard by then: it waits',
      { source: source('held', requested), now: deletedAt + 500 },
      ['wait 1500'],
    ],
    [
      'held, by a clock behind the server’s: it may go',
      { source: source('held'), now: deletedAt - 1 },
      ['say-held claim', 'let-go'],
    ],
    [
      'held meanwhile: called off',
      { source: source('held', requested) },
      ['ask-return null', 'say-held claim', 'let-go'],
    ],
    ['not said yet who holds it: it waits', { source: source('unknown') }, []],
    ['the interface is gone', { source: undefined }, ['let-go']],
    ['the interface is going', { source: source('unheld', { deletionTimestamp }) }, ['let-go']],
    ['of an earlier interface', { source: source('unheld', { annotations: { [sourceUid]: 'new' } }) }, ['let-go']],
    ['went with its network', { source: source('unheld'), network: undefined }, ['let-go']],
    ['went with a network of the same name', { source: source('unheld'), network: successor }, ['let-go']],
    ['while its network waits for it to go', { source: source('unheld'), network: going }, ['ask-return cell-uid']],
    ['with its namespace, unheld', { source: source('unheld'), open: false }, ['ask-return cell-uid', 'let-go']],
    ['with its namespace, held', { source: source('held'), open: false }, ['let-go']],
    ['held by others only', { source: source('unheld'), copy: copy({ deletionTimestamp, finalizers: ['x'] }) }, []],
  ])('%s', (_, snapshot, expected) => {
    expect(
      said({ source: undefined, copy: deleted, network, namespace: 'default', open: true, now, ...snapshot }),
    ).toEqual(expected);
  });
});

describe('what becomes of a copy that is there', () => {
  it.each<[string, Partial<Snapshot>, string[]]>([
    ['as it should be: nothing', { copy: copy() }, []],
    ['missing', {}, ['create', 'status']],
    ['missing, and its namespace going', { open: false }, []],
    ['missing, and no network', { network: undefined }, []],
    ['no network any more', { copy: copy(), network: undefined }, ['remove']],
    ['no interface any more', { copy: copy(), source: undefined }, ['remove']],
    ['without its finalizer', { copy: copy({ finalizers: [] }) }, ['hold']],
    ['edited', { copy: { ...copy(), spec: { ...copy().spec, mtu: 1400 } } }, ['update']],
    ['of an earlier interface', { copy: copy({ annotations: { [sourceUid]: 'old' } }) }, ['remove']],
    [
      'a return left over from before it was held',
      { copy: copy(), source: source('held', requested) },
      ['ask-return null', 'update', 'status'],
    ],
    [
      'no copy at all',
      { copy: { ...copy(), metadata: { ...copy().metadata, labels: {}, annotations: {} } } },
      ['tell-taken'],
    ],
  ])('%s', (_, snapshot, expected) => {
    expect(
      said({ source: source('unheld'), copy: undefined, network, namespace: 'default', open: true, now, ...snapshot }),
    ).toEqual(expected);
  });

  it('shows nothing of how it came to the hub', () => {
    expect(copy().metadata).toMatchObject({
      annotations: { [sourceUid]: 'cell-uid' },
      finalizers: [networkingFinalizers.interfaceReturn],
      ownerReferences: [{ apiVersion, kind: 'Network', name: 'net', uid: 'net-uid' }],
    });
  });
});

function said(snapshot: Snapshot): string[] {
  return decide(snapshot).map((step) => {
    if (step.do === 'ask-return') return `ask-return ${step.interfaceUid}`;
    if (step.do === 'say-held') return `say-held ${step.holder}`;
    if (step.do === 'wait') return `wait ${step.milliseconds}`;
    return step.do;
  });
}
