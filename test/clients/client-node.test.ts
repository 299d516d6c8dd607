import * as k8s from '@kubernetes/client-node';
import { KubeConfig } from '@kubernetes/client-node';
import { beforeAll, describe, expect, it } from 'vitest';
import { CustomResourceDefinition } from '../../src/meta/index.ts';
import { usePlatform } from '../e2e/support/platform.ts';
import { type Widget, widget, widgetDefinition } from './support/widgets.ts';

// The official JavaScript client, set up by the kubeconfig that the platform wrote.

const running = usePlatform({ restSeconds: 0 });
const namespace = 'default';
const group = 'clients.example.com';
const version = 'v1';
const place = { group, version, namespace, plural: 'widgets' };

let config: KubeConfig;
let core: k8s.CoreV1Api;
let custom: k8s.CustomObjectsApi;

beforeAll(async () => {
  await running().project().create(CustomResourceDefinition, widgetDefinition);
  config = configOf('project-alpha');
  core = config.makeApiClient(k8s.CoreV1Api);
  custom = config.makeApiClient(k8s.CustomObjectsApi);
});

function configOf(context: string): KubeConfig {
  const loaded = new KubeConfig();
  loaded.loadFromFile(running().process.kubeconfig);
  loaded.setCurrentContext(context);
  return loaded;
}

/** What the server answered to a call that must fail. */
async function refusal(call: Promise<unknown>): Promise<{ code: number; reason: string }> {
  const error = await call.then(
    () => {
      throw new Error('it was accepted');
    },
    (thrown: k8s.ApiException<string>) => thrown,
  );
  return { code: error.code, reason: (JSON.parse(error.body) as { reason: string }).reason };
}

describe('the kubeconfig', () => {
  it('is read, and each of its contexts reaches its plane with its own user', async () => {
    expect(config.getContexts().map(({ name }) => name)).toEqual(
      expect.arrayContaining(['root', 'hub', 'project-alpha']),
    );
    for (const { name } of config.getContexts()) {
      const { items } = await configOf(name).makeApiClient(k8s.CoreV1Api).listNamespace();
      expect(items.map((item) => item.metadata?.name)).toContain('default');
    }
  });

  it('whose token is wrong is refused with 401', async () => {
    const spoiled = configOf('project-alpha');
    const user = spoiled.getCurrentUser()!;
    const rest = spoiled.users.filter(({ name }) => name !== user.name);
    spoiled.users = [...rest, { name: user.name, token: 'no-such-token' }];
    // Of a 401 this client keeps no body.
    await expect(spoiled.makeApiClient(k8s.CoreV1Api).listNamespace()).rejects.toMatchObject({ code: 401 });
  });

  it('tells the version and what is served', async () => {
    expect((await config.makeApiClient(k8s.VersionApi).getCode()).major).toBe('1');
    const groups = (await config.makeApiClient(k8s.ApisApi).getAPIVersions()).groups.map(({ name }) => name);
    expect(groups).toEqual(expect.arrayContaining([group, 'networking.datumapis.com', 'coordination.k8s.io']));
    const { resources } = await config.makeApiClient(k8s.CoreV1Api).getAPIResources();
    expect(resources.map(({ name }) => name)).toContain('configmaps');
  });
});

