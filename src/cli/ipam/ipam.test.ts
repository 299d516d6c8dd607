import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { type IpamServer, startIpamServer } from '../../../test/harness/ipam-server.ts';
import { IPAllocation, IPClaim, IPClass, IPPool, NetworkInterface } from '../../api/index.ts';
import { systemClock, type Transport } from '../../kube/index.ts';
import { Event, parseTime } from '../../meta/index.ts';
import { main } from '../main.ts';
import { type Access, accessOver, failureOf, IpamFailure } from './access.ts';
import { age, render } from './output.ts';
import { type PoolRow, pools } from './pools.ts';
import { preview } from './preview.ts';
import { release } from './release.ts';
import { retained } from './retained.ts';
import { who } from './who.ts';

let server: IpamServer;
let folder: string;
let access: Access;
const labels = {
  'networking.datumapis.com/cell-uid': 'cell-1',
  'networking.datumapis.com/interface-namespace': 'ns-1',
  'networking.datumapis.com/interface-name': 'web-0-eth0',
};
const network = { apiGroup: 'networking.datumapis.com', kind: 'Network', name: 'net' };
const location = { apiGroup: 'networking.datumapis.com', kind: 'Location', name: 'here' };

/** The path of a kubeconfig's server, in front of every request. */
function at(project: string): Transport {
  const transport = server.transport();
  return {
    request: (request) => transport.request({ ...request, path: server.pathOf(project) + request.path }),
    close: () => transport.close(),
  };
}

