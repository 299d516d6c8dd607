import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  Instance,
  IPClaim,
  Location,
  LocationBinding,
  Network,
  NetworkInterface,
  Project,
  topologyKeys,
  Workload,
} from '../../src/api/index.ts';
import { addressesOf, agreesWithIpam, ready } from '../../src/cli/index.ts';
import { httpTransport } from '../../src/kube/index.ts';
import { apiVersionOf, isConditionTrue, Lease, Namespace } from '../../src/meta/index.ts';
import { berth, run } from '../harness/process.ts';
import { CellProcess, Cluster } from './support/cell-process.ts';
import { isTrue, said } from './support/conditions.ts';
import { kubectlOnPath, kubectlTest } from './support/kubectl.ts';
import { locationBindingObject, locationObject, networkObject, workloadObject } from './support/objects.ts';
import { type Running, start, useFolder, writeConfig } from './support/platform.ts';
import { inDefault } from './support/tenant.ts';

// The cell is an API server of its own and its controllers are a process of their own. The server is another embedded one,
// or the cluster whose administrator's kubeconfig BERTH_CELL_KUBECONFIG names (empty of Berth's objects).

const location = 'ap-south-1';
const asked = ['--cells', 'us-central-1', '--projects', 'alpha'];
const folder = useFolder();
const processes: CellProcess[] = [];
let platform: Running;
let cluster: Cluster;
/** Serves the cluster, where it is one of ours. */
let clusterPlatform: Running | undefined;
/** Without --location. */
let servers: string[];

beforeAll(async () => {
  const path = (name: string) => join(folder.path, name);
  const none = ['--cells', '', '--projects', ''];
  const config = ['--config', await writeConfig(folder.path, { restSeconds: 0 })];
  platform = await start(path('platform'), ...asked, ...config);
  const named = process.env.BERTH_CELL_KUBECONFIG;
  if (named === undefined) clusterPlatform = await start(path('cluster'), ...none);
  cluster =
    clusterPlatform === undefined ? new Cluster(named!) : new Cluster(clusterPlatform.process.kubeconfig, 'root');
  await cluster.apply('crds');
  await cluster.apply('cell');
  const outside = path('outside');
  const given = await berth('cell-kubeconfig', location, '--data-dir', path('platform'));
  await writeFile(outside, given.stdout, { mode: 0o600 });
  servers = [
    ...['--kubeconfig', await cluster.writeAccountKubeconfig(path('cell'))],
    ...['--hub-kubeconfig', outside, '--ipam-kubeconfig', outside, '--ipam-context', 'ipam'],
    ...['--simulate', '--log-level', 'warn'],
  ];
  await platform.hub.create(Location, locationObject(location, { [topologyKeys.cityCode]: 'BOM' }));
  await platform.project().create(LocationBinding, locationBindingObject(location, 'BOM'));
});
afterAll(async () => {
  await Promise.all(processes.map((each) => each.end('SIGKILL')));
  await cluster?.close();
  await Promise.all([platform?.interrupt(), clusterPlatform?.interrupt()]);
});

function startCell(): CellProcess {
  const started = new CellProcess(['--location', location, ...servers]);
  processes.push(started);
  return started;
}

async function get(of: CellProcess, path: string): Promise<{ status: number; text: string }> {
  const transport = httpTransport({ server: of.health });
  const { status, body } = await transport.request({ method: 'GET', path });
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  await transport.close();
  return { status, text: Buffer.concat(chunks).toString() };
}

/** Waits until a cell's process says that it gets no answer from a server. */
const unready = (of: CellProcess, server: string) =>
  platform.session.until(`no answer of ${server} is told`, async () => {
    const { status, text } = await get(of, '/readyz');
    return status === 500 && text.includes(`[-]${server} failed`) ? true : text;
  });

const addresses = async (replicas: number) =>
  (await ready(platform.session, platform.project(), 'web', replicas)).map((instance) => ({
    name: instance.metadata.name,
    ...addressesOf(instance),
  }));

/** What an operator says of the location on the hub; null takes it back. */
const sayLost = (value: string | null) =>
  platform.hub.patch(
    Location,
    { namespace: '', name: location },
    { type: 'merge', body: { metadata: { annotations: { 'federation.datumapis.com/cell-lost': value } } } },
  );

const scale = (replicas: number) =>
  platform.project().patch(Workload, inDefault('web'), {
    type: 'json',
    body: [{ op: 'replace', path: '/spec/placements/0/scaleSettings/minReplicas', value: replicas }],
  });