describe('typed built-in kinds', () => {
  it('are created, read, listed, replaced, patched and deleted', async () => {
    const made = await core.createNamespacedConfigMap({
      namespace,
      body: { metadata: { name: 'typed' }, data: { a: 'b' } },
    });
    expect(made.metadata?.creationTimestamp).toBeInstanceOf(Object);
    const read = await core.readNamespacedConfigMap({ name: 'typed', namespace });
    expect(read.data).toEqual({ a: 'b' });
    read.data = { a: 'c' };
    const replaced = await core.replaceNamespacedConfigMap({ name: 'typed', namespace, body: read });
    expect(Number(replaced.metadata?.resourceVersion)).toBeGreaterThan(Number(made.metadata?.resourceVersion));
    const stale = core.replaceNamespacedConfigMap({ name: 'typed', namespace, body: read });
    expect(await refusal(stale)).toEqual({ code: 409, reason: 'Conflict' });
    const listed = await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=typed' });
    expect(listed.items.map(({ data }) => data)).toEqual([{ a: 'c' }]);
    const patched = await core.patchNamespacedConfigMap(
      { name: 'typed', namespace, body: [{ op: 'add', path: '/data/d', value: 'e' }] },
      k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.JsonPatch),
    );
    expect(patched.data).toEqual({ a: 'c', d: 'e' });
    await core.deleteNamespacedConfigMap({ name: 'typed', namespace });
    expect(await refusal(core.readNamespacedConfigMap({ name: 'typed', namespace }))).toEqual({
      code: 404,
      reason: 'NotFound',
    });
  });

  it('come in pages', async () => {
    for (const name of ['p1', 'p2', 'p3'])
      await core.createNamespacedSecret({ namespace, body: { metadata: { name, labels: { pages: 'yes' } } } });
    const names: string[] = [];
    let next: string | undefined;
    do {
      const page = await core.listNamespacedSecret({
        namespace,
        labelSelector: 'pages=yes',
        limit: 2,
        ...(next === undefined ? {} : { _continue: next }),
      });
      names.push(...page.items.map((item) => item.metadata?.name ?? ''));
      next = page.metadata?._continue || undefined;
    } while (next !== undefined);
    expect(names).toEqual(['p1', 'p2', 'p3']);
  });

  it('leases and events are written and read back', async () => {
    const leases = config.makeApiClient(k8s.CoordinationV1Api);
    const renewTime = new k8s.V1MicroTime(new globalThis.Date(1_767_225_600_123));
    await leases.createNamespacedLease({
      namespace,
      body: { metadata: { name: 'held' }, spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime } },
    });
    const lease = await leases.readNamespacedLease({ name: 'held', namespace });
    expect([lease.spec?.holderIdentity, String(lease.spec?.renewTime)]).toEqual(['me', '2026-01-01T00:00:00.123000Z']);
    const body = {
      metadata: { name: 'told' },
      involvedObject: { kind: 'Lease', name: 'held', namespace },
      reason: 'Held',
      message: 'by me',
      type: 'Normal',
    };
    await core.createNamespacedEvent({ namespace, body });
    const events = await core.listNamespacedEvent({ namespace, fieldSelector: 'involvedObject.name=held' });
    expect(events.items.map(({ reason }) => reason)).toEqual(['Held']);
  });

  it('access reviews answer', async () => {
    const review = await config.makeApiClient(k8s.AuthorizationV1Api).createSelfSubjectAccessReview({
      body: { spec: { resourceAttributes: { verb: 'create', group, resource: 'widgets', namespace } } },
    });
    expect(review.status?.allowed).toBe(true);
  });
});

describe('custom objects', () => {
  it('are created, changed in every way, refused, and deleted in the foreground', async () => {
    await custom.createNamespacedCustomObject({ ...place, body: widget('custom', { color: 'blue' }) });
    const merged = await custom.patchNamespacedCustomObject(
      { ...place, name: 'custom', body: { spec: { replicas: 2 } } },
      k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.MergePatch),
    );
    expect((merged as Widget).spec).toEqual({ color: 'blue', replicas: 2 });
    const applied = await custom.patchNamespacedCustomObject(
      { ...place, name: 'custom', body: widget('custom', { color: 'green' }), fieldManager: 'node', force: true },
      k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.ServerSideApply),
    );
    expect((applied as Widget).spec).toEqual({ color: 'green', replicas: 2 });
    const status = await custom.patchNamespacedCustomObjectStatus(
      { ...place, name: 'custom', body: { spec: { color: 'red' }, status: { phase: 'Up' } } },
      k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.MergePatch),
    );
    expect([(status as Widget).spec?.color, (status as Widget).status?.phase]).toEqual(['green', 'Up']);
    const scaled = await custom.replaceNamespacedCustomObjectScale({
      ...place,
      name: 'custom',
      body: {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'custom', namespace },
        spec: { replicas: 7 },
      },
    });
    expect(scaled.spec.replicas).toBe(7);
    const refused = custom.createNamespacedCustomObject({ ...place, body: widget('refused', { color: 'mauve' }) });
    expect(await refusal(refused)).toEqual({ code: 422, reason: 'Invalid' });
    await custom.deleteNamespacedCustomObject({ ...place, name: 'custom', propagationPolicy: 'Foreground' });
    const read = () => refusal(custom.getNamespacedCustomObject({ ...place, name: 'custom' })).catch(() => undefined);
    await expect.poll(read, { timeout: 20_000 }).toEqual({ code: 404, reason: 'NotFound' });
  });

  it('are applied as a person applies manifests, by the generic client', async () => {
    const objects = k8s.KubernetesObjectApi.makeApiClient(config);
    const spec = widget('generic', { color: 'blue' });
    await objects.create({ ...spec, metadata: { name: 'generic', namespace } });
    const read = await objects.read<Widget & k8s.KubernetesObject & { metadata: { name: string } }>({
      ...spec,
      metadata: { name: 'generic', namespace },
    });
    expect(read.spec).toEqual({ color: 'blue' });
    const listed = await objects.list(spec.apiVersion, spec.kind, namespace);
    expect(listed.items.map((item) => item.metadata?.name)).toContain('generic');
    await objects.delete({ ...spec, metadata: { name: 'generic', namespace } });
  });
});

