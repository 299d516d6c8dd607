import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CustomResourceDefinition } from '../../src/meta/index.ts';
import { Kubectl, rowsOf } from '../e2e/support/kubectl.ts';
import { usePlatform } from '../e2e/support/platform.ts';
import { run } from '../harness/process.ts';
import { type KubectlFile, kubectls } from './support/kubectls.ts';
import { widget, widgetDefinition, widgetType } from './support/widgets.ts';

// Every kubectl of this machine does everything it can do, each in a namespace of its own on one platform.

const running = usePlatform({ restSeconds: 0 });
const found = kubectls();
let done = 0;

beforeAll(async () => {
  await running().project().create(CustomResourceDefinition, widgetDefinition);
});
afterAll(() => {
  console.log(`${done} steps by ${found.length} kubectls: ${found.map(({ version }) => version).join(', ')}`);
});

test('there is a kubectl on this machine', () => {
  expect(found.length).toBeGreaterThan(0);
});

/** What a step is done with. */
class Hand {
  readonly namespace: string;
  readonly minor: number;
  readonly kubectl: Kubectl;

  constructor(file: KubectlFile, minor: number) {
    this.minor = minor;
    this.namespace = `kubectl-${file.version.replace(/\W/g, '-').toLowerCase()}`;
    this.kubectl = new Kubectl(running(), 'project-alpha', file.file);
  }

  /** Standard output of a command in the namespace; throws where it fails. */
  run(...args: string[]): Promise<string> {
    return this.kubectl.run('-n', this.namespace, ...args);
  }

  /** Likewise, the manifest being its input. */
  async feed(manifest: object, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.feedAnyway(manifest, ...args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  }

  feedAnyway(manifest: object, ...args: string[]) {
    return this.kubectl.try(['-n', this.namespace, ...args, '-f', '-'], JSON.stringify(manifest));
  }

  /** What it says where it must fail. */
  async refused(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.kubectl.try(['-n', this.namespace, ...args]);
    if (code === 0) throw new Error(`kubectl ${args.join(' ')} was accepted: ${stdout}`);
    return stderr;
  }

  field(path: string, ...what: string[]): Promise<string> {
    return this.run('get', ...what, '-o', `jsonpath={${path}}`);
  }

  /** A file or folder for commands that want one. */
  file(name: string, content: string): string {
    const path = join(dirname(running().process.kubeconfig), this.namespace, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }
}

interface Step {
  name: string;
  /** Minor version of kubectl that can first do it. */
  since?: number;
  run(hand: Hand): Promise<void>;
}

const dependent = (name: string, owner: string, uid: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    ownerReferences: [
      { apiVersion: 'clients.example.com/v1', kind: 'Widget', name: owner, uid, blockOwnerDeletion: true },
    ],
  },
});

/** A widget `owner` and a ConfigMap of the same name that it owns. */
async function family(hand: Hand, owner: string): Promise<void> {
  await hand.feed(widget(owner), 'create');
  const uid = await hand.field('.metadata.uid', 'widget', owner);
  await hand.feed(dependent(owner, owner, uid), 'create');
}

const gone = (hand: Hand, what: string) =>
  expect.poll(() => hand.run('get', what, '--ignore-not-found'), { timeout: 30_000 }).toBe('');

