import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  IPClaim,
  IPClass,
  IPPool,
  Network,
  NetworkInterface,
  NetworkInterfaceClaim,
  Workload,
} from '../../src/api/index.ts';
import { addressesOf, agreesWithIpam, instancesOf } from '../../src/cli/index.ts';
import { type Condition, findCondition, isConditionTrue } from '../../src/meta/index.ts';
import { networkObject, scarceClass, workloadObject } from './support/objects.ts';
import { examples, type Running, usePlatform } from './support/platform.ts';
import { inDefault } from './support/tenant.ts';

// A refusal is said on what a person looks at, in words that name the cause; who stands beside it runs.

async function conditionOf(running: Running, workload: string, type: string): Promise<Condition | undefined> {
  const found = await running.project().get(Workload, inDefault(workload));
  return findCondition(found?.status?.conditions, type);
}

/** Waits until so many instances of a workload run and so many are refused for this reason. Answers what those say. */
function settled(running: Running, workload: string, run: number, refused: number, reason: string): Promise<string[]> {
  return running.session.until(`${run} of ${workload} run, ${refused} say ${reason}`, async () => {
    const instances = await instancesOf(running.project(), workload);
    const conditions = instances.map((each) => findCondition(each.status?.conditions, 'Ready'));
    const ready = conditions.filter((each) => each?.status === 'True');
    const said = conditions.flatMap((each) => (each?.reason === reason ? [each.message] : []));
    return ready.length === run && said.length === refused
      ? said
      : `${ready.length} run, ${said.length} are refused: ${conditions.map((each) => each?.reason).join(', ')}`;
  });
}

const running = usePlatform({ restSeconds: 0 });
beforeAll(() => running().project().create(Network, networkObject('default')));

describe('a family the network does not carry', () => {
  test('is said on instance and workload, naming family and network; who asks for a carried one runs', async () => {
    await running().session.apply('project-alpha', join(examples, 'family-not-carried.yaml'));
    const [said] = await settled(running(), 'asks-for-four', 0, 1, 'AddressFamilyNotCarried');
    expect(said).toContain('Network six-only does not carry IPv4 in location us-central-1: it carries IPv6');
    expect(said).toContain('(see reasons.md#addressfamilynotcarried)');
    await running().session.until('the other runs', async () => {
      const [instance] = await instancesOf(running().project(), 'asks-for-six');
      return isConditionTrue(instance?.status?.conditions, 'Ready') ? true : 'it is not ready';
    });
    await running().session.until('the workload says why', async () => {
      const replicas = await conditionOf(running(), 'asks-for-four', 'ReplicasReady');
      const available = await conditionOf(running(), 'asks-for-four', 'Available');
      if (replicas?.reason !== 'AddressFamilyNotCarried') return `ReplicasReady says ${replicas?.reason}`;
      expect(replicas.message).toContain('1 of 1 instances wait');
      expect(replicas.status).toBe('False');
      return available?.reason === 'AddressFamilyNotCarried' ? true : `Available says ${available?.reason}`;
    });
    await agreesWithIpam(running().session, running().project());
    const { items } = await running().cell().list(NetworkInterface);
    expect(items.filter((each) => each.metadata.name.startsWith('asks-for-four'))).toEqual([]);
  });

  test('runs by itself once the network carries it', async () => {
    await running()
      .project()
      .patch(Network, inDefault('six-only'), { type: 'merge', body: { spec: { ipFamilies: ['IPv6', 'IPv4'] } } });
    await settled(running(), 'asks-for-four', 1, 0, 'AddressFamilyNotCarried');
    const [instance] = await instancesOf(running().project(), 'asks-for-four');
    expect(addressesOf(instance!).ipv4).toMatch(/^10\.1[234]\d\.\d+\.\d+\/32$/);
    await running().session.until('nothing is left of the refusal', async () => {
      const said = [
        await conditionOf(running(), 'asks-for-four', 'ReplicasReady'),
        await conditionOf(running(), 'asks-for-four', 'Available'),
      ].map((each) => each?.reason);
      return said.includes('AddressFamilyNotCarried') ? `it says ${said.join(', ')}` : true;
    });
  });

  test('a network that does not exist is said by its name, and runs once it does', async () => {
    await running()
      .project()
      .create(Workload, workloadObject({ name: 'early', network: 'later', replicas: 1 }));
    await running().session.until('the workload says what it waits for', async () => {
      const available = await conditionOf(running(), 'early', 'Available');
      if (available?.reason !== 'NetworkNotFound') return `it says ${available?.reason}: ${available?.message}`;
      expect(available.message).toContain('Network later does not exist');
      return true;
    });
    await running().project().create(Network, networkObject('later'));
    await settled(running(), 'early', 1, 0, 'NetworkNotFound');
  });
});

