import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { IpPrefix } from '../../src/address/index.ts';
import {
  Instance,
  IPClaim,
  IPPool,
  Location,
  Network,
  NetworkAttachmentDefinition,
  NetworkFabricIdentity,
  Project,
  VPC,
  VPCAttachment,
} from '../../src/api/index.ts';
import { addressesOf, agreesWithIpam, ready } from '../../src/cli/index.ts';
import { type Client, createClient, httpTransport, readKubeconfig, systemClock } from '../../src/kube/index.ts';
import { ApiError, isConditionTrue, Namespace, type ResourceType, type Stored } from '../../src/meta/index.ts';
import { networkObject } from './support/objects.ts';
import { examples, type Running, usePlatform } from './support/platform.ts';

const running = usePlatform({ restSeconds: 0, quietPeriodSeconds: 0 });

async function contextNames({ process }: Running): Promise<string[]> {
  const config = parse(await readFile(process.kubeconfig, 'utf8')) as { contexts: { name: string }[] };
  return config.contexts.map((context) => context.name);
}

/** A client with the token of one context and the path of another. */
function crossed({ process }: Running, token: string, path: string): { client: Client; close(): Promise<void> } {
  const mine = readKubeconfig(process.kubeconfig, token);
  const theirs = readKubeconfig(process.kubeconfig, path);
  const transport = httpTransport({ ...mine, server: theirs.server });
  return {
    client: createClient({ transport, basePath: '', clock: systemClock, userAgent: 'e2e' }),
    close: () => transport.close(),
  };
}

async function refusal(action: Promise<unknown>): Promise<ApiError> {
  const outcome = await action.then(
    () => 'accepted',
    (error: unknown) => error,
  );
  if (!(outcome instanceof ApiError)) throw new Error(`expected a refusal, found ${String(outcome)}`);
  return outcome;
}

async function namespacesOf(client: Client, project: string): Promise<string[]> {
  const { items } = await client.list(Namespace, {
    labelSelector: `meta.datumapis.com/upstream-cluster-name=cluster-${project}`,
  });
  return items.map((item) => item.metadata.name);
}

function every(instances: readonly Stored<Instance>[], key: 'ipv6' | 'ipv4' | 'external', range: string): void {
  const prefix = IpPrefix.parse(range);
  for (const instance of instances) {
    const address = addressesOf(instance)[key]?.split('/')[0] ?? 'nothing';
    const inside = IpPrefix.parse(`${address}/${address.includes(':') ? 128 : 32}`);
    expect(prefix.contains(inside), `${instance.metadata.name}: ${address} in ${range}`).toBe(true);
  }
}

