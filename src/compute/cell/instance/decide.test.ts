import { describe, expect, it } from 'vitest';
import { Instance, NetworkInterface, NetworkInterfaceClaim } from '../../../api/index.ts';
import { apiVersionOf, type Condition, findCondition, parseTime, type Stored } from '../../../meta/index.ts';
import { crowdPatienceMilliseconds, decide, patienceMilliseconds, type Snapshot } from './decide.ts';

const created = '2026-01-01T00:00:00Z';
const now = parseTime(created)! + 1000;
const late = parseTime(created)! + patienceMilliseconds;

const says = (type: string, status: Condition['status'], reason = status === 'True' ? type : 'Pending'): Condition => ({
  type,
  status,
  reason,
  message: `because of ${reason}`,
  lastTransitionTime: created,
  observedGeneration: 1,
});

const metadata = (name: string, uid: string) => ({
  name,
  namespace: 'ns',
  uid,
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: created,
});

function instance(gates: readonly string[], conditions: Condition[] = [says('Ready', 'Unknown')]): Stored<Instance> {
  return {
    apiVersion: apiVersionOf(Instance),
    kind: Instance.kind,
    metadata: metadata('web-0', 'i'),
    spec: {
      runtime: { resources: { instanceType: 'small' } },
      networkInterfaces: [
        { network: { name: 'default' }, name: 'eth0', ipFamilies: ['IPv6'], reclaimPolicy: 'Delete' },
      ],
      controller: { templateHash: 'h', schedulingGates: gates.map((name) => ({ name })) },
    },
    status: { conditions },
  };
}

const bound = [says('Bound', 'True'), says('Allocated', 'True')];

function claim(conditions: Condition[], more: object = {}): Stored<NetworkInterfaceClaim> {
  return {
    apiVersion: apiVersionOf(NetworkInterfaceClaim),
    kind: NetworkInterfaceClaim.kind,
    metadata: { ...metadata('web-0-eth0', 'c'), ...more },
    spec: {
      network: { name: 'default' },
      interfaceName: 'eth0',
      attachmentMode: 'Netns',
      ipFamilies: ['IPv6'],
      reclaimPolicy: 'Delete',
    },
    status: {
      networkInterfaceRef: { name: 'web-0-eth0' },
      addresses: [
        { family: 'IPv4', address: '10.0.0.7/32' },
        { family: 'IPv6', address: 'fd20:1000::5:0:0/96', primary: true },
      ],
      externalAddresses: [{ family: 'IPv4', address: '198.51.100.7', class: 'public-unicast-ipv4' }],
      conditions,
    },
  };
}

function networkInterface(uid = 'c'): Stored<NetworkInterface> {
  return {
    apiVersion: apiVersionOf(NetworkInterface),
    kind: NetworkInterface.kind,
    metadata: metadata('web-0-eth0', 'nic'),
    spec: {
      network: { name: 'default' },
      claimRef: { name: 'web-0-eth0', uid },
      interfaceName: 'eth0',
      attachmentMode: 'Netns',
      reclaimPolicy: 'Delete',
    },
  } as Stored<NetworkInterface>;
}

const both = ['Network', 'Quota'];
const granted = { granted: true, reason: 'QuotaAvailable', message: 'granted' } as const;
const exceeded = { granted: false, reason: 'QuotaExceeded', message: 'exceeded' } as const;

function decided(more: Partial<Snapshot> = {}) {
  return decide({
    instance: instance(both),
    claim: claim(bound),
    networkInterface: networkInterface(),
    networkRefusal: undefined,
    data: undefined,
    quota: granted,
    dataPlane: 'none',
    networking: true,
    crowd: 0,
    now,
    ...more,
  });
}

const readyOf = (plan: ReturnType<typeof decide>) => {
  const ready = findCondition(plan.status?.conditions, 'Ready');
  return ready && [ready.status, ready.reason];
};