describe('watching', () => {
  it('tells of what is added, modified and deleted, from a version on', async () => {
    const list = (await custom.listNamespacedCustomObject(place)) as { metadata: { resourceVersion: string } };
    const seen: string[] = [];
    const path = `/apis/${group}/${version}/namespaces/${namespace}/widgets`;
    const ended = Promise.withResolvers<void>();
    const watching = await new k8s.Watch(config).watch(
      path,
      { resourceVersion: list.metadata.resourceVersion },
      (type, object: Widget) => seen.push(`${type} ${object.metadata.name} ${object.spec?.color}`),
      () => ended.resolve(),
    );
    await custom.createNamespacedCustomObject({ ...place, body: widget('watched', { color: 'blue' }) });
    await custom.patchNamespacedCustomObject(
      { ...place, name: 'watched', body: { spec: { color: 'red' } } },
      k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.MergePatch),
    );
    await custom.deleteNamespacedCustomObject({ ...place, name: 'watched' });
    const expected = ['ADDED watched blue', 'MODIFIED watched red', 'DELETED watched red'];
    await expect.poll(() => seen, { timeout: 20_000 }).toEqual(expected);
    watching.abort();
    await ended.promise;
  });

  it('an informer lists and follows, selectors included', async () => {
    await core.createNamespacedConfigMap({
      namespace,
      body: { metadata: { name: 'i1', labels: { informer: 'yes' } } },
    });
    const listing = () => core.listNamespacedConfigMap({ namespace, labelSelector: 'informer=yes' });
    const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, listing, 'informer=yes');
    const seen: string[] = [];
    for (const verb of ['add', 'update', 'delete'] as const) {
      informer.on(verb, (object) => seen.push(`${verb} ${object.metadata?.name}`));
    }
    // This client stops at every error; who uses it starts it again.
    informer.on('error', () => void informer.start());
    await informer.start();
    await core.createNamespacedConfigMap({
      namespace,
      body: { metadata: { name: 'i2', labels: { informer: 'yes' } } },
    });
    await core.patchNamespacedConfigMap(
      { name: 'i1', namespace, body: { data: { a: 'b' } } },
      k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.StrategicMergePatch),
    );
    await core.deleteNamespacedConfigMap({ name: 'i2', namespace });
    const expected = ['add i1', 'add i2', 'update i1', 'delete i2'];
    await expect.poll(() => seen, { timeout: 30_000 }).toEqual(expected);
    // Its label goes: for this informer the object does, too.
    await core.patchNamespacedConfigMap(
      { name: 'i1', namespace, body: { metadata: { labels: { informer: null } } } },
      k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.MergePatch),
    );
    await expect.poll(() => seen.at(-1), { timeout: 30_000 }).toBe('delete i1');
    await informer.stop();
  });
});