test('a cell of its own gives instances their addresses; one that is killed is followed by another, and nothing is renumbered', async () => {
  const first = startCell();
  await first.says(`Berth runs the cell of ${location}`);
  await first.says('It has the lease and works.');
  const project = platform.project();
  await project.create(Network, networkObject('default'));
  await project.create(
    Workload,
    workloadObject({ name: 'web', replicas: 3, location, classes: ['public-unicast-ipv4'] }),
  );
  const three = await addresses(3);
  expect(three.map(({ name }) => name)).toEqual([
    `web-here-${location}-0`,
    `web-here-${location}-1`,
    `web-here-${location}-2`,
  ]);
  for (const each of three) expect(each.external).toMatch(/^198\.51\.100\./);
  await agreesWithIpam(platform.session, project);
  // They are in the cluster, and in no cell of the platform.
  expect((await cluster.client.list(Instance)).items).toHaveLength(3);
  expect((await platform.cell('us-central-1').list(Instance)).items).toEqual([]);

  expect(await get(first, '/readyz?verbose')).toEqual({
    status: 200,
    text: '[+]ping ok\n[+]cell ok\n[+]hub ok\n[+]ipam ok\nreadyz check passed\n',
  });
  const { text } = await get(first, '/metrics');
  expect(text).toContain('\nberth_cell_leads 1\n');
  expect(text).toMatch(/berth_reconcile_total\{controller="network-cell-claim",result="success"\} \d/);
  expect(text).toContain('process_cpu_seconds_total');
  expect((await get(first, '/readyz/nonsense')).status).toBe(404);

  const second = startCell();
  await second.says('health');
  expect((await get(second, '/metrics')).text).toContain('\nberth_cell_leads 0\n');
  await scale(9);
  await platform.session.until('some of the new claims are on their way', async () => {
    const { items } = await cluster.client.list(NetworkInterface);
    return items.length > 3 ? true : 'none';
  });
  await first.end('SIGKILL');
  await second.says('It has the lease and works.');
  const nine = await addresses(9);
  expect(nine.slice(0, 3)).toEqual(three);
  expect(new Set(nine.flatMap(({ ipv4, ipv6, external }) => [ipv4, ipv6, external])).size).toBe(27);
  await agreesWithIpam(platform.session, project);

  // Said to be lost, it is shown no longer, and goes on: until nobody says so any more.
  const shown = async () => (await platform.hub.list(Instance)).items.length;
  const { resourceVersion } = await platform.hub.list(Instance);
  await sayLost('true');
  await platform.session.until('the hub is cleared of it', async () => ((await shown()) === 0 ? true : 'it is not'));
  await scale(10);
  await platform.session.until('the tenth instance is ready in the cell', async () => {
    const { items } = await cluster.client.list(Instance);
    return items.filter(({ status }) => isConditionTrue(status?.conditions, 'Ready')).length === 10
      ? true
      : 'it is not';
  });
  const added: string[] = [];
  for await (const event of platform.hub.watch(Instance, { resourceVersion, timeoutSeconds: 1 })) {
    if (event.type === 'ADDED') added.push(event.object.metadata.name);
  }
  expect(added).toEqual([]);
  await sayLost(null);
  expect((await addresses(10)).slice(0, 9)).toEqual(nine);

  // One that is stopped hands over at once.
  expect(await second.end('SIGTERM')).toBe(0);
  const lease = await cluster.client.get(Lease, { namespace: 'kube-system', name: 'berth-cell' });
  expect(lease?.spec?.holderIdentity).toBe('');
  await scale(2);
  const third = startCell();
  await third.says('It has the lease and works.');
  expect(await addresses(2)).toEqual(three.slice(0, 2));
  await project.delete(Workload, inDefault('web'));
  await platform.session.until('everything is given back', async () => {
    const claims = (await project.list(IPClaim)).items.filter((claim) => claim.spec?.target !== 'ScopeRange');
    const { items } = await cluster.client.list(NetworkInterface);
    const there = await project.get(Workload, inDefault('web'));
    return there === undefined && claims.length + items.length === 0
      ? true
      : `${claims.length} IPClaims, ${items.length} interfaces`;
  });
  expect(await third.end('SIGINT')).toBe(0);
  // The roles of deploy/ let it do all of that.
  for (const { printed } of [first, second, third]) expect(printed).not.toContain('forbidden');
});