describe('the network gate', () => {
  const states = ['True', 'False', 'Unknown'] as const;
  it.each(['none', 'fabric', 'external'] as const)(
    'opens on bound, allocated and prepared alone: data plane %s',
    (dataPlane) => {
      for (const isBound of states) {
        for (const isAllocated of states) {
          for (const isPrepared of states) {
            for (const isProgrammed of states) {
              const conditions = [
                says('Bound', isBound),
                says('Allocated', isAllocated),
                says('Prepared', isPrepared),
                says('Programmed', isProgrammed),
              ];
              const opens =
                isBound === 'True' && isAllocated === 'True' && (dataPlane === 'none' || isPrepared === 'True');
              expect(decided({ claim: claim(conditions), dataPlane }).gates).toEqual(opens ? [] : undefined);
            }
          }
        }
      }
    },
  );

  it('believes no claim that is going, has no interface, or whose interface another claim holds', () => {
    expect(decided({ claim: claim(bound, { deletionTimestamp: created }) }).gates).toBeUndefined();
    expect(decided({ claim: undefined }).gates).toBeUndefined();
    expect(decided({ networkInterface: undefined }).gates).toBeUndefined();
    expect(decided({ networkInterface: networkInterface('earlier') }).gates).toBeUndefined();
  });

  it('opens for a replacement whose bound claim is refused something afterwards', () => {
    const conditions = [...bound, says('Ready', 'False', 'NetworkNotAvailableInLocation')];
    expect(decided({ claim: claim(conditions) }).gates).toEqual([]);
  });

  it('behind it, the addresses an instance runs with stay told whatever becomes of its claim', () => {
    const held = decided().status?.networkInterfaces;
    const running = instance([], [says('Ready', 'True', 'Available'), says('Available', 'True')]);
    const lost = { claim: undefined, networkInterface: undefined };
    const told = { ...running, status: { ...running.status, networkInterfaces: held ?? [] } };
    const plan = decided({ instance: told, ...lost });
    expect(held).toHaveLength(1);
    expect(plan.status?.networkInterfaces ?? held).toEqual(held);
    // Before it starts there is nothing to go on with.
    const gated = { ...instance(both), status: told.status };
    expect(decided({ instance: gated, ...lost, now: late }).status?.networkInterfaces).toEqual([]);
  });

  it('opens where networking is no longer integrated', () => {
    const off = { networking: false, claim: undefined, networkInterface: undefined };
    expect(decided(off)).toMatchObject({ gates: [] });
    expect(decided(off).status?.networkInterfaces).toBeUndefined();
  });

  it('opens together with the others, and never instead of one that somebody else opens', () => {
    expect(decided({ quota: exceeded }).gates).toBeUndefined();
    expect(decided({ instance: instance([...both, 'Elsewhere']) }).gates).toBeUndefined();
    expect(decided({ instance: instance([]) }).gates).toBeUndefined();
  });
});

describe('the gate for referenced data', () => {
  const gated = instance([...both, 'ReferencedData']);
  const missing = { reason: 'SourceNotFound', message: 'ConfigMap settings does not exist' } as const;

  it('opens with the others once the data is there, or where none is waited for', () => {
    for (const data of ['there', undefined] as const) expect(decided({ instance: gated, data }).gates).toEqual([]);
    expect(decided({ instance: gated, data: missing }).gates).toBeUndefined();
  });

  it('says at once what does not exist, and in time what is on its way', () => {
    expect(readyOf(decided({ instance: gated, data: missing }))).toEqual(['False', 'SourceNotFound']);
    const coming = { reason: 'AwaitingPropagation', message: 'on its way' } as const;
    expect(decided({ instance: gated, data: coming }).status).toBeUndefined();
    expect(readyOf(decided({ instance: gated, data: coming, now: late }))).toEqual(['False', 'AwaitingPropagation']);
    // The network's refusal comes first: it is there before any data matters.
    const refused = { claim: claim([says('Bound', 'False', 'AddressPoolExhausted')]), networkInterface: undefined };
    expect(readyOf(decided({ ...refused, instance: gated, data: missing }))).toEqual(['False', 'AddressPoolExhausted']);
  });
});