describe('a pool that is exhausted', () => {
  beforeAll(() => running().session.apply('project-alpha', join(examples, 'exhausted-pool.yaml')));

  test('is said on the instances that wait, naming class, pool and location; their siblings run', async () => {
    const said = await settled(running(), 'crowd', 4, 2, 'AddressPoolExhausted');
    for (const message of said) {
      expect(message).toContain('class scarce-ipv4');
      expect(message).toContain('pool scarce-ipv4');
      expect(message).toContain('location us-central-1');
      expect(message).toContain('(see reasons.md#addresspoolexhausted)');
    }
    const shown = (await instancesOf(running().project(), 'crowd')).flatMap((each) => addressesOf(each).external ?? []);
    expect(shown.sort()).toEqual(['192.0.2.0', '192.0.2.1', '192.0.2.2', '192.0.2.3']);
    const replicas = await running().session.until('the workload counts them', async () => {
      const condition = await conditionOf(running(), 'crowd', 'ReplicasReady');
      return condition?.reason === 'AddressPoolExhausted' ? condition : `it says ${condition?.reason}`;
    });
    expect(replicas.status).toBe('False');
    expect(replicas.message).toContain('2 of 6 instances wait: AddressPoolExhausted');
    await running().session.until('the workload is available', async () => {
      const status = (await conditionOf(running(), 'crowd', 'Available'))?.status;
      return status === 'True' || `it says ${status}`;
    });
  });

  test('who waits holds nothing: neither an interface nor the address that was free', async () => {
    await agreesWithIpam(running().session, running().project());
    const cell = running().cell();
    const claims = (await cell.list(NetworkInterfaceClaim)).items;
    const waiting = claims.filter((each) => !isConditionTrue(each.status?.conditions, 'Bound'));
    expect(waiting).toHaveLength(2);
    for (const { metadata, status } of waiting) {
      expect(findCondition(status?.conditions, 'Bound')).toMatchObject({
        status: 'False',
        reason: 'AddressPoolExhausted',
      });
      expect(findCondition(status?.conditions, 'Ready')).toMatchObject({
        status: 'False',
        reason: 'AddressPoolExhausted',
      });
      expect(status?.addresses ?? []).toEqual([]);
      const held = (await running().project().list(IPClaim)).items;
      expect(held.filter((each) => each.metadata.name.startsWith(metadata.name))).toEqual([]);
    }
  });

  test('scaled down to what there is room for, nothing is complained of', async () => {
    const replicas = (value: number) =>
      running()
        .project()
        .patch(Workload, inDefault('crowd'), {
          type: 'json',
          body: [{ op: 'replace', path: '/spec/placements/0/scaleSettings/minReplicas', value }],
        });
    await replicas(4);
    await running().session.until('the workload is content', async () => {
      const found = await conditionOf(running(), 'crowd', 'ReplicasReady');
      return found?.status === 'True' ? true : `it says ${found?.reason}: ${found?.message}`;
    });
    await replicas(6);
    await settled(running(), 'crowd', 4, 2, 'AddressPoolExhausted');
  });

  test('a pool added lets all run, by themselves', async () => {
    const { pool } = scarceClass('scarce-ipv4', '192.0.2.64/30');
    await running()
      .project()
      .create(IPPool, { ...pool, metadata: { name: 'scarce-ipv4-more' } });
    await settled(running(), 'crowd', 6, 0, 'AddressPoolExhausted');
    const condition = await running().session.until('the workload is content', async () => {
      const found = await conditionOf(running(), 'crowd', 'ReplicasReady');
      return found?.status === 'True' ? found : `it says ${found?.reason}: ${found?.message}`;
    });
    expect(condition.message).not.toContain('Exhausted');
    await agreesWithIpam(running().session, running().project());
  });
});

describe('addresses that do not rest', () => {
  const { ipClass, pool } = scarceClass('one-ipv4', '192.0.2.128/32');
  const shape = { replicas: 1, classes: ['one-ipv4'] };

  beforeAll(async () => {
    await running().project().create(IPClass, ipClass);
    await running().project().create(IPPool, pool);
  });

  test('without rest, an address that is freed goes to whoever waits, at once and by itself', async () => {
    const project = running().project();
    await project.create(Workload, workloadObject({ name: 'holds', ...shape }));
    await settled(running(), 'holds', 1, 0, 'AddressPoolExhausted');
    await project.create(Workload, workloadObject({ name: 'waits', ...shape }));
    const [said] = await settled(running(), 'waits', 0, 1, 'AddressPoolExhausted');
    expect(said).not.toContain('the next one is free');
    await project.delete(Workload, inDefault('holds'));
    await settled(running(), 'waits', 1, 0, 'AddressPoolExhausted');
    const [instance] = await instancesOf(project, 'waits');
    expect(addressesOf(instance!).external).toBe('192.0.2.128');
    await agreesWithIpam(running().session, project);
  });
});

describe('addresses that rest', () => {
  const running = usePlatform({ restSeconds: 5 });
  const { ipClass, pool } = scarceClass('one-ipv4', '192.0.2.128/32');
  const shape = { replicas: 1, classes: ['one-ipv4'] };

  test('a refusal says when the next one is free, and then it is given', async () => {
    const project = running().project();
    await project.create(Network, networkObject('default'));
    await project.create(IPClass, ipClass);
    await project.create(IPPool, pool);
    await project.create(Workload, workloadObject({ name: 'holds', ...shape }));
    await settled(running(), 'holds', 1, 0, 'AddressPoolExhausted');
    const [held] = (await project.list(IPClaim)).items.filter((each) => each.spec?.className === 'one-ipv4');
    await project.delete(Workload, inDefault('holds'));
    await running().session.until('the address released', async () => {
      const claim = await project.get(IPClaim, inDefault(held!.metadata.name));
      return claim === undefined ? true : 'it is held';
    });
    await project.create(Workload, workloadObject({ name: 'waits', ...shape }));
    const [said] = await settled(running(), 'waits', 0, 1, 'AddressPoolExhausted');
    expect(said).toMatch(/1 released block rests, the next is free in \d s/);
    await settled(running(), 'waits', 1, 0, 'AddressPoolExhausted');
    const [instance] = await instancesOf(project, 'waits');
    expect(addressesOf(instance!).external).toBe('192.0.2.128');
    await agreesWithIpam(running().session, project);
  });
});
