import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  Instance,
  IPClass,
  IPPool,
  LocationBinding,
  Network,
  NetworkBinding,
  NetworkContext,
  NetworkInterface,
  NetworkInterfaceClaim,
  Project,
  Subnet,
  Workload,
} from '../../src/api/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { CustomResourceDefinition, isConditionTrue, Namespace, type ResourceType } from '../../src/meta/index.ts';
import { berth } from '../harness/process.ts';
import { networkObject, workloadObject } from './support/objects.ts';
import { type Running, start, useFolder, writeConfig } from './support/platform.ts';
import { Tenant } from './support/tenant.ts';

const folder = useFolder();

interface Kubeconfig {
  'current-context': string;
  contexts: { name: string; context: { cluster: string; user: string } }[];
  clusters: { name: string; cluster: { server: string; 'certificate-authority-data': string } }[];
  users: { name: string; user: { token: string } }[];
}

async function uids(client: Client, type: typeof IPClass | typeof IPPool | typeof Project): Promise<string[]> {
  const { items } = await client.list(type as typeof IPClass);
  return items.map(({ metadata }) => `${metadata.name} ${metadata.uid}`).sort();
}

let first: Running;
beforeAll(async () => {
  first = await start(join(folder.path, 'first'));
});

test('starting says what is done, where the API listens, the kubeconfig, and what to type next, in that order', async () => {
  const data = join(folder.path, 'first');
  const printed = first.process.output();
  const inOrder = [
    'Berth is starting',
    `storage      ${data}/berth.db`,
    'planes       root, hub, cell-us-central-1, cell-eu-west-1',
    'controllers  ',
    'projects     alpha, beta',
    `API          ${first.process.url}`,
    `kubeconfig   ${data}/kubeconfig`,
    'contexts     root, hub, cell-eu-west-1, cell-us-central-1, project-alpha, project-beta',
    'Next, in another terminal:',
    `export KUBECONFIG=${data}/kubeconfig`,
    'kubectl --context project-alpha apply -f examples/workload.yaml',
    'kubectl --context project-alpha get instances',
    `Ctrl-C stops it; everything is kept in ${data}.`,
  ];
  let from = 0;
  for (const text of inOrder) {
    const found = printed.indexOf(text, from);
    expect(found, `"${text}" in its place in:\n${printed}`).toBeGreaterThanOrEqual(from);
    from = found + text.length;
  }
  // A script reads this: nothing but text, where there is no terminal.
  expect(printed).toBe(stripVTControlCharacters(printed));
});

test('the kubeconfig is for its owner only, and has a context for every plane', async () => {
  const file = join(folder.path, 'first', 'kubeconfig');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(dirname(file))).mode & 0o777).toBe(0o700);
  const names = await readdir(dirname(file));
  const modes = await Promise.all(names.map(async (name) => (await stat(join(dirname(file), name))).mode & 0o077));
  expect(names).toContain('berth.db');
  expect(modes).toEqual(names.map(() => 0));
  const config = parse(await readFile(file, 'utf8')) as Kubeconfig;
  expect(config['current-context']).toBe('project-alpha');
  const paths = config.contexts.map(({ name, context }) => {
    const server = config.clusters.find((cluster) => cluster.name === context.cluster)?.cluster.server ?? '';
    return [name, new URL(server).pathname];
  });
  expect(Object.fromEntries(paths)).toEqual({
    root: '/',
    hub: '/planes/hub',
    'cell-us-central-1': '/planes/cells/us-central-1',
    'cell-eu-west-1': '/planes/cells/eu-west-1',
    'project-alpha': '/apis/resourcemanager.miloapis.com/v1alpha1/projects/alpha/control-plane',
    'project-beta': '/apis/resourcemanager.miloapis.com/v1alpha1/projects/beta/control-plane',
  });
  const tokenOf = (context: string) => {
    const user = config.contexts.find(({ name }) => name === context)?.context.user;
    return config.users.find(({ name }) => name === user)?.user.token ?? '';
  };
  const tokens = ['root', 'project-alpha', 'project-beta'].map(tokenOf);
  expect(new Set(tokens).size).toBe(3);
  expect(tokens.every((token) => token.length >= 20)).toBe(true);
});