describe('a project made while the platform runs', () => {
  let gamma: Client;
  let uid: string;

  beforeAll(async () => {
    const { session, root } = running();
    await session.apply('root', join(examples, 'project.yaml'));
    await session.until('project gamma served', async () => {
      const project = await root.get(Project, { namespace: '', name: 'gamma' });
      if (!isConditionTrue(project?.status?.conditions, 'Ready')) return 'it is not ready';
      uid = project!.metadata.uid;
      return (await contextNames(running())).includes('project-gamma') ? true : 'the kubeconfig has no context for it';
    });
    gamma = running().project('gamma');
  });

  test('has its context, and ranges that nobody else has', async () => {
    expect(await contextNames(running())).toEqual([
      'root',
      'hub',
      'cell-eu-west-1',
      'cell-us-central-1',
      'project-alpha',
      'project-beta',
      'project-gamma',
    ]);
    const { items } = await gamma.list(IPPool);
    expect(items.map((pool) => pool.spec?.cidr).sort()).toEqual(['10.160.0.0/12', '192.0.2.0/24', 'fd20:3000::/36']);
  });

  test('runs workloads in addresses of its own', async () => {
    await running().session.apply('project-gamma', join(examples, 'workload.yaml'));
    const instances = await ready(running().session, gamma, 'web', 4);
    every(instances, 'ipv6', 'fd20:3000::/36');
    every(instances, 'ipv4', '10.160.0.0/12');
    every(instances, 'external', '192.0.2.0/24');
    await agreesWithIpam(running().session, gamma);
  });

  test('deleted while it runs: all is released, its path is 404, its token nobody’s, its ranges free', async () => {
    const { session, root, hub, process } = running();
    expect(await namespacesOf(hub, 'gamma')).toHaveLength(1);
    const held = readKubeconfig(process.kubeconfig, 'project-gamma');
    await root.delete(Project, { namespace: '', name: 'gamma' });
    await session.until('project gamma gone', async () => {
      const project = await root.get(Project, { namespace: '', name: 'gamma' });
      const said = project?.status?.conditions?.find((condition) => condition.type === 'Ready')?.message;
      return project === undefined ? true : `it says: ${said}`;
    });

    for (const client of [hub, running().cell('us-central-1'), running().cell('eu-west-1')]) {
      expect(await namespacesOf(client, 'gamma')).toEqual([]);
      if (client === hub) continue;
      for (const kind of [Instance, VPC, VPCAttachment, NetworkAttachmentDefinition] as ResourceType[]) {
        expect((await client.list(kind)).items, kind.kind).toEqual([]);
      }
    }
    await session.until('its network\u2019s number given back', async () => {
      const { items } = await hub.list(NetworkFabricIdentity);
      const held = items
        .filter(({ spec }) => spec.networkRef?.project === 'gamma')
        .map(({ metadata }) => metadata.name);
      return held.length === 0 ? true : `${held} held`;
    });
    expect(await contextNames(running())).not.toContain('project-gamma');

    const base = new URL(held.server).pathname;
    const asAdmin = httpTransport({ ...held, token: readKubeconfig(process.kubeconfig, 'root').token! });
    const asGamma = httpTransport(held);
    try {
      const options = { basePath: '', clock: systemClock, userAgent: 'e2e' };
      const gone = await refusal(createClient({ ...options, transport: asAdmin }).list(Network));
      expect(gone.code, base).toBe(404);
      expect(gone.status.details).toMatchObject({ kind: 'projects', name: 'gamma' });
      expect(gone.message).toContain('"gamma" not found');
      const nobody = await refusal(createClient({ ...options, transport: asGamma }).list(Network));
      expect(nobody.code).toBe(401);
    } finally {
      await Promise.all([asAdmin.close(), asGamma.close()]);
    }
  });

  test('made again, is another one, empty and with the same ranges', async () => {
    const { session, root } = running();
    await session.apply('root', join(examples, 'project.yaml'));
    const again = await session.until('project gamma served again', async () => {
      const project = await root.get(Project, { namespace: '', name: 'gamma' });
      const served = (await contextNames(running())).includes('project-gamma');
      return project !== undefined && served && isConditionTrue(project.status?.conditions, 'Ready')
        ? project
        : 'it is not ready';
    });
    expect(again.metadata.uid).not.toBe(uid);
    // A client made now: the former one has the token that is nobody's.
    const { client, close } = crossed(running(), 'project-gamma', 'project-gamma');
    try {
      expect((await client.list(Network)).items).toEqual([]);
      expect((await client.list(IPClaim)).items).toEqual([]);
      expect((await client.list(IPPool)).items.map((pool) => pool.spec?.cidr)).toContain('fd20:3000::/36');
    } finally {
      await close();
    }
  });
});

describe('a project is alone', () => {
  test.each(['project-alpha', 'root', 'hub', 'cell-us-central-1', 'cell-eu-west-1'])(
    'the token of beta reaches nothing of %s',
    async (context) => {
      const { client, close } = crossed(running(), 'project-beta', context);
      try {
        const type: ResourceType =
          { root: Project as ResourceType, hub: Location as ResourceType }[context] ?? Instance;
        const attempts = [
          () => client.list(type),
          () => client.list(Namespace),
          () => client.get(Namespace, { namespace: '', name: 'default' }),
          () => client.delete(Namespace, { namespace: '', name: 'default' }),
          () => client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mine' } }),
        ];
        for (const attempt of attempts) {
          const { code, message } = await refusal(attempt());
          expect(code, message).toBe(403);
          expect(message).toContain('cannot');
        }
      } finally {
        await close();
      }
    },
  );

  test('nobody’s token reaches nothing, and says no more than that', async () => {
    const held = readKubeconfig(running().process.kubeconfig, 'project-alpha');
    const transport = httpTransport({ ...held, token: 'abcdefghijklmnopqrstuvwxyz0123456789' });
    try {
      const client = createClient({ transport, basePath: '', clock: systemClock, userAgent: 'e2e' });
      const { code, message } = await refusal(client.list(Network));
      expect([code, message]).toEqual([401, 'Unauthorized']);
    } finally {
      await transport.close();
    }
  });

  test('who shows no token is told of health and version, in every plane, and reaches nothing else', async () => {
    for (const context of ['root', 'hub', 'cell-us-central-1', 'project-alpha']) {
      const { token: _, ...held } = readKubeconfig(running().process.kubeconfig, context);
      const transport = httpTransport(held);
      try {
        const status = async (path: string): Promise<number> =>
          (await transport.request({ method: 'GET', path })).status;
        const open = ['/livez', '/readyz', '/healthz', '/version'];
        expect([context, await Promise.all(open.map(status))]).toEqual([context, [200, 200, 200, 200]]);
        const closed = ['/metrics', '/api', '/apis', '/api/v1/namespaces', '/openapi/v2'];
        expect([context, await Promise.all(closed.map(status))]).toEqual([context, [403, 403, 403, 403, 403]]);
        const client = createClient({ transport, basePath: '', clock: systemClock, userAgent: 'e2e' });
        expect((await refusal(client.list(Namespace))).message).toContain(
          'User "system:anonymous" cannot list resource',
        );
      } finally {
        await transport.close();
      }
    }
  });

  test('two projects with the same names have addresses of their own ranges, and neither sees the other', async () => {
    const { session } = running();
    const ids = ['alpha', 'beta'] as const;
    for (const id of ids) await session.apply(`project-${id}`, join(examples, 'workload.yaml'));
    const [alpha, beta] = await Promise.all(ids.map((id) => ready(session, running().project(id), 'web', 4)));
    every(alpha!, 'ipv6', 'fd20:1000::/36');
    every(alpha!, 'ipv4', '10.128.0.0/12');
    every(alpha!, 'external', '198.51.100.0/24');
    every(beta!, 'ipv6', 'fd20:2000::/36');
    every(beta!, 'ipv4', '10.144.0.0/12');
    every(beta!, 'external', '203.0.113.0/24');
    const uids = (instances: readonly Stored<Instance>[]) => instances.map((each) => each.metadata.uid);
    expect(uids(alpha!).filter((each) => uids(beta!).includes(each))).toEqual([]);
    for (const id of ids) await agreesWithIpam(session, running().project(id));
  });
});