const claim = (name: string, spec: IPClaim['spec'], extra: Partial<IPClaim['metadata']> = {}): IPClaim => ({
  apiVersion: 'ipam.miloapis.com/v1alpha1',
  kind: 'IPClaim',
  metadata: { name, namespace: 'default', ...extra },
  spec: spec!,
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-ipam-cli-'));
  server = await startIpamServer({ projects: ['alpha', 'beta'] });
  access = accessOver(at('alpha'));
  const { client } = access;
  const scope = { network, location };
  await client.create(IPClaim, claim('web-0-f-ipv6', { ipFamily: 'IPv6', scope }, { labels }));
  await client.create(IPClaim, claim('kept', { ipFamily: 'IPv4', scope, reclaimPolicy: 'Retain' }));
  for (let n = 0; n < 24; n++) {
    await client.create(IPClaim, claim(`public-${n}`, { className: 'public-unicast-ipv4' }));
  }
  await client.delete(IPClaim, { namespace: 'default', name: 'kept' });
  await client.create(IPPool, {
    apiVersion: 'ipam.miloapis.com/v1alpha1',
    kind: 'IPPool',
    metadata: { name: 'partly' },
    spec: { ipFamily: 'IPv4', cidr: '192.0.2.0/24', excludedRanges: ['192.0.2.8/30'] },
  });
  const face = (name: string, address: string, held: boolean): NetworkInterface => ({
    apiVersion: 'networking.datumapis.com/v1alpha',
    kind: 'NetworkInterface',
    metadata: {
      name,
      namespace: 'default',
      labels: {
        'networking.datumapis.com/source-namespace': 'ns-1',
        'networking.datumapis.com/location': 'here',
        // A copy names its holder in a label: `spec.claimRef` means something only in the cell.
        ...(held ? { 'networking.datumapis.com/held-by': 'web-0' } : {}),
      },
      ...(held ? {} : { annotations: { 'networking.datumapis.com/unheld-since': '2026-01-02T03:04:05Z' } }),
    },
    spec: {
      network: { name: 'net' },
      interfaceName: 'eth0',
      attachmentMode: 'Netns',
      reclaimPolicy: 'Retain',
      addresses: [{ family: 'IPv6', address, primary: true }],
    },
  });
  const publish = async (name: string, address: string, held: boolean, phase: string) => {
    const key = { namespace: 'default', name };
    await client.create(NetworkInterface, face(name, address, held));
    await client.patch(
      NetworkInterface,
      key,
      { type: 'merge', body: { status: { phase } } },
      { subresource: 'status' },
    );
  };
  await publish('web-0-eth0', 'fd20:1000::1:0:0/96', true, 'Bound');
  await publish('web-9-eth0', 'fd20:1000::9:0:0/96', false, 'Available');
  // Published before its cell has said who holds it.
  await client.create(NetworkInterface, face('web-8-eth0', 'fd20:1000::8:0:0/96', false));
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

test('pools shows how full each is, the largest free block, and the days left at the present rate', async () => {
  const { client } = access;
  for (;;) {
    // Status follows within a second.
    const pool = await client.get(IPPool, { namespace: '', name: 'public-ipv4' });
    if (pool?.status?.capacity?.allocated === '24') break;
    await systemClock.sleep(5);
  }
  const hour = 3_600_000;
  const made = (await client.get(IPPool, { namespace: '', name: 'public-ipv4' }))!.metadata.creationTimestamp;
  const report = await pools(access, parseTime(made)! + hour, false);
  const rows = report.data as PoolRow[];
  expect(rows.map((row) => row.name)).toEqual(['partly', 'private-ipv4', 'private-ipv6', 'public-ipv4']);
  expect(rows[3]).toEqual({
    name: 'public-ipv4',
    cidr: '198.51.100.0/24',
    classes: ['public-unicast-ipv4'],
    provisioned: false,
    capacity: { total: '256', allocated: '24', available: '232' },
    utilizationPercent: 9.375,
    largestFreeBlock: '/25',
    allocatedPerDay: 576,
    daysLeft: 232 / 576,
  });
  expect(render(report, 'table')).toMatch(
    /^POOL {10,}RANGE.*\n(.*\n)*public-ipv4 +198\.51\.100\.0\/24 +public-unicast-ipv4 +9\.4% +\/25 +576 +0\.4\n$/,
  );
  expect(JSON.parse(render(report, 'json'))).toEqual(rows);
  expect(((await pools(access, 0, true)).data as PoolRow[]).some((row) => row.provisioned)).toBe(true);
});

test('days left are those of the address space that fills up first, whether claims or pools are drawn from it', async () => {
  const { client } = access;
  const classOf = (name: string, spec: IPClass['spec']) =>
    client.create(IPClass, {
      apiVersion: 'ipam.miloapis.com/v1alpha1',
      kind: 'IPClass',
      metadata: { name },
      spec: spec!,
    });
  const poolOf = (name: string, cidr: string, className: string, reservedRanges: string[] = []) =>
    client.create(IPPool, {
      apiVersion: 'ipam.miloapis.com/v1alpha1',
      kind: 'IPPool',
      metadata: { name },
      spec: { ipFamily: 'IPv4', cidr, classNames: [className], reservedRanges },
    });
  await classOf('per-network', { ipFamily: 'IPv4', uniqueWithin: ['network'], defaultPrefixLength: 32 });
  await classOf('net-of-its-own', {
    ipFamily: 'IPv4',
    poolPer: ['network', 'location'],
    uniqueWithin: ['network'],
    defaultPrefixLength: 28,
  });
  await classOf('in-it', { ipFamily: 'IPv4', parentClassName: 'net-of-its-own', defaultPrefixLength: 32 });
  await poolOf('spaces', '203.0.113.0/26', 'per-network', ['203.0.113.0/30']);
  await poolOf('nets', '203.0.113.64/26', 'net-of-its-own');
  const scope = (net: string, place = 'here') => ({
    network: { ...network, name: net },
    location: { ...location, name: place },
  });
  const spread = [...Array<string>(6).fill('busy'), 'calm', 'calm', 'quiet'];
  for (const [n, net] of spread.entries()) {
    await client.create(IPClaim, claim(`space-${n}`, { className: 'per-network', scope: scope(net) }));
  }
  for (const [net, place] of [
    ['busy', 'a'],
    ['busy', 'b'],
    ['calm', 'a'],
  ] as const) {
    await client.create(IPClaim, claim(`net-${net}-${place}`, { className: 'in-it', scope: scope(net, place) }));
  }

  const made = (await client.get(IPPool, { namespace: '', name: 'nets' }))!.metadata.creationTimestamp;
  const day = 86_400_000;
  const rows = (await pools(access, parseTime(made)! + day, true)).data as PoolRow[];
  const row = (name: string) => rows.find((each) => each.name === name);
  // Of 64 addresses 4 are reserved; 6 of the others are held on the network that takes most, though 9 were handed out.
  expect(row('spaces')?.allocatedPerDay).toBeCloseTo(6, 2);
  expect(row('spaces')?.daysLeft).toBeCloseTo((64 - 4 - 6) / 6, 2);
  expect(row('nets')?.allocatedPerDay).toBeCloseTo(32, 2);
  expect(row('nets')?.daysLeft).toBeCloseTo((64 - 32) / 32, 2);
  const later = (await pools(access, parseTime(made)! + 8 * day, true)).data as PoolRow[];
  expect(later.find((each) => each.name === 'spaces')).toMatchObject({ allocatedPerDay: 0, daysLeft: null });
});

test('who says which claim and interface hold an address, by any address of the block', async () => {
  const report = await who(access, 'fd20:1000::1:0:7', 0);
  expect(report.data).toMatchObject({
    address: 'fd20:1000::1:0:7',
    holders: [
      {
        allocation: { cidr: 'fd20:1000::1:0:0/96', purpose: 'Claim' },
        claim: { namespace: 'default', name: 'web-0-f-ipv6' },
        interface: {
          cellUID: 'cell-1',
          namespace: 'ns-1',
          name: 'web-0-eth0',
          copy: { name: 'web-0-eth0', heldBy: 'web-0', location: 'here' },
        },
      },
    ],
  });
  expect((await who(access, 'fd20:1000::1', 0)).rows[0]?.[2]).toBe('Reservation');
});

test.each([
  ['10.0.0', 2, 'is no IP address'],
  ['8.8.8.8', 3, 'nobody holds 8.8.8.8: it lies in no IPPool of this project'],
  ['198.51.100.200', 3, 'it is free or rests in IPPool "public-ipv4" (198.51.100.0/24)'],
  ['192.0.2.8', 3, 'nobody holds 192.0.2.8: 192.0.2.8/30 is excluded by IPPool "partly" (192.0.2.0/24)'],
])('who %s ends with %i', async (address, code, message) => {
  const failure = await who(access, address, 0).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(IpamFailure);
  expect(failure).toMatchObject({ code, message: expect.stringContaining(message) });
});

test('retained lists unheld interfaces and allocations without a claim, and since when', async () => {
  const { data } = await retained(access, 0);
  expect(data).toEqual([
    {
      address: 'fd20:1000::9:0:0/96',
      kind: 'NetworkInterface',
      namespace: 'default',
      name: 'web-9-eth0',
      network: 'net',
      location: 'here',
      since: '2026-01-02T03:04:05Z',
    },
    expect.objectContaining({ address: '10.128.0.2/32', kind: 'IPAllocation', since: expect.stringMatching(/Z$/) }),
  ]);
  const none = await retained(accessOver(at('beta')), 0);
  expect(render(none, 'table')).toBe('Nothing is retained.\n');
  expect(render(none, 'yaml')).toBe('[]\n');
});

test('preview says what each claim would get, or why none, and keeps nothing', async () => {
  const file = join(folder, 'claims.yaml');
  const document = (name: string, className: string) =>
    `apiVersion: ipam.miloapis.com/v1alpha1\nkind: IPClaim\nmetadata: {name: ${name}}\nspec: {className: ${className}}\n`;
  await writeFile(file, `${document('one', 'public-unicast-ipv4')}---\n${document('two', 'nope')}`);
  const before = (await access.client.list(IPClaim)).items.length;
  const { report, refused } = await preview(access, file, 'default');
  expect(refused).toBe(true);
  expect(report.data).toMatchObject([
    { namespace: 'default', name: 'one', allocatedCIDR: '198.51.100.24/32', pool: 'public-ipv4' },
    { name: 'two', refused: { code: 400, cause: 'ClassNotFound' } },
  ]);
  expect((await access.client.list(IPClaim)).items.length).toBe(before);

  const wrong = async (text: string) => {
    await writeFile(file, text);
    return preview(access, file, 'default').catch((error: unknown) => error);
  };
  expect(await wrong('kind: Pod\napiVersion: v1\nmetadata: {name: x}\n')).toMatchObject({ code: 2 });
  expect(await wrong('a: [')).toMatchObject({ code: 2, message: expect.stringContaining('is not YAML') });
  expect(await wrong('')).toMatchObject({ code: 2, message: expect.stringContaining('has no IPClaim') });
  expect(await wrong('hello')).toMatchObject({
    message: expect.stringContaining('has something without a kind; only'),
  });
  expect(await wrong(`${document('{}', 'x')}---\nnull\n`)).toMatchObject({
    message: expect.stringContaining('has an IPClaim without metadata.name'),
  });
  const bomb = [
    'a: &a [1,1,1,1,1,1,1,1,1,1]',
    ...['b', 'c', 'd'].map((each, n) => `${each}: &${each} [${Array(10).fill(`*${'abc'[n]}`)}]`),
  ];
  expect(await wrong(bomb.join('\n'))).toMatchObject({ code: 2, message: expect.stringContaining('is not YAML: ') });
  expect(await preview(access, join(folder, 'none'), 'default').catch((error: unknown) => error)).toMatchObject({
    code: 2,
    message: expect.stringContaining('ENOENT'),
  });
});

test('preview takes what kubectl takes: a List, and names the server makes; a namespace that is not there is a refusal', async () => {
  const file = join(folder, 'list.yaml');
  const one = { ...claim('', { className: 'public-unicast-ipv4' }), metadata: { generateName: 'made-' } };
  const lost = claim('lost', { className: 'public-unicast-ipv4' }, { namespace: 'nowhere' });
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [one, lost] }));
  const { report, refused } = await preview(access, file, 'default');
  expect(refused).toBe(true);
  expect(report.data).toEqual([
    { namespace: 'default', name: 'made-*', allocatedCIDR: '198.51.100.24/32', pool: 'public-ipv4' },
    { namespace: 'nowhere', name: 'lost', refused: { code: 404, message: 'namespaces "nowhere" not found' } },
  ]);
});