test('a project that is deleted takes what it has in the cell with it, and gives nothing to wait for', async () => {
  const cell = startCell();
  await cell.says('It has the lease and works.');
  const { root, session } = platform;
  const project = { namespace: '', name: 'gamma' };
  const apiVersion = apiVersionOf(Project);
  await root.create(Project, { apiVersion, kind: Project.kind, metadata: { name: 'gamma' }, spec: {} });
  await session.until('the project is served', async () => {
    const { status } = (await root.get(Project, project)) ?? {};
    return isTrue({ status }, 'Ready') ? true : 'it is not';
  });
  const gamma = platform.project('gamma');
  await gamma.create(LocationBinding, locationBindingObject(location, 'BOM'));
  await gamma.create(Network, networkObject('default'));
  await gamma.create(Workload, workloadObject({ name: 'kept', replicas: 2, location, policy: 'Retain' }));
  await ready(session, gamma, 'kept', 2);
  const namespace = await platform.hubNamespace('gamma');
  expect((await cluster.client.list(NetworkInterface, { namespace })).items).toHaveLength(2);
  await root.delete(Project, project);
  await session.until('the project is gone', async () => {
    const there = await root.get(Project, project);
    return there === undefined ? true : (said(there, 'Ready')?.message ?? 'it is there');
  });
  await session.until('and its namespace in the cell', async () => {
    const there = await cluster.client.get(Namespace, { namespace: '', name: namespace });
    return there === undefined ? true : JSON.stringify(there.status);
  });
  expect((await cluster.client.list(NetworkInterface)).items).toEqual([]);
  expect(await cell.end('SIGTERM')).toBe(0);
});

test('servers that go away are waited for: the cell is worked in again once it answers, with addresses from IPAM', async () => {
  const cell = startCell();
  await cell.says('It has the lease and works.');
  const portOf = (url: string) => new URL(url).port;
  const again = async (name: string, running: Running, ...args: string[]) =>
    start(join(folder.path, name), '--port', portOf(running.process.url), ...args);
  await platform.process.kill();
  await unready(cell, 'hub');
  platform = await again('platform', platform, ...asked, '--config', join(folder.path, 'config.yaml'));
  await platform.project().create(Workload, workloadObject({ name: 'web', replicas: 2, location }));
  const two = await addresses(2);
  expect(new Set(two.map(({ ipv6 }) => ipv6)).size).toBe(2);

  if (clusterPlatform === undefined) return;
  await clusterPlatform.process.kill();
  await unready(cell, 'cell');
  await cell.says('It works no longer.');
  await scale(3);
  clusterPlatform = await again('cluster', clusterPlatform, '--cells', '', '--projects', '');
  await cell.says('It has the lease and works.');
  expect((await addresses(3)).slice(0, 2)).toEqual(two);
  expect((await get(cell, '/readyz')).status).toBe(200);
  expect(await cell.end('SIGTERM')).toBe(0);
});

test('what a cell is given lets it do what cells do, and nothing else', async () => {
  const outside = servers[servers.indexOf('--hub-kubeconfig') + 1]!;
  const [hub, root] = [new Cluster(outside, 'hub'), new Cluster(outside, 'ipam')];
  expect((await hub.client.list(Location)).items.map(({ metadata }) => metadata.name).sort()).toEqual([
    location,
    'us-central-1',
  ]);
  await expect(hub.client.delete(Location, { namespace: '', name: location })).rejects.toThrow(
    `User "berth:cell:${location}" cannot delete resource "locations"`,
  );
  await expect(root.client.list(Project)).rejects.toThrow('cannot list resource "projects"');
  const project = '/apis/resourcemanager.miloapis.com/v1alpha1/projects/alpha/control-plane/apis';
  expect((await root.request('GET', `${project}/ipam.miloapis.com/v1alpha1/ippools`)).kind).toBe('IPPoolList');
  await expect(root.request('GET', `${project}/compute.datumapis.com/v1alpha/workloads`)).rejects.toThrow('forbidden');
  await Promise.all([hub.close(), root.close()]);
  const nowhere = await berth('cell-kubeconfig', location, '--data-dir', join(folder.path, 'nowhere'));
  expect(nowhere).toEqual({
    code: 1,
    stdout: '',
    stderr: `berth: no platform was started in ${join(folder.path, 'nowhere')}: name its folder with --data-dir\n`,
  });
});