test('each project starts with the classes and root pools of its own', async () => {
  for (const [id, ranges] of [
    ['alpha', ['10.128.0.0/12', '198.51.100.0/24', 'fd20:1000::/36']],
    ['beta', ['10.144.0.0/12', '203.0.113.0/24', 'fd20:2000::/36']],
  ] as const) {
    const client = first.project(id);
    const pools = (await client.list(IPPool)).items;
    expect(pools.map((pool) => pool.spec?.cidr).sort()).toEqual(ranges);
    for (const { status } of pools) expect(status?.phase).toBe('Ready');
    const offered = Object.fromEntries(pools.map(({ spec }) => [spec?.classNames?.join(), spec?.cidr]));
    expect(offered).toEqual({
      'network-ipv6': ranges[2],
      'subnet-ipv4': ranges[0],
      'public-unicast-ipv4': ranges[1],
    });

    const classes = Object.fromEntries(
      (await client.list(IPClass)).items.map(({ metadata, spec }) => [
        metadata.name,
        {
          family: spec?.ipFamily,
          length: spec?.defaultPrefixLength,
          per: spec?.poolPer ?? [],
          parent: spec?.parentClassName,
          reserved: [spec?.reservations?.leading ?? 0, spec?.reservations?.trailing ?? 0],
          unit: spec?.reservations?.unitPrefixLength,
          isDefault: metadata.annotations?.['ipam.miloapis.com/is-default-class'] === 'true',
        },
      ]),
    );
    const none = { per: [], parent: undefined, reserved: [0, 0], unit: undefined, isDefault: false };
    expect(classes).toEqual({
      'network-ipv6': { ...none, family: 'IPv6', length: 48, per: ['network'] },
      'subnet-ipv6': {
        ...none,
        family: 'IPv6',
        length: 64,
        per: ['network', 'location'],
        parent: 'network-ipv6',
        reserved: [1, 0],
        unit: 96,
      },
      'endpoint-ipv6': { ...none, family: 'IPv6', length: 96, parent: 'subnet-ipv6', isDefault: true },
      'subnet-ipv4': {
        ...none,
        family: 'IPv4',
        length: 20,
        per: ['network', 'location'],
        reserved: [2, 2],
        unit: 32,
      },
      'endpoint-ipv4': { ...none, family: 'IPv4', length: 32, parent: 'subnet-ipv4', isDefault: true },
      'public-unicast-ipv4': { ...none, family: 'IPv4', length: 32 },
    });
  }
  const namespaces = (await first.project().list(Namespace)).items.map((each) => each.metadata.name);
  expect(namespaces).toContain('default');
});

test('Ctrl-C stops it with exit code 0, and nothing was complained of', async () => {
  expect(await first.interrupt()).toBe(0);
  expect(first.process.output()).toContain(`Stopping …\nStopped. Everything is kept in ${join(folder.path, 'first')}.`);
  expect(first.process.errors()).toBe('');
});