test('json and yaml say all that each command found', async () => {
  const file = join(folder, 'one.yaml');
  await writeFile(file, JSON.stringify(claim('x', { className: 'none' })));
  await access.client.create(IPClaim, claim('spare', { className: 'public-unicast-ipv4' }));
  const reports = {
    pools: await pools(access, 0, true),
    who: await who(access, 'fd20:1000::1:0:7', 0),
    retained: await retained(access, 0),
    preview: (await preview(access, file, 'default')).report,
    release: await release(access, 'default', 'spare', async () => true),
  };
  for (const [command, report] of Object.entries(reports)) {
    const data = JSON.parse(JSON.stringify(report.data)) as unknown;
    expect(Object.keys(data as object).length, command).toBeGreaterThan(0);
    expect(JSON.parse(render(report, 'json')), command).toEqual(data);
    expect(parse(render(report, 'yaml')), command).toEqual(data);
  }
});

test('what IPAM refuses to release ends with 4 and says why', async () => {
  const bound = (await access.client.list(IPAllocation)).items.find(
    (each) => each.spec?.claimRef?.name === 'web-0-f-ipv6',
  )!;
  let asked = false;
  const ask = async () => {
    asked = true;
    return true;
  };
  const refused = await release(access, 'default', bound.metadata.name, ask).catch((error: unknown) =>
    failureOf(error, undefined),
  );
  expect(refused).toMatchObject({ code: 4, message: expect.stringContaining('delete the claim') });
  expect(asked).toBe(false);
  const told = (await access.client.list(Event)).items.filter(
    ({ regarding }) => regarding?.name === bound.metadata.name,
  );
  expect(told).toEqual([]);
});

