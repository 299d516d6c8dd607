import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  Instance,
  IPClaim,
  IPClass,
  IPPool,
  Network,
  NetworkBinding,
  NetworkContext,
  NetworkInterface,
  NetworkInterfaceClaim,
  Project,
  SubnetClaim,
  Workload,
} from '../../src/api/index.ts';
import type { UsedGrant } from '../../src/apiserver/index.ts';
import { keyOf, ready, Session } from '../../src/cli/index.ts';
import {
  httpTransport,
  readKubeconfig,
  systemClock,
  type Transport,
  type TransportRequest,
} from '../../src/kube/index.ts';
import { apiVersionOf, findCondition, isConditionTrue, Namespace, type PolicyRule } from '../../src/meta/index.ts';
import {
  decodeConfig,
  defaultCells,
  type Platform,
  parseCells,
  reservedGrants,
  startPlatform,
} from '../../src/platform/index.ts';
import { networkObject, scarceClass, workloadObject } from './support/objects.ts';
import { examples } from './support/platform.ts';
import { inDefault } from './support/tenant.ts';

let folder: string;
let platform: Platform;
let session: Session;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-access-'));
  platform = await startPlatform({
    folder,
    host: '127.0.0.1',
    port: 0,
    cells: parseCells(defaultCells),
    projects: ['alpha', 'beta', 'gamma'],
    config: decodeConfig({ restSeconds: 0, quietPeriodSeconds: 1, auditSeconds: 1 }, 'the test'),
    log: pino({ level: 'silent' }),
    onFatal: (error) => {
      throw error;
    },
  });
  session = new Session(platform.kubeconfig, systemClock);
  const { authorizer } = platform;
  const close = authorizer.closePlane.bind(authorizer);
  authorizer.closePlane = (plane) => {
    gone.push(...authorizer.usage().filter((use) => use.plane === plane));
    close(plane);
  };
});
afterAll(async () => {
  await session?.close();
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What was used, also in planes that are gone. */
const gone: UsedGrant[] = [];
const seen = (): UsedGrant[] => [...gone, ...platform.authorizer.usage()];

const alpha = () => session.client('project-alpha');

/** What people wrote before the platform planned presence and subnets by itself. */
async function legacyObjects(namespace: string, network: string): Promise<void> {
  const apiVersion = apiVersionOf(NetworkBinding);
  const place = { network: { name: network }, location: { name: 'eu-west-1' } };
  await alpha().create(NetworkBinding, {
    apiVersion,
    kind: NetworkBinding.kind,
    metadata: { name: 'legacy', namespace },
    spec: place,
  });
  const networkContext = { name: `${network}-eu-west-1` };
  const subnet = { subnetClass: 'private', networkContext, location: place.location, ipFamily: 'IPv4' as const };
  await alpha().create(SubnetClaim, {
    apiVersion,
    kind: SubnetClaim.kind,
    metadata: { name: 'legacy', namespace },
    spec: { ...subnet, startAddress: '10.200.0.0', prefixLength: 24 },
  });
  await session.until('the legacy subnet is ready', async () => {
    const claim = await alpha().get(SubnetClaim, { namespace, name: 'legacy' });
    return isConditionTrue(claim?.status?.conditions, 'Ready') ? true : 'it is not';
  });
  await alpha().delete(SubnetClaim, { namespace, name: 'legacy' });
  await alpha().delete(NetworkBinding, { namespace, name: 'legacy' });
}

/** What people and machines do to a platform, once each; every controller meets what it is there for. */
async function useEverything(): Promise<void> {
  await session.apply('project-alpha', join(examples, 'workload.yaml'));
  await session.apply('project-alpha', join(examples, 'claim-templates.yaml'));
  await ready(session, alpha(), 'web', 4);
  // Refused, then served once there is room.
  const { ipClass, pool } = scarceClass('two-only', '192.0.2.0/31');
  await alpha().create(IPClass, ipClass);
  await alpha().create(IPPool, pool);
  await alpha().create(Workload, workloadObject({ name: 'crowd', replicas: 3, classes: ['two-only'] }));
  const cell = session.client('cell-us-central-1');
  const claims = async () =>
    (await cell.list(NetworkInterfaceClaim)).items.filter((claim) => claim.metadata.name.startsWith('crowd-'));
  const refused = (claim: NetworkInterfaceClaim) => findCondition(claim.status?.conditions, 'Bound')?.status !== 'True';
  await session.until('one is refused', async () => {
    const all = await claims();
    return all.length === 3 && all.filter(refused).length === 1 ? true : `${all.length} claims`;
  });
  await scale('crowd', 2);
  await session.until('the crowd is two', async () =>
    (await claims()).length === 2 ? true : `${(await claims()).length} claims`,
  );
  // Replaced, rolled, scaled, returned.
  const [first] = (await alpha().list(Instance)).items;
  await cell.delete(
    Instance,
    keyOf((await cell.list(Instance)).items.find((each) => each.metadata.name === first!.metadata.name)!),
  );
  await ready(session, alpha(), 'web', 4);
  await alpha().patch(Workload, inDefault('web'), {
    type: 'merge',
    body: { spec: { template: { metadata: { annotations: { rolled: 'yes' } } } } },
  });
  await ready(session, alpha(), 'web', 4);
  await alpha().delete(Workload, inDefault('crowd'));
  await alpha().delete(Workload, inDefault('web'));
  await session.until('the workloads are gone', async () => {
    const left = (await alpha().list(Workload)).items.filter((each) => each.metadata.name !== 'api').length;
    return left === 0 ? true : `${left} workloads`;
  });
  await session.until('the project sees that nobody holds its interfaces', async () => {
    const phases = (await alpha().list(NetworkInterface)).items
      .filter((each) => each.metadata.name.startsWith('web-'))
      .map((each) => each.status?.phase);
    return phases.length === 4 && phases.every((phase) => phase === 'Available') ? true : phases.join(', ');
  });
  // The same interfaces again, for other holders.
  await session.apply('project-alpha', join(examples, 'workload.yaml'));
  await ready(session, alpha(), 'web', 4);
  // One is asked back while it is held.
  const [held] = (await alpha().list(NetworkInterface)).items;
  await alpha().delete(NetworkInterface, keyOf(held!));
  await session.until('it is back', async () => {
    const back = await alpha().get(NetworkInterface, keyOf(held!));
    return back !== undefined && back.metadata.uid !== held!.metadata.uid ? true : 'it is not';
  });
  await alpha().delete(Workload, inDefault('web'));
  await alpha().delete(Workload, inDefault('api'));
  await session.until('the project no longer shows what was deleted with its workload', async () => {
    const left = (await alpha().list(NetworkInterface)).items.filter((each) => each.metadata.name.startsWith('api-'));
    return left.length === 0 ? true : `${left.length} interfaces`;
  });
  await session.until('everything is given back', async () => {
    for (const each of (await alpha().list(NetworkInterface)).items)
      await alpha().delete(NetworkInterface, keyOf(each));
    const left =
      (await alpha().list(NetworkInterface)).items.length +
      (await alpha().list(IPClaim)).items.filter(
        (claim) => claim.metadata.labels?.['networking.datumapis.com/interface-name'] !== undefined,
      ).length;
    return left === 0 ? true : `${left} interfaces and claims`;
  });
  // Networks and projects go; a namespace comes and goes.
  await alpha().create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
  await alpha().create(Network, { ...networkObject('other'), metadata: { name: 'other', namespace: 'team' } });
  await alpha().create(Workload, {
    ...workloadObject({ name: 'small', replicas: 1, network: 'other' }),
    metadata: { name: 'small', namespace: 'team' },
  });
  await legacyObjects('team', 'other');
  await session.until('it runs', async () => {
    const instances = (await alpha().list(Instance, { namespace: 'team' })).items;
    return instances.some((each) => isConditionTrue(each.status?.conditions, 'Ready'))
      ? true
      : `${instances.length} instances`;
  });
  await alpha().delete(Namespace, { namespace: '', name: 'team' });
  await session.until('the namespace is gone', async () =>
    (await alpha().get(Namespace, { namespace: '', name: 'team' })) === undefined ? true : 'it is there',
  );
  // A presence that nothing needs goes by itself; with its network it would be removed by somebody else.
  await session.until('the presence is gone', async () => {
    const left = (await alpha().list(NetworkContext)).items.length;
    return left === 0 ? true : `${left} contexts`;
  });
  for (const each of (await alpha().list(Network)).items) await alpha().delete(Network, keyOf(each));
  await session.until('the networks are gone', async () => {
    const left = (await alpha().list(Network)).items.length + (await alpha().list(IPClaim)).items.length;
    return left === 0 ? true : `${left} networks and claims`;
  });
  await session.client('project-beta').create(Network, networkObject('default'));
  await session.client('project-beta').create(Workload, workloadObject({ name: 'last', replicas: 1 }));
  await ready(session, session.client('project-beta'), 'last', 1);
  await session.client('root').delete(Project, { namespace: '', name: 'beta' });
  await session.until('the project is gone', async () =>
    (await session.client('root').get(Project, { namespace: '', name: 'beta' })) === undefined ? true : 'it is there',
  );
}

async function scale(name: string, minReplicas: number): Promise<void> {
  const body = [{ op: 'replace' as const, path: '/spec/placements/0/scaleSettings/minReplicas', value: minReplicas }];
  await alpha().patch(Workload, inDefault(name), { type: 'json', body });
}

const serviceAccount = 'system:serviceaccount:berth-system:';
const informers = `${serviceAccount}berth-informers`;
const reading = ['get', 'list', 'watch'];

/** `verb group/resource` of every single grant in the rules. */
function grantsOf(rules: readonly PolicyRule[]): string[] {
  return rules.flatMap(({ verbs, apiGroups = [], resources = [] }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`))),
  );
}

const root = '';
const hub = '/planes/hub';
const cellPath = '/planes/cells/us-central-1';
const projectPath = (id: string) => `/apis/resourcemanager.miloapis.com/v1alpha1/projects/${id}/control-plane`;

/** One request for every verb on a resource. */
const verbs: readonly {
  verb: string;
  method: TransportRequest['method'];
  name?: boolean;
  query?: string;
  body?: string;
}[] = [
  { verb: 'get', method: 'GET', name: true },
  { verb: 'list', method: 'GET' },
  { verb: 'watch', method: 'GET', query: '?watch=true&timeoutSeconds=1' },
  { verb: 'watch one', method: 'GET', query: '?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Dany' },
  { verb: 'create', method: 'POST', body: '{}' },
  { verb: 'update', method: 'PUT', name: true, body: '{}' },
  { verb: 'patch', method: 'PATCH', name: true, body: '{}' },
  { verb: 'apply', method: 'PATCH', name: true, query: '?fieldManager=me', body: '{}' },
  { verb: 'delete', method: 'DELETE', name: true },
  { verb: 'deletecollection', method: 'DELETE' },
];
const typeOf = (verb: string) =>
  verb === 'apply'
    ? 'application/apply-patch+yaml'
    : verb === 'patch'
      ? 'application/merge-patch+json'
      : 'application/json';

describe("a project's user", () => {
  let transport: Transport;
  let bare: Transport;
  beforeAll(() => {
    const { server, ca, token } = readKubeconfig(platform.kubeconfig, 'project-alpha');
    const origin = new URL(server).origin;
    transport = httpTransport({ server: origin, ca: ca!, token: token! });
    bare = httpTransport({ server: origin, ca: ca! });
  });
  afterAll(() => Promise.all([transport.close(), bare.close()]));

  const statusOf = async (
    by: Transport,
    method: TransportRequest['method'],
    path: string,
    verb: string,
    body?: string,
  ) => {
    const headers = { 'content-type': typeOf(verb) };
    const response = await by.request({ method, path, headers, ...(body === undefined ? {} : { body }) });
    for await (const _ of response.body);
    return response.status;
  };

  const elsewhere = [
    `${root}/api/v1/namespaces`,
    `${root}/apis/resourcemanager.miloapis.com/v1alpha1/projects`,
    `${hub}/api/v1/namespaces/default/secrets`,
    `${hub}/apis/networking.datumapis.com/v1alpha/locations`,
    `${hub}/apis/rbac.authorization.k8s.io/v1/clusterrolebindings`,
    `${hub}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`,
    `${cellPath}/apis/compute.datumapis.com/v1alpha/namespaces/default/instances`,
    `${cellPath}/apis/networking.datumapis.com/v1alpha/networkinterfaces`,
    `${projectPath('beta')}/apis/networking.datumapis.com/v1alpha/namespaces/default/networks`,
    `${projectPath('beta')}/apis/ipam.miloapis.com/v1alpha1/namespaces/default/ipclaims`,
    `${projectPath('beta')}/apis/ipam.miloapis.com/v1alpha1/ippools`,
    `${projectPath('beta')}/api/v1/namespaces/default/secrets`,
  ];

  test.each(elsewhere)('may do nothing with %s', async (path) => {
    const answers: Record<string, number> = {};
    const someone: Record<string, number> = {};
    for (const { verb, method, name, query = '', body } of verbs) {
      // Collections of all namespaces take no writes; what may not be asked is not judged.
      const target = `${path}${name ? '/any' : ''}${query}`;
      answers[verb] = await statusOf(transport, method, target, verb, body);
      someone[verb] = await statusOf(bare, method, target, verb, body);
    }
    expect(Object.entries(answers).filter(([, status]) => status !== 403)).toEqual([]);
    expect(Object.entries(someone).filter(([, status]) => status !== 401 && status !== 403)).toEqual([]);
  });

  test('cannot leave its project by the path', async () => {
    const own = projectPath('alpha');
    const paths = [
      `${own}/../beta/control-plane/api/v1/namespaces`,
      `${own}/%2e%2e/%2e%2e/beta/control-plane/api/v1/namespaces`,
      `${own}/..%2f..%2fbeta%2fcontrol-plane/api/v1/namespaces`,
      `${own}//api/v1/namespaces/../../../../planes/hub/api/v1/namespaces`,
      `${own}${hub}/api/v1/namespaces`,
      `${own}${projectPath('beta')}/api/v1/namespaces`,
      `${hub}/../..${own}/../beta/control-plane/api/v1/secrets`,
      `/apis/resourcemanager.miloapis.com/v1alpha1/projects/alpha%2f..%2fbeta/control-plane/api/v1/namespaces`,
    ];
    for (const path of paths)
      expect([path, await statusOf(transport, 'GET', path, 'get')]).toEqual([
        path,
        expect.toSatisfy((status: number) => status >= 400 && status < 500),
      ]);
  });

  test('may do everything in it', async () => {
    const path = `${projectPath('alpha')}/api/v1/namespaces/default/secrets`;
    const body = JSON.stringify({ metadata: { name: 'any' } });
    const answers: Record<string, number> = {};
    for (const { verb, method, name, query = '' } of verbs.toSorted(
      (a, b) =>
        Number(a.method === 'DELETE') - Number(b.method === 'DELETE') ||
        Number(b.method === 'POST') - Number(a.method === 'POST'),
    )) {
      const apiVersion = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'any' } };
      const sent =
        method === 'GET' || method === 'DELETE' ? undefined : verb === 'patch' ? body : JSON.stringify(apiVersion);
      answers[verb] = await statusOf(transport, method, `${path}${name ? '/any' : ''}${query}`, verb, sent);
    }
    expect(answers).toEqual({
      create: 201,
      get: 200,
      list: 200,
      watch: 200,
      'watch one': 200,
      update: 200,
      patch: 200,
      apply: 200,
      delete: 200,
      deletecollection: 200,
    });
  });

  test('whose token was revoked with its project reaches nothing', async () => {
    const { server, ca, token } = readKubeconfig(platform.kubeconfig, 'project-gamma');
    const gamma = httpTransport({ server: new URL(server).origin, ca: ca!, token: token! });
    const path = `${projectPath('gamma')}/api/v1/namespaces`;
    expect(await statusOf(gamma, 'GET', path, 'list')).toBe(200);
    await session.client('root').delete(Project, { namespace: '', name: 'gamma' });
    await session.until('gamma is gone', async () =>
      (await session.client('root').get(Project, { namespace: '', name: 'gamma' })) === undefined
        ? true
        : 'it is there',
    );
    expect(await statusOf(gamma, 'GET', path, 'list')).toBe(401);
    await gamma.close();
  });
});