test('starting again goes on with everything, adds what is asked for, and removes nothing', async () => {
  const data = join(folder.path, 'again');
  const first = await start(data, '--cells', 'us-central-1', '--projects', 'alpha');
  const project = first.project();
  const before = {
    classes: await uids(project, IPClass),
    pools: await uids(project, IPPool),
    projects: await uids(first.root, Project),
  };
  // After that: a network may take a pool at any moment, before the stop or when it goes on.
  await project.create(Network, networkObject('kept'));
  const network = await project.get(Network, { namespace: 'default', name: 'kept' });
  expect(await first.interrupt()).toBe(0);

  const second = await start(data, '--cells', 'eu-west-1,ap-south-1=BOM', '--projects', 'beta');
  try {
    expect(second.process.output()).toContain(
      'contexts     root, hub, cell-ap-south-1, cell-eu-west-1, cell-us-central-1, project-alpha, project-beta',
    );
    const again = second.project();
    expect(await uids(again, IPClass)).toEqual(before.classes);
    expect(await uids(again, IPPool)).toEqual(expect.arrayContaining(before.pools));
    expect(await uids(second.root, Project)).toEqual(expect.arrayContaining(before.projects));
    expect((await again.get(Network, { namespace: 'default', name: 'kept' }))?.metadata.uid).toBe(
      network?.metadata.uid,
    );
    for (const id of ['alpha', 'beta']) {
      const { items } = await second.project(id).list(LocationBinding);
      const cities = items.map(({ metadata, spec }) => [
        metadata.name,
        spec?.topology?.['topology.datum.net/city-code'],
      ]);
      expect(Object.fromEntries(cities), `locations of ${id}`).toEqual({
        'ap-south-1': 'BOM',
        'eu-west-1': 'DUB',
        'us-central-1': 'DSM',
      });
    }
    await second.session.until('network kept ready again', async () => {
      const held = await again.get(Network, { namespace: 'default', name: 'kept' });
      return isConditionTrue(held?.status?.conditions, 'Ready') ? true : 'it is not ready';
    });
  } finally {
    expect(await second.interrupt()).toBe(0);
  }
});

test('today’s definitions are applied at start: one that was changed or taken away is back', async () => {
  const data = join(folder.path, 'first');
  const key = (name: string) => ({ namespace: '', name });
  const changed = key('networks.networking.datumapis.com');
  const removed = key('networkpolicies.networking.datumapis.com');
  const first = await start(data);
  const definition = await first.project().get(CustomResourceDefinition, changed);
  const columns = definition?.spec?.versions[0]?.additionalPrinterColumns;
  expect(columns?.length).toBeGreaterThan(0);
  await first.project().patch(CustomResourceDefinition, changed, {
    type: 'json',
    body: [{ op: 'replace', path: '/spec/versions/0/additionalPrinterColumns', value: [] }],
  });
  await first.project().delete(CustomResourceDefinition, removed);
  await first.session.until('the definition of network policies gone', async () =>
    (await first.project().get(CustomResourceDefinition, removed)) === undefined ? true : 'it is still there',
  );
  await first.interrupt();

  const second = await start(data);
  try {
    const again = await second.project().get(CustomResourceDefinition, changed);
    expect(again?.metadata.uid).toBe(definition?.metadata.uid);
    expect(again?.spec?.versions[0]?.additionalPrinterColumns).toEqual(columns);
    expect(await second.project().get(CustomResourceDefinition, removed)).toBeDefined();
  } finally {
    await second.interrupt();
  }
});

test('in memory, nothing is kept: not the folder, not the kubeconfig, not what was made', async () => {
  const data = join(folder.path, 'unused');
  const first = await start(data, '--in-memory');
  const { kubeconfig } = first.process;
  await first.project().create(Network, networkObject('forgotten'));
  expect(first.process.output()).toContain('storage      in memory');
  expect(first.process.output()).toContain('Ctrl-C stops it; nothing is kept.');
  expect((await stat(kubeconfig)).mode & 0o777).toBe(0o600);
  expect(await first.interrupt()).toBe(0);
  expect(existsSync(data)).toBe(false);
  expect(existsSync(kubeconfig)).toBe(false);

  const second = await start(data, '--in-memory');
  const { items } = await second.project().list(Network);
  expect(items).toEqual([]);
  expect(await second.interrupt()).toBe(0);
});

test('killed in the midst of its work, it goes on where it was: the same instances, the same addresses', async () => {
  const data = join(folder.path, 'killed');
  const first = await start(data);
  const shape = { name: 'web', replicas: 3, classes: ['public-unicast-ipv4'] };
  const before = await new Tenant(first).run(shape, networkObject('default'));
  await new Tenant(first).scale('web', 20);
  await first.process.kill();
  await first.session.close();

  const second = await start(data);
  try {
    const tenant = new Tenant(second);
    const after = await tenant.ready('web', 20);
    for (const [name, addresses] of Object.entries(before.addresses)) expect(after.addresses[name]).toEqual(addresses);
    expect(after.instances).toMatchObject(before.instances);
    expect(after.interfaces).toMatchObject(before.interfaces);
    expect(after.allocations).toMatchObject(before.allocations);
    expect(Object.keys(after.allocations)).toHaveLength(60);
  } finally {
    expect(await second.interrupt()).toBe(0);
  }
});