test('release asks first, says what depends on it, and leaves an Event', async () => {
  const asked: string[] = [];
  const answer = (yes: boolean) => async (question: string) => {
    asked.push(question);
    return yes;
  };
  const declined = await release(access, 'default', 'web-0-f-ipv6', answer(false)).catch((error: unknown) => error);
  expect(declined).toMatchObject({ code: 5, message: expect.stringContaining('still holds fd20:1000::1:0:0/96') });
  expect(asked[0]).toContain('NetworkInterface "ns-1/web-0-eth0" of cell cell-1 uses it, held by claim "web-0"');
  await release(access, 'default', 'web-0-f-ipv6', answer(true));
  expect(await access.client.get(IPClaim, { namespace: 'default', name: 'web-0-f-ipv6' })).toBeUndefined();
  const events = (await access.client.list(Event)).items.filter(
    ({ reason, regarding }) => reason === 'AddressReleased' && regarding?.name === 'web-0-f-ipv6',
  );
  expect(events).toMatchObject([
    {
      type: 'Normal',
      regarding: { kind: 'IPClaim', name: 'web-0-f-ipv6', namespace: 'default' },
      note: expect.stringContaining('fd20:1000::1:0:0/96 of IPClaim "web-0-f-ipv6" is released by hand'),
    },
  ]);

  const kept = ((await retained(access, 0)).data as { kind: string; name: string }[]).find(
    (row) => row.kind === 'IPAllocation',
  )!;
  await release(access, 'default', kept.name, answer(true));
  expect((await retained(access, 0)).rows).toHaveLength(1);
  expect(await release(access, 'default', 'nothing', answer(true)).catch((error: unknown) => error)).toMatchObject({
    code: 3,
    message: expect.stringContaining('neither an IPClaim nor an IPAllocation named "nothing"'),
  });
});