const reserved = reservedGrants.flatMap(({ controllers, role, grants }) =>
  controllers.flatMap((controller) => grants.map((grant) => `${controller} ${role} ${grant}`)),
);

describe('controllers', () => {
  beforeAll(useEverything, 300_000);

  test('are refused nothing', () => {
    const refused = platform.authorizer.refused().filter(({ user }) => user.startsWith(serviceAccount));
    expect(refused).toEqual([]);
  });

  test('use what they are granted, or it is listed why they hold it', () => {
    const used = new Set(
      seen().map(
        ({ user, plane, verb, group, resource }) => `${user} ${plane.split('/')[0]} ${verb} ${group}/${resource}`,
      ),
    );
    const unused: string[] = [];
    let count = 0;
    for (const { name, rules } of platform.controllers) {
      for (const [role, granted] of Object.entries(rules)) {
        for (const grant of grantsOf(granted)) {
          count++;
          const verb = grant.split(' ')[0]!;
          const shared = reading.includes(verb) && used.has(`${informers} ${role} ${grant.replace(verb, 'watch')}`);
          if (!used.has(`${serviceAccount}${name} ${role} ${grant}`) && !shared)
            unused.push(`${name} ${role} ${grant}`);
        }
      }
    }
    console.log(`${count} grants, ${count - unused.length} of them used, ${reserved.length} reserved`);
    expect(unused.filter((grant) => !reserved.includes(grant))).toEqual([]);
  });

  test('and what the platform has written by then is readable by its user alone', async () => {
    const names = await readdir(folder, { recursive: true });
    expect(names).toEqual(expect.arrayContaining(['berth.db', 'berth.db-wal', 'kubeconfig', 'secrets/ca.key']));
    const open = await Promise.all(
      names.map(async (name) => ({ name, others: (await stat(join(folder, name))).mode & 0o077 })),
    );
    expect(open.filter(({ others }) => others !== 0)).toEqual([]);
  });

  test('hold what is listed as reserved', () => {
    const granted = platform.controllers.flatMap(({ name, rules }) =>
      Object.entries(rules).flatMap(([role, some]) => grantsOf(some).map((grant) => `${name} ${role} ${grant}`)),
    );
    expect(reserved.filter((grant) => !granted.includes(grant))).toEqual([]);
  });
});