describe('what is said', () => {
  it('is the addresses at once, and readiness only when there is something to tell', () => {
    const plan = decided();
    expect(plan.status?.networkInterfaces).toEqual([
      {
        name: 'eth0',
        networkInterfaceRef: { name: 'web-0-eth0' },
        addresses: claim(bound).status?.addresses,
        externalAddresses: claim(bound).status?.externalAddresses,
        assignments: { networkIP: 'fd20:1000::5:0:0', externalIP: '198.51.100.7' },
        conditions: [{ ...says('Allocated', 'True'), observedGeneration: 0 }],
      },
    ]);
    expect(readyOf(plan)).toEqual(['Unknown', 'Pending']);
    expect(plan.status?.controller).toEqual({ observedTemplateHash: 'h' });
  });

  it('of one that waits is nothing for a while, then what it waits for', () => {
    const waiting = { claim: claim([]), networkInterface: undefined };
    const noReference = { ...waiting.claim, status: {} };
    const fresh = decided({ ...waiting, claim: noReference });
    expect([fresh.status, fresh.lookAgainAfterMilliseconds]).toEqual([undefined, patienceMilliseconds - 1000]);
    const told = decided({ ...waiting, claim: noReference, now: late });
    expect(readyOf(told)).toEqual(['False', 'SchedulingGatesPresent']);
    expect(findCondition(told.status?.conditions, 'Ready')?.message).toContain('gate Network');
  });

  it('of one whose interface can not be prepared is why, and of one that is only on its way nothing for a while', () => {
    const unprepared = (reason: string) => claim([...bound, says('Prepared', 'False', reason)]);
    const taken = decided({ claim: unprepared('AttachmentNameTaken'), dataPlane: 'fabric' });
    expect(taken.gates).toBeUndefined();
    expect(findCondition(taken.status?.conditions, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'AttachmentNameTaken',
      message: 'because of AttachmentNameTaken',
    });
    for (const reason of ['AwaitingNetworkContext', 'AwaitingVPC', 'AwaitingVPCIdentifier']) {
      const waiting = { claim: unprepared(reason), dataPlane: 'fabric' } as const;
      expect(decided(waiting).status, reason).toBeUndefined();
      expect(readyOf(decided({ ...waiting, now: late }))).toEqual(['False', reason]);
    }
    // Of an interface that another claim holds, or where nobody prepares, it means nothing.
    const other = {
      claim: unprepared('AttachmentNameTaken'),
      networkInterface: networkInterface('another'),
      now: late,
    };
    expect(readyOf(decided({ ...other, dataPlane: 'fabric' }))).toEqual(['False', 'SchedulingGatesPresent']);
    expect(decided({ claim: unprepared('AttachmentNameTaken') }).gates).toEqual([]);
  });

  it('of one whose attachment is being prepared is nothing for a while either, then its addresses as well', () => {
    const preparing = { dataPlane: 'fabric' } as const;
    expect(decided(preparing)).toEqual({ lookAgainAfterMilliseconds: patienceMilliseconds - 1000 });
    const told = decided({ ...preparing, now: late });
    expect(told.status?.networkInterfaces).toHaveLength(1);
    expect(readyOf(told)).toEqual(['False', 'SchedulingGatesPresent']);
    const prepared = decided({ ...preparing, claim: claim([...bound, says('Prepared', 'True')]) });
    expect([prepared.gates, prepared.status?.networkInterfaces?.length]).toEqual([[], 1]);
  });

  it('of one among a thousand that come up at once is nothing for as long as that takes', () => {
    const waiting = { claim: { ...claim([]), status: {} }, networkInterface: undefined, crowd: 1000 };
    expect(decided({ ...waiting, now: late }).status).toBeUndefined();
    const longest = patienceMilliseconds + 1000 * crowdPatienceMilliseconds;
    expect(readyOf(decided({ ...waiting, now: now + longest }))).toEqual(['False', 'SchedulingGatesPresent']);
  });

  it('has a time of its own for what comes after the addresses', () => {
    const allocated = { ...says('Allocated', 'True'), lastTransitionTime: '2026-01-01T00:01:00Z' };
    const since = parseTime(allocated.lastTransitionTime)!;
    const started = {
      instance: instance([], [says('Ready', 'Unknown')]),
      claim: claim([says('Bound', 'True'), allocated]),
    };
    expect(decided({ ...started, now: since }).status).toBeUndefined();
    expect(readyOf(decided({ ...started, now: since + patienceMilliseconds }))).toEqual(['False', 'Provisioning']);
  });

  it.each(['Bound', 'Allocated', 'Ready'])('is a refusal of the network at once, in its own words: %s', (type) => {
    const refused = says(type, 'False', 'AddressPoolExhausted');
    const plan = decided({ claim: claim([refused]), networkInterface: undefined });
    expect(findCondition(plan.status?.conditions, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'AddressPoolExhausted',
      message: refused.message,
      observedGeneration: 1,
    });
  });

  it('is no refusal while the network is being brought to the location, unless that takes long', () => {
    const refused = claim([]);
    refused.status = { conditions: [says('Bound', 'False', 'NetworkNotAvailableInLocation')] };
    const early = { claim: refused, networkInterface: undefined };
    expect(decided(early).status).toBeUndefined();
    expect(readyOf(decided({ ...early, now: late }))).toEqual(['False', 'NetworkNotAvailableInLocation']);
  });

  it('is why the network does not come, where the hub knows, at once; who has it is not told', () => {
    const networkRefusal = { reason: 'NetworkNotFound', message: 'there is none' };
    const refused = claim([]);
    refused.status = { conditions: [says('Bound', 'False', 'NetworkNotAvailableInLocation')] };
    const none = { networkInterface: undefined, networkRefusal };
    for (const each of [undefined, claim([]), refused]) {
      expect(readyOf(decided({ ...none, claim: each }))).toEqual(['False', 'NetworkNotFound']);
    }
    const exhausted = claim([]);
    exhausted.status = { conditions: [says('Bound', 'False', 'AddressPoolExhausted')] };
    expect(readyOf(decided({ ...none, claim: exhausted }))).toEqual(['False', 'AddressPoolExhausted']);
    expect(decided({ networkRefusal }).gates).toEqual([]);
    const running = instance([], [says('Programmed', 'True'), says('Available', 'True')]);
    expect(readyOf(decided({ instance: running, networkRefusal }))).toEqual(['True', 'Available']);
  });

  it('is no refusal of the past: what is under way again is said at once', () => {
    const before = instance(both, [says('Ready', 'False', 'AddressPoolExhausted')]);
    expect(readyOf(decided({ instance: before, claim: undefined }))).toEqual(['False', 'SchedulingGatesPresent']);
  });

  it('is quota that was not granted, and it is asked for again', () => {
    const plan = decided({ quota: exceeded });
    expect(readyOf(plan)).toEqual(['False', 'QuotaExceeded']);
    expect(findCondition(plan.status?.conditions, 'QuotaGranted')).toMatchObject({
      status: 'False',
      message: 'exceeded',
    });
    expect(plan.lookAgainAfterMilliseconds).toBe(10_000);
  });

  it('follows the provider once no gate is left', () => {
    const running = (conditions: Condition[]) =>
      readyOf(decided({ instance: instance([], [says('Ready', 'Unknown'), ...conditions]), now: late }));
    expect(running([])).toEqual(['False', 'Provisioning']);
    expect(running([says('Programmed', 'False', 'ImageUnavailable')])).toEqual(['False', 'ImageUnavailable']);
    expect(running([says('Available', 'False', 'Stopped')])).toEqual(['False', 'Stopped']);
    expect(running([says('Programmed', 'True'), says('Available', 'True')])).toEqual(['True', 'Available']);
  });

  it('keeps the addresses of a claim that is going while its instance runs', () => {
    const running = instance([], [says('Programmed', 'True'), says('Available', 'True')]);
    const plan = decided({ instance: running, claim: claim(bound, { deletionTimestamp: created }) });
    expect(plan.status?.networkInterfaces?.[0]?.assignments?.networkIP).toBe('fd20:1000::5:0:0');
  });

  it('prints what it cannot read as it is', () => {
    const odd = claim(bound);
    odd.status!.addresses = [{ family: 'IPv6', address: 'not an address', primary: true }];
    expect(decided({ claim: odd }).status?.networkInterfaces?.[0]?.assignments?.networkIP).toBe('not an address');
  });

  it('settles: saying it again changes nothing', () => {
    const ready = instance([], [says('Ready', 'True'), says('QuotaGranted', 'True'), says('Available', 'True')]);
    const first = decided({ instance: ready });
    const second = decided({
      instance: {
        ...ready,
        status: { ...first.status, conditions: [...(first.status?.conditions ?? []), says('Available', 'True')] },
      },
      now: late,
    });
    expect(second.status?.conditions?.filter(({ type }) => type !== 'Available')).toEqual(first.status?.conditions);
    expect(second.status?.networkInterfaces).toEqual(first.status?.networkInterfaces);
  });
});