test('where IPAM is served alone, there are no interfaces to tell of', async () => {
  const alone: Transport = {
    ...at('beta'),
    request: (request) =>
      request.path.includes('/networkinterfaces') ? server.transport().request(request) : at('beta').request(request),
  };
  const only = accessOver(alone);
  await only.client.create(IPClaim, claim('mine', { className: 'public-unicast-ipv4' }, { labels }));
  expect((await who(only, '203.0.113.0', 0)).data).toMatchObject({ holders: [{ interface: { name: 'web-0-eth0' } }] });
  expect((await retained(only, 0)).rows).toEqual([]);
  await release(only, 'default', 'mine', async () => true);
  expect(await only.client.list(IPClaim)).toMatchObject({ items: [] });
});

test('every allocation is read, however long that takes: where a page is too old, from what is newest', async () => {
  let expired = false;
  const slow: Transport = {
    ...at('alpha'),
    async request(request) {
      if (!request.path.includes('continue=') || expired) return at('alpha').request(request);
      expired = true;
      const next = new URL(request.path, 'http://x').searchParams.get('continue');
      const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 410, metadata: { continue: next } };
      return {
        ...(await at('alpha').request(request)),
        status: 410,
        body: [Buffer.from(JSON.stringify(status))] as never,
      };
    },
  };
  const read: string[] = [];
  for await (const each of accessOver(slow, 7).allocations()) read.push(each.metadata.name);
  expect(expired).toBe(true);
  expect(read.length).toBe((await access.client.list(IPAllocation)).items.length);
});

test('a plane without IPAM, and a server that does not answer, are told in one sentence', async () => {
  const root = accessOver(server.transport());
  const error = await pools(root, 0, false).catch((reason: unknown) => reason);
  expect(failureOf(error, 'hub')).toMatchObject({ code: 1, message: expect.stringContaining('serves no IPAM') });
  const refused = Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });
  expect(failureOf(refused, undefined).message).toBe(
    'the server does not answer (ECONNREFUSED): is the platform running?',
  );
});

test.each([
  ['no kubeconfig there', ['ipam', 'pools', '--kubeconfig', '/none/such'], 'kubeconfig /none/such: ENOENT'],
  ['an unknown format', ['ipam', 'pools', '-o', 'xml'], "argument 'xml' is invalid"],
  ['no address', ['ipam', 'who'], "missing required argument 'address'"],
])('%s is told in one sentence, with exit code 2', async (_, args, message) => {
  let said = '';
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  expect(await main(args)).toBe(2);
  write.mockRestore();
  expect(said).toContain(message);
});

test.each([
  ['2026-01-01T00:00:00Z', '3d4h'],
  ['2026-01-04T02:55:00Z', '1h5m'],
  ['2026-01-04T03:59:30Z', '30s'],
  [undefined, '-'],
])('an age since %s reads %s', (since, text) => {
  expect(age(since, 1_767_499_200_000)).toBe(text);
});