const steps: Step[] = [
  {
    name: 'version',
    async run(hand) {
      const { serverVersion } = JSON.parse(await hand.run('version', '-o', 'json')) as {
        serverVersion: { major: string };
      };
      expect(serverVersion.major).toBe('1');
    },
  },
  {
    name: 'api-versions and api-resources',
    async run(hand) {
      expect((await hand.run('api-versions')).split('\n')).toEqual(
        expect.arrayContaining(['v1', 'networking.datumapis.com/v1alpha', 'rbac.authorization.k8s.io/v1']),
      );
      const rows = rowsOf(await hand.run('api-resources', '--namespaced=true', '-o', 'wide'));
      expect(rows.find(({ NAME }) => NAME === 'widgets')).toMatchObject({
        SHORTNAMES: 'wd',
        KIND: 'Widget',
        NAMESPACED: 'true',
      });
      expect(await hand.run('api-resources', '--api-group=clients.example.com', '-o', 'name')).toBe(
        'widgets.clients.example.com\n',
      );
    },
  },
  {
    name: 'create namespace, configmap, secret, from a file, without doing it',
    async run(hand) {
      expect(await hand.kubectl.run('create', 'namespace', hand.namespace)).toBe(
        `namespace/${hand.namespace} created\n`,
      );
      expect(await hand.run('create', 'configmap', 'settings', '--from-literal=a=b')).toBe(
        'configmap/settings created\n',
      );
      expect(await hand.run('create', 'secret', 'generic', 'hidden', '--from-literal=a=b')).toBe(
        'secret/hidden created\n',
      );
      expect(await hand.run('create', 'configmap', 'no', '--dry-run=server', '-o', 'name')).toBe('configmap/no\n');
      expect(await hand.run('create', 'configmap', 'no', '--dry-run=client', '-o', 'yaml')).toContain(
        'kind: ConfigMap',
      );
      expect(await hand.refused('get', 'configmap', 'no')).toContain('configmaps "no" not found');
      expect(await hand.feed(widget('made', { color: 'red' }), 'create')).toBe(
        'widget.clients.example.com/made created\n',
      );
      expect((await hand.feedAnyway(widget('made'), 'create')).stderr).toContain(
        'widgets.clients.example.com "made" already exists',
      );
    },
  },
  {
    name: 'apply, client-side',
    async run(hand) {
      const applied = (color: string, more = {}) => hand.feed(widget('applied', { color, ...more }), 'apply');
      expect(await applied('blue', { replicas: 3 })).toBe('widget.clients.example.com/applied created\n');
      expect(await applied('blue', { replicas: 3 })).toBe('widget.clients.example.com/applied unchanged\n');
      expect(await applied('green')).toBe('widget.clients.example.com/applied configured\n');
      expect(await hand.field('.spec', 'widget', 'applied')).toBe('{"color":"green"}');
      expect((await hand.feedAnyway(widget('applied', { colour: 'green' }), 'apply')).stderr).toContain('colour');
      expect((await hand.feedAnyway(widget('applied', { color: 'mauve' }), 'apply')).stderr).toContain('no mauve');
      expect(await hand.run('apply', 'view-last-applied', 'widget/applied', '-o', 'json')).toContain(
        '"color": "green"',
      );
    },
  },
  {
    name: 'apply, server-side, with conflicts',
    async run(hand) {
      const apply = (object: object, ...args: string[]) => hand.feedAnyway(object, 'apply', '--server-side', ...args);
      expect((await apply(widget('shared', { color: 'blue' }), '--field-manager=one')).stdout).toBe(
        'widget.clients.example.com/shared serverside-applied\n',
      );
      const { code, stderr } = await apply(widget('shared', { color: 'green' }), '--field-manager=two');
      expect([code, stderr]).toEqual([1, expect.stringMatching(/conflict with "one".*\.spec\.color/s)]);
      expect((await apply(widget('shared', { color: 'green' }), '--field-manager=two', '--force-conflicts')).code).toBe(
        0,
      );
      expect(await hand.field('.spec.color', 'widget', 'shared')).toBe('green');
      expect(await hand.field('.metadata.managedFields[*].manager', 'widget', 'shared')).toBe('two');
    },
  },
  {
    name: 'apply -k',
    async run(hand) {
      const resources = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"base"}}';
      hand.file('overlay/base.json', resources);
      const kustomization = hand.file('overlay/kustomization.yaml', 'resources: [base.json]\nnamePrefix: pre-\n');
      expect(await hand.run('apply', '-k', dirname(kustomization))).toBe('configmap/pre-base created\n');
    },
  },
  {
    name: 'get, in every output form',
    async run(hand) {
      const get = (...args: string[]) => hand.run('get', 'wd', 'applied', ...args);
      expect(rowsOf(await get())).toEqual([
        { NAME: 'applied', COLOR: 'green', AGE: expect.stringMatching(/^\d+[sm]/) },
      ]);
      expect(Object.keys(rowsOf(await get('-o', 'wide'))[0]!)).toEqual(['NAME', 'COLOR', 'REPLICAS', 'AGE']);
      expect(JSON.parse(await get('-o', 'json'))).toMatchObject({ kind: 'Widget', spec: { color: 'green' } });
      expect(await get('-o', 'yaml')).toMatch(/^apiVersion: clients\.example\.com\/v1\nkind: Widget\n/);
      expect(await get('-o', 'name')).toBe('widget.clients.example.com/applied\n');
      expect(await get('-o', 'jsonpath={.kind} {.spec.color}')).toBe('Widget green');
      expect(await get('-o', 'go-template={{.kind}} {{.spec.color}}')).toBe('Widget green');
      expect(rowsOf(await get('-o', 'custom-columns=WHO:.metadata.name,HOW:.spec.color'))).toEqual([
        { WHO: 'applied', HOW: 'green' },
      ]);
      expect(await get('--no-headers')).toMatch(/^applied +green/);
      expect(await get('--show-labels')).toContain('<none>');
      expect(await get('-L', 'tier')).toContain('TIER');
      expect(await hand.run('get', 'wd,configmaps', '-o', 'name')).toContain('configmap/settings');
    },
  },
  {
    name: 'get, selecting, sorting, in pages, raw, and what is not there',
    async run(hand) {
      const names = async (...args: string[]) =>
        (await hand.run('get', 'wd', '-o', 'name', ...args))
          .trim()
          .split('\n')
          .map((line) => line.split('/')[1]);
      await hand.run('label', 'wd', 'made', 'tier=front');
      expect(await names('-l', 'tier in (front)')).toEqual(['made']);
      expect(await names('--field-selector', 'metadata.name=shared')).toEqual(['shared']);
      expect(await names('--field-selector', 'spec.color=red')).toEqual(['made']);
      expect(await names('--sort-by=.spec.color')).toEqual(['applied', 'shared', 'made']);
      expect(await names('--chunk-size=1')).toEqual(['applied', 'made', 'shared']);
      expect(await hand.run('get', 'wd', '-A')).toContain(hand.namespace);
      expect(await hand.refused('get', 'wd', 'nobody')).toBe(
        'Error from server (NotFound): widgets.clients.example.com "nobody" not found\n',
      );
      expect(await hand.run('get', 'wd', 'nobody', '--ignore-not-found')).toBe('');
      expect(await hand.refused('get', 'pods')).toContain(`the server doesn't have a resource type "pods"`);
      // What follows a plane's path is the plane's.
      expect(await hand.run('get', '--raw', '/livez')).toBe('ok');
    },
  },
  {
    name: 'get --watch',
    async run(hand) {
      const watching = hand.kubectl.try([
        '-n',
        hand.namespace,
        'get',
        'wd',
        'made',
        '--watch',
        '-o',
        'name',
        '--request-timeout=2s',
      ]);
      await hand.run('annotate', 'wd', 'made', 'seen=once');
      const { stdout } = await watching;
      expect(stdout).toContain('widget.clients.example.com/made');
    },
  },
  {
    name: 'describe, and events',
    async run(hand) {
      expect(await hand.run('describe', 'wd', 'applied')).toMatch(
        /Name: +applied\n[\s\S]*Spec:\n +Color: +green\nEvents: +<none>/,
      );
      const uid = await hand.field('.metadata.uid', 'wd', 'applied');
      const event = {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'applied.1' },
        involvedObject: {
          apiVersion: 'clients.example.com/v1',
          kind: 'Widget',
          name: 'applied',
          namespace: hand.namespace,
          uid,
        },
        reason: 'Painted',
        message: 'it is green now',
        type: 'Normal',
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        source: { component: 'painter' },
      };
      await hand.feed(event, 'create');
      expect(await hand.run('describe', 'wd', 'applied')).toMatch(/Normal +Painted .*painter +it is green now/);
      expect(await hand.run('get', 'events', '--field-selector', 'involvedObject.name=applied')).toContain(
        'it is green now',
      );
      expect(await hand.run('describe', 'configmap', 'settings')).toContain('a:\n----\nb');
      expect(await hand.run('describe', 'namespace', hand.namespace)).toContain('Active');
    },
  },
  {
    name: 'events',
    since: 26,
    async run(hand) {
      expect(await hand.run('events', '--for', 'widget/applied')).toMatch(
        /Normal +Painted +Widget\/applied +it is green now/,
      );
    },
  },
  {
    name: 'explain, also recursively',
    async run(hand) {
      expect(await hand.run('explain', 'widgets')).toContain('What is painted.');
      expect(await hand.run('explain', 'wd.spec.color')).toMatch(/color <string>|FIELD: +color <string>/);
      const recursive = await hand.run('explain', 'widgets', '--recursive');
      expect(recursive).toMatch(/spec\s+<Object>[\s\S]*replicas\s+<integer>/);
      expect(await hand.run('explain', 'workload.spec.placements')).toContain('scaleSettings');
      expect(await hand.run('explain', 'configmap.data')).toContain('data');
      expect(await hand.refused('explain', 'wd.spec.no')).toContain('"no" does not exist');
    },
  },
  {
    name: 'patch, of every type',
    async run(hand) {
      const patch = (type: string, body: unknown, target = 'wd/made') =>
        hand.run('patch', target, `--type=${type}`, '-p', JSON.stringify(body));
      expect(await patch('merge', { spec: { color: 'blue' } })).toBe('widget.clients.example.com/made patched\n');
      expect(await patch('merge', { spec: { color: 'blue' } })).toBe(
        'widget.clients.example.com/made patched (no change)\n',
      );
      await patch('json', [{ op: 'replace', path: '/spec/color', value: 'red' }]);
      expect(await hand.field('.spec.color', 'wd', 'made')).toBe('red');
      await patch('strategic', { data: { a: null, c: 'd' } }, 'configmap/settings');
      expect(await hand.field('.data', 'configmap', 'settings')).toBe('{"c":"d"}');
      expect(await hand.refused('patch', 'wd', 'made', '--type=strategic', '-p', '{}')).toMatch(
        /not supported|unknown format/,
      );
      expect(
        await hand.refused(
          'patch',
          'wd',
          'made',
          '--type=json',
          '-p',
          '[{"op":"test","path":"/spec/color","value":"no"}]',
        ),
      ).toContain('The request is invalid');
    },
  },
  {
    name: 'patch and get of a subresource',
    since: 24,
    async run(hand) {
      await hand.run('patch', 'wd', 'made', '--subresource=status', '--type=merge', '-p', '{"status":{"phase":"Dry"}}');
      expect(await hand.field('.status.phase', 'wd', 'made', '--subresource=status')).toBe('Dry');
    },
  },
  {
    name: 'diff',
    async run(hand) {
      const changed = await hand.feedAnyway(widget('applied', { color: 'blue' }), 'diff');
      expect(changed.code).toBe(1);
      expect(changed.stdout).toMatch(/-\s+color: green\n\+\s+color: blue/);
      expect(await hand.feedAnyway(widget('applied', { color: 'green' }), 'diff')).toMatchObject({
        code: 0,
        stdout: '',
      });
      expect(
        (await hand.feedAnyway(widget('shared', { color: 'red' }), 'diff', '--server-side', '--field-manager=two'))
          .stdout,
      ).toMatch(/\+\s+color: red/);
    },
  },
  {
    name: 'edit',
    async run(hand) {
      const env = { KUBE_EDITOR: 'sed -i s/green/blue/' };
      const { code, stdout } = await hand.kubectl.try(['-n', hand.namespace, 'edit', 'wd', 'shared'], '', env);
      expect([code, stdout]).toEqual([0, 'widget.clients.example.com/shared edited\n']);
      expect(await hand.field('.spec.color', 'wd', 'shared')).toBe('blue');
    },
  },
  {
    name: 'replace, also by force',
    async run(hand) {
      expect(await hand.feed(widget('shared', { color: 'red' }), 'replace')).toBe(
        'widget.clients.example.com/shared replaced\n',
      );
      const old = widget('shared', { color: 'blue' }, { resourceVersion: '1' });
      expect((await hand.feedAnyway(old, 'replace')).stderr).toContain('the object has been modified');
      const uid = await hand.field('.metadata.uid', 'wd', 'shared');
      await hand.feed(widget('shared', { color: 'red' }), 'replace', '--force');
      expect(await hand.field('.metadata.uid', 'wd', 'shared')).not.toBe(uid);
    },
  },
  {
    name: 'label and annotate',
    async run(hand) {
      expect(await hand.run('label', 'wd', 'made', 'a=b')).toBe('widget.clients.example.com/made labeled\n');
      expect(await hand.refused('label', 'wd', 'made', 'a=c')).toContain('--overwrite is false');
      await hand.run('label', 'wd', 'made', 'a=c', '--overwrite');
      expect(await hand.field('.metadata.labels.a', 'wd', 'made')).toBe('c');
      await hand.run('label', 'wd', '--all', 'a-', 'every=one');
      expect(await hand.field('.metadata.labels', 'wd', 'made')).toBe('{"every":"one","tier":"front"}');
      expect(await hand.run('annotate', 'wd', 'made', 'note=this')).toContain('annotate');
      await hand.run('annotate', 'wd', 'made', 'note-');
      expect(await hand.field('.metadata.annotations.note', 'wd', 'made')).toBe('');
      expect(await hand.refused('label', 'wd', 'made', 'not a label=x')).not.toBe('');
    },
  },
  {
    name: 'scale, and what nothing here can do: rollout, logs, exec, run',
    async run(hand) {
      expect(await hand.run('scale', 'wd', 'made', '--replicas=4')).toContain('scaled');
      expect(await hand.field('.spec.replicas', 'wd', 'made')).toBe('4');
      expect(await hand.refused('scale', 'wd', 'made', '--current-replicas=9', '--replicas=1')).toContain(
        'replicas to be 9',
      );
      expect(await hand.refused('scale', 'configmap', 'settings', '--replicas=1')).not.toBe('');
      expect(await hand.refused('rollout', 'status', 'wd/made')).toMatch(
        /no status viewer|no kind "Widget" is registered/,
      );
      expect(await hand.refused('logs', 'some-pod')).toMatch(
        /could not find the requested resource|doesn't have a resource type "pods"|not found/,
      );
      expect(await hand.refused('exec', 'some-pod', '--', 'true')).not.toBe('');
      expect(await hand.refused('run', 'some-pod', '--image=x')).not.toBe('');
    },
  },
  {
    name: 'wait, for a condition and a deletion',
    async run(hand) {
      const conditions = [
        { type: 'Ready', status: 'True', reason: 'Painted', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ];
      const waiting = hand.run('wait', 'wd/applied', '--for=condition=Ready', '--timeout=60s');
      await hand.run('get', 'wd', 'applied');
      await running()
        .project()
        .patch(
          widgetType,
          { namespace: hand.namespace, name: 'applied' },
          { type: 'merge', body: { status: { conditions } } },
          { subresource: 'status' },
        );
      expect(await waiting).toBe('widget.clients.example.com/applied condition met\n');
      expect(await hand.refused('wait', 'wd/made', '--for=condition=Ready', '--timeout=1s')).toContain(
        'timed out waiting',
      );
      await hand.feed(widget('waited'), 'create');
      const going = hand.run('wait', 'wd/waited', '--for=delete', '--timeout=60s');
      await hand.run('delete', 'wd', 'waited', '--wait=false');
      await going;
    },
  },
  {
    name: 'wait, for a value',
    since: 23,
    async run(hand) {
      expect(await hand.run('wait', 'wd/made', '--for=jsonpath={.spec.color}=red', '--timeout=30s')).toBe(
        'widget.clients.example.com/made condition met\n',
      );
    },
  },
  {
    name: 'auth can-i',
    async run(hand) {
      expect(await hand.run('auth', 'can-i', 'create', 'widgets')).toBe('yes\n');
      expect(await hand.run('auth', 'can-i', '--list')).toContain('*.*');
    },
  },
  {
    name: 'auth whoami',
    since: 28,
    async run(hand) {
      expect(await hand.run('auth', 'whoami')).toMatch(/Username/);
    },
  },
  {
    name: 'delete, background: dependents go after the owner',
    async run(hand) {
      await family(hand, 'background');
      expect(await hand.run('delete', 'wd', 'background', '--cascade=background')).toContain('deleted');
      await gone(hand, 'configmap/background');
    },
  },
  {
    name: 'delete, foreground: dependents go before the owner',
    async run(hand) {
      await family(hand, 'foreground');
      expect(await hand.run('delete', 'wd', 'foreground', '--cascade=foreground', '--timeout=60s')).toContain(
        'deleted',
      );
      expect(await hand.run('get', 'wd/foreground', 'configmap/foreground', '--ignore-not-found')).toBe('');
    },
  },
  {
    name: 'delete, orphan: dependents stay, owned by nobody',
    async run(hand) {
      await family(hand, 'orphan');
      expect(await hand.run('delete', 'wd', 'orphan', '--cascade=orphan', '--timeout=60s')).toContain('deleted');
      expect(await hand.field('.metadata.ownerReferences', 'configmap', 'orphan')).toBe('');
      expect(await hand.run('get', 'configmap', 'orphan', '-o', 'name')).toBe('configmap/orphan\n');
    },
  },
  {
    name: 'delete, without doing it, by label, what is not there, all, and the namespace',
    async run(hand) {
      expect(await hand.run('delete', 'wd', 'made', '--dry-run=server')).toContain('(server dry run)');
      expect(await hand.run('delete', 'wd', '-l', 'tier=front', '--timeout=60s')).toContain('"made" deleted');
      expect(await hand.refused('delete', 'wd', 'made')).toContain('not found');
      await hand.run('delete', 'wd', '--all', '--timeout=60s');
      expect(await hand.run('get', 'wd', '-o', 'name')).toBe('');
      await hand.kubectl.run('delete', 'namespace', hand.namespace, '--timeout=100s');
      expect(await hand.refused('get', 'configmap', 'settings')).toContain('not found');
    },
  },
];

describe.each(found)('kubectl $version', (file) => {
  let hand: Hand;
  beforeAll(async () => {
    const { stdout } = await run(file.file, ['version', '--client', '-o', 'json']);
    const { clientVersion } = JSON.parse(stdout) as { clientVersion: { minor: string } };
    hand = new Hand(file, Number.parseInt(clientVersion.minor, 10));
  });

  for (const step of steps.filter(
    ({ since }) => since === undefined || file.minor === undefined || file.minor >= since,
  )) {
    test(step.name, async () => {
      if (step.since !== undefined && hand.minor < step.since) return;
      await step.run(hand);
      done++;
    });
  }
});