describe('a cell is refused, in one sentence and with nothing begun', () => {
  const refused = async (...args: string[]) => {
    const { code, stdout, stderr } = await berth('run', 'cell', '--port', '0', ...args);
    expect(stdout).toBe('');
    return { code, said: stderr.trimEnd() };
  };
  const given = (option: string) => servers[servers.indexOf(option) + 1]!;
  /** The options of the test's cell, with others in their place. */
  const but = (changes: Record<string, string>, at = location) => {
    const options: Record<string, string> = {};
    for (const option of ['--kubeconfig', '--hub-kubeconfig', '--ipam-kubeconfig', '--ipam-context']) {
      options[option] = given(option);
    }
    return refused('--location', at, ...Object.entries({ ...options, ...changes }).flat());
  };

  test('whose kubeconfig is not there, or has no such context', async () => {
    const file = join(folder.path, 'nowhere');
    expect(await but({ '--hub-kubeconfig': file })).toEqual({
      code: 1,
      said: `berth: --hub-kubeconfig: kubeconfig ${file}: ENOENT: no such file or directory, open '${file}'`,
    });
    expect(await but({ '--ipam-context': 'other' })).toEqual({
      code: 1,
      said: `berth: --ipam-kubeconfig: kubeconfig ${given('--ipam-kubeconfig')}: context "other" is not in contexts (there: hub, ipam)`,
    });
  });

  test('whose server does not answer, does not know it, or does not let it', async () => {
    const silent = await cluster.writeKubeconfig(join(folder.path, 'silent'), 'x', 'http://127.0.0.1:1');
    expect(await but({ '--hub-kubeconfig': silent })).toEqual({
      code: 1,
      said: 'berth: --hub-kubeconfig: http://127.0.0.1:1 cannot be reached (ECONNREFUSED): check the server in that kubeconfig, and that it runs',
    });
    const unknown = await cluster.writeKubeconfig(join(folder.path, 'unknown'), 'nobody');
    expect(await but({ '--kubeconfig': unknown })).toEqual({
      code: 1,
      said: `berth: --kubeconfig: ${cluster.options.server} does not know the user of that kubeconfig: its token or certificate is not good there`,
    });
    expect((await but({ '--hub-context': 'ipam' })).said).toMatch(
      /^berth: --hub-kubeconfig: locations\.networking\.datumapis\.com "none" is forbidden: User "berth:cell:ap-south-1" cannot get .*: apply deploy\/hub there, whose role its user must have$/,
    );
  });

  test('where the kinds are not served', async () => {
    const bare = await start(join(folder.path, 'bare'), '--cells', '', '--projects', '');
    const server = new Cluster(bare.process.kubeconfig, 'root');
    await server.apply('cell');
    const kubeconfig = await server.writeAccountKubeconfig(join(folder.path, 'bare-cell'));
    expect((await but({ '--kubeconfig': kubeconfig })).said).toBe(
      `berth: --kubeconfig: ${bare.process.url} does not serve servinglocations.networking.datumapis.com: apply deploy/crds there`,
    );
    await server.close();
    await bare.interrupt();
  });

  test('for a location that has a cell', async () => {
    expect((await but({}, 'us-central-1')).said).toBe(
      'berth: location us-central-1 has a cell inside the platform that serves the hub: name a location that has none',
    );
    expect(await but({}, 'Not_A_Name')).toEqual({
      code: 2,
      said: 'berth: location "Not_A_Name" must be lower-case letters, digits and "-", start and end with a letter or digit, and have at most 53 characters',
    });
    const key = { namespace: 'kube-system', name: `berth-cell-${location}` };
    const lease = await platform.hub.get(Lease, key);
    const uid = lease?.spec?.holderIdentity;
    await platform.hub.update(Lease, { ...lease!, spec: { ...lease!.spec, holderIdentity: 'another' } });
    expect((await but({})).said).toBe(
      `berth: location ${location} has another cluster as its cell (UID another of its namespace kube-system, this one has ${uid}): name another location, or delete lease berth-cell-${location} in kube-system on the hub if that cluster is gone for good`,
    );
  });
});

kubectlTest('the bases in deploy are what kustomize builds', async () => {
  for (const base of ['cell', 'cell-referenced-data', 'hub', 'hub-referenced-data', 'project']) {
    const { code, stdout, stderr } = await run(kubectlOnPath!, ['kustomize', `deploy/${base}`]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('name: berth:cell\n');
  }
});