test('without networking integration instances run, and no networking object is made', async () => {
  const running = await start(join(folder.path, 'plain'), '--feature-gates', 'NetworkingIntegration=false');
  try {
    const project = running.project();
    await project.create(Network, networkObject('default'));
    await project.create(Workload, workloadObject({ name: 'plain', replicas: 2 }));
    const instances = await running.session.until('two instances ready', async () => {
      const { items } = await project.list(Instance, { namespace: 'default' });
      const ready = items.filter((each) => isConditionTrue(each.status?.conditions, 'Ready'));
      return ready.length === 2 ? items : `${ready.length} of ${items.length} are ready`;
    });
    for (const { spec, status } of instances) {
      expect(spec?.controller?.schedulingGates ?? []).toEqual([]);
      expect(status?.networkInterfaces ?? []).toEqual([]);
    }
    const made: [Client, ResourceType[]][] = [
      [running.cell(), [NetworkInterfaceClaim, NetworkInterface, NetworkContext, Subnet]],
      [running.hub, [NetworkBinding, NetworkContext, NetworkInterface, Subnet]],
      [project, [NetworkBinding, NetworkContext, NetworkInterface, Subnet]],
    ];
    for (const [client, types] of made) {
      for (const type of types) {
        const { items } = await client.list(type);
        expect(items, `${type.kind} objects`).toEqual([]);
      }
    }
  } finally {
    await running.interrupt();
  }
});

test('a configuration file that is not right is refused in one sentence, before anything is made', async () => {
  const data = join(folder.path, 'refused');
  const file = await writeConfig(folder.path, { quietPeriodSecs: 1 });
  const { code, stderr } = await berth('up', '--data-dir', data, '--port', '0', '--config', file);
  expect(stderr).toMatch(
    /^berth: .*config\.yaml: quietPeriodSecs is not a field; known here: quietPeriodSeconds, restSeconds, .*\n$/,
  );
  expect(code).toBe(2);
  expect(existsSync(data)).toBe(false);
});

test('--help explains every flag, every field of the configuration and every gate', async () => {
  const { code, stdout } = await berth('up', '--help');
  expect(code).toBe(0);
  const said = [
    ['--cells', 'only ever adds'],
    ['--projects', 'only ever adds'],
    ['--port', '0 takes a free one'],
    ['--data-dir', 'folder that holds everything'],
    ['--in-memory', 'keep nothing'],
    ['--config', 'configuration file, YAML'],
    ['--feature-gates', 'Name=true or Name=false'],
    ['--log-level', 'standard error'],
    ['quietPeriodSeconds (default 300)', 'How long a network stays present'],
    ['restSeconds (default 60)', 'How long a freed address rests'],
    ['auditSeconds', 'How often addresses held are compared'],
    ['leases.retentionSeconds', 'How long a retained interface'],
    ['ipam.classes.networkIPv6 (default "network-ipv6")', 'IPv6 range'],
    ['ipam.classes.subnetIPv6 (default "subnet-ipv6")', 'IPv6 subnet'],
    ['ipam.classes.networkIPv4', 'Unset: it has none'],
    ['ipam.classes.subnetIPv4 (default "subnet-ipv4")', 'IPv4 subnet'],
    ['dataPlane (default "fabric")', 'What realizes interfaces'],
    ['featureGates', 'Feature gates by name'],
    ['NetworkingIntegration=true (alpha)', 'Instances claim network interfaces'],
  ] as const;
  const flat = stdout.replace(/\s+/g, ' ');
  for (const [name, explained] of said) {
    const at = flat.indexOf(name);
    expect(at, `${name} in:\n${stdout}`).toBeGreaterThanOrEqual(0);
    expect(flat.slice(at, at + 250), `what ${name} is for`).toContain(explained);
  }
});