test('a project that was never made is 404 by its name', async () => {
  const { process } = running();
  const { server, ...rest } = readKubeconfig(process.kubeconfig, 'project-alpha');
  const transport = httpTransport({
    ...rest,
    token: readKubeconfig(process.kubeconfig, 'root').token!,
    server: server.replace('/projects/alpha/', '/projects/never/'),
  });
  try {
    const client = createClient({ transport, basePath: '', clock: systemClock, userAgent: 'e2e' });
    const error = await refusal(client.create(Network, networkObject('default')));
    expect(error.code).toBe(404);
    expect(error.status.details).toMatchObject({ kind: 'projects', name: 'never' });
  } finally {
    await transport.close();
  }
});

test('a project goes with ranges held by hand, what is in them, and what is retained there', async () => {
  const { session, root, process } = running();
  const apiVersion = 'resourcemanager.miloapis.com/v1alpha1';
  await root.create(Project, { apiVersion, kind: 'Project', metadata: { name: 'delta' }, spec: {} });
  await session.until('project delta served', async () => {
    const project = await root.get(Project, { namespace: '', name: 'delta' });
    const served = (await contextNames(running())).includes('project-delta');
    return served && isConditionTrue(project?.status?.conditions, 'Ready') ? true : 'it is not ready';
  });
  const transport = httpTransport(readKubeconfig(process.kubeconfig, 'project-delta'));
  try {
    const client = createClient({ transport, basePath: '', clock: systemClock, userAgent: 'e2e' });
    const network = { apiGroup: 'networking.datumapis.com', kind: 'Network', name: 'by-hand' };
    const location = { apiGroup: 'networking.datumapis.com', kind: 'Location', name: 'us-central-1' };
    const claim = (name: string, spec: IPClaim['spec']): IPClaim => ({
      apiVersion: 'ipam.miloapis.com/v1alpha1',
      kind: 'IPClaim',
      metadata: { name, namespace: 'default' },
      spec: spec!,
    });
    // By name the range comes first: it cannot go before what is in it.
    await client.create(
      IPClaim,
      claim('a-range', { className: 'network-ipv6', target: 'ScopeRange', scope: { network } }),
    );
    const scope = { network, location };
    await client.create(IPClaim, claim('inside', { ipFamily: 'IPv6', scope }));
    await client.create(IPClaim, claim('kept', { ipFamily: 'IPv6', scope, reclaimPolicy: 'Retain' }));
    await client.delete(IPClaim, { namespace: 'default', name: 'kept' });
  } finally {
    await transport.close();
  }
  await root.delete(Project, { namespace: '', name: 'delta' });
  await session.until('project delta gone', async () => {
    const project = await root.get(Project, { namespace: '', name: 'delta' });
    const said = project?.status?.conditions?.find((condition) => condition.type === 'Ready')?.message;
    return project === undefined ? true : `it says: ${said}`;
  });
});
