import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CustomResourceDefinition, KubeList, KubeObject, Status } from '../meta/index.ts';
import { base, type Fixture, startServer, textOf, widget, widgetDefinition, widgets } from './testing/fixture.ts';

const merge = 'application/merge-patch+json';
const definitions = `${base}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`;
let api: Fixture;
beforeAll(async () => {
  api = await startServer();
});
afterAll(() => api.close());

/** A CRD of its own group, so that tests do not meet. */
function definition(plural: string, kind: string, schema: object = { type: 'object' }): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.test.io` },
    spec: {
      group: 'test.io',
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema as Record<string, unknown> } },
      ],
    },
  };
}

/** Lets a request that was just sent get as far as it gets within this turn of the event loop: committed, not durable. */
async function withinThisTurn(): Promise<void> {
  for (let n = 0; n < 200; n++) await Promise.resolve();
}

describe('a write refused because of one that is not durable yet', () => {
  it('is told so when everybody can see it', async () => {
    await api.send('POST', widgets, widget('going'));
    const deleting = api.send('DELETE', `${widgets}/going`);
    await withinThisTurn();
    expect((await api.send('PUT', `${widgets}/going`, widget('going', { color: 'blue' }))).status).toBe(404);
    expect((await api.send('GET', `${widgets}/going`)).status).toBe(404);
    const creating = api.send('POST', widgets, widget('coming'));
    await withinThisTurn();
    expect((await api.send('POST', widgets, widget('coming'))).status).toBe(409);
    expect((await api.send('GET', `${widgets}/coming`)).status).toBe(200);
    expect([(await deleting).status, (await creating).status]).toEqual([200, 201]);
  });

  it('nor does a write that changes nothing, or a dry run, show what is not durable', async () => {
    await api.send('POST', widgets, widget('still'));
    const seen = async () => (await api.send('GET', `${widgets}/still`)).body.metadata.resourceVersion;
    const body = { spec: { color: 'blue' } };
    for (const query of ['', '?dryRun=All']) {
      const changing = api.send('PATCH', `${widgets}/still`, { spec: { color: `blue${query.length}` } }, merge);
      body.spec.color = `blue${query.length}`;
      await withinThisTurn();
      const same = await api.send('PATCH', `${widgets}/still${query}`, body, merge);
      expect(same.body.metadata.resourceVersion).toBe(await seen());
      expect(same.body.metadata.resourceVersion).toBe((await changing).body.metadata.resourceVersion);
    }
  });
});

describe('planes', () => {
  it('have their own objects, built-in kinds and namespaces', async () => {
    const own = await startServer();
    await own.server.openPlane({ id: 'cell/a', path: '/planes/cells/a', crds: [] });
    await own.send('POST', `${base}/api/v1/namespaces`, { metadata: { name: 'only-hub' } });
    const list = async (path: string) =>
      (await own.send<KubeList<KubeObject>>('GET', `${path}/api/v1/namespaces`)).body.items.map(
        (item) => item.metadata.name,
      );
    expect(await list(base)).toEqual(['default', 'kube-system', 'only-hub']);
    expect(await list('/planes/cells/a')).toEqual(['default', 'kube-system']);
    expect((await own.send('GET', '/planes/cells/a/apis/example.com/v1/widgets')).status).toBe(404);
    await own.close();
  });

  it('answer 404 naming the project for one that is not there, and a plain 404 elsewhere', async () => {
    const path = '/apis/resourcemanager.miloapis.com/v1alpha1/projects/ghost/control-plane/api/v1/namespaces';
    const project = await api.send<Status>('GET', path);
    expect([project.status, project.body.details]).toEqual([
      404,
      { name: 'ghost', group: 'resourcemanager.miloapis.com', kind: 'projects' },
    ]);
    const other = await api.send('GET', '/planes/cells/nowhere/api/v1/namespaces');
    expect([other.status, other.text]).toEqual([404, '404 page not found\n']);
  });

  it('answer 503 while closed, end their watches, and have everything when they open again', async () => {
    const own = await startServer();
    const path = '/apis/resourcemanager.miloapis.com/v1alpha1/projects/p1/control-plane';
    const options = { id: 'project/p1', path, project: 'p1', crds: [widgetDefinition] };
    await own.server.openPlane(options);
    const things = `${path}/apis/example.com/v1/namespaces/default/widgets`;
    await own.send('POST', things, widget('kept'));
    const definitionPath = `${path}/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com`;
    const before = (await own.send('GET', definitionPath)).body;
    const log = await own.watch(`${things}?watch=true`);
    await own.server.closePlane('project/p1');
    await log.ended;
    expect((await own.send('GET', things)).status).toBe(503);
    await own.server.openPlane(options);
    expect((await own.send('GET', `${things}/kept`)).status).toBe(200);
    expect((await own.send('GET', definitionPath)).body).toEqual(before);
    await own.server.dropPlane('project/p1');
    expect((await own.send<Status>('GET', things)).body.details?.name).toBe('p1');
    await own.close();
  });

  it("apply today's CRDs, keep what was stored, and default it as it is read", async () => {
    const own = await startServer();
    await own.send('POST', widgets, widget('older', { replicas: 1 }));
    await own.server.closePlane('hub');
    const next = structuredClone(widgetDefinition);
    const schema = next.spec!.versions[0]!.schema!.openAPIV3Schema as { properties: { spec: { properties: object } } };
    schema.properties.spec.properties = {
      ...schema.properties.spec.properties,
      size: { type: 'string', default: 'small' },
    };
    await own.server.openPlane({ id: 'hub', path: base, crds: [next] });
    const wanted = { replicas: 1, color: 'red', size: 'small' };
    expect((await own.send('GET', `${widgets}/older`)).body.spec).toEqual(wanted);
    expect((await own.send<KubeList<KubeObject>>('GET', widgets)).body.items[0]!.spec).toEqual(wanted);
    const crd = (await own.send('GET', `${definitions}/widgets.example.com`)).body;
    expect(crd.metadata.generation).toBe(2);
    await own.close();
  });

  it('refuse an invalid CRD of their own by name', async () => {
    const bad = definition('bads', 'Bad', { type: 'object', properties: { spec: {} } });
    await expect(api.server.openPlane({ id: 'x', path: '/planes/x', crds: [bad] })).rejects.toThrow('bads.test.io');
  });
});

describe('custom resource definitions at run time', () => {
  it('are served at once, changed at once, and take their objects with them', async () => {
    const made = await api.send<CustomResourceDefinition>('POST', definitions, definition('gears', 'Gear'));
    const status = made.body.status as { conditions: { type: string; status: string }[]; storedVersions: string[] };
    expect(status.conditions.map((condition) => [condition.type, condition.status])).toEqual([
      ['NamesAccepted', 'True'],
      ['Established', 'True'],
    ]);
    expect(status.storedVersions).toEqual(['v1']);
    const gears = `${base}/apis/test.io/v1/namespaces/default/gears`;
    const gear = { apiVersion: 'test.io/v1', kind: 'Gear', metadata: { name: 'g' }, spec: { teeth: 5 } };
    expect((await api.send('POST', gears, gear)).body.spec).toBeUndefined();

    const versions = definition('gears', 'Gear', {
      type: 'object',
      properties: { spec: { type: 'object', properties: { teeth: { type: 'integer' } } } },
    }).spec!.versions;
    await api.send('PATCH', `${definitions}/gears.test.io`, { spec: { versions } }, merge);
    expect(
      (
        await api.send('PUT', `${gears}/g`, {
          ...gear,
          metadata: { ...(await api.send('GET', `${gears}/g`)).body.metadata },
        })
      ).body.spec,
    ).toEqual({ teeth: 5 });

    const log = await api.watch(`${gears}?watch=true`);
    const going = await api.send<CustomResourceDefinition>('DELETE', `${definitions}/gears.test.io`);
    expect(going.body.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
    await log.ended;
    expect(log.events.map((event) => event.type)).toEqual(['ADDED', 'DELETED']);
    expect((await api.send('GET', gears)).status).toBe(404);
    expect((await api.send('GET', `${definitions}/gears.test.io`)).status).toBe(404);
  });

  it('wait for finalizers of their objects', async () => {
    await api.send('POST', definitions, definition('locks', 'Lock'));
    const locks = `${base}/apis/test.io/v1/namespaces/default/locks`;
    await api.send('POST', locks, {
      apiVersion: 'test.io/v1',
      kind: 'Lock',
      metadata: { name: 'l', finalizers: ['a.b/c'] },
    });
    const log = await api.watch(`${locks}?watch=true`);
    await api.send('DELETE', `${definitions}/locks.test.io`);
    expect((await log.until(2)).map((event) => event.type)).toEqual(['ADDED', 'MODIFIED']);
    const refused = await api.send<Status>('POST', locks, {
      apiVersion: 'test.io/v1',
      kind: 'Lock',
      metadata: { name: 'm' },
    });
    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringContaining('is forbidden: create not allowed while custom resource definition is terminating'),
    ]);
    await api.send('PATCH', `${locks}/l`, { metadata: { finalizers: null } }, merge);
    await log.ended;
    expect((await api.send('GET', `${definitions}/locks.test.io`)).status).toBe(404);
  });

  it('are not served when another kind has their names', async () => {
    await api.send('POST', definitions, definition('cogs', 'Cog'));
    const second = await api.send<CustomResourceDefinition>('POST', definitions, definition('cogz', 'Cog'));
    const status = second.body.status as { conditions: { type: string; status: string; reason: string }[] };
    expect(status.conditions.map(({ type, status: state, reason }) => [type, state, reason])).toEqual([
      ['NamesAccepted', 'False', 'ListKindConflict'],
      ['Established', 'False', 'NotAccepted'],
    ]);
    expect((await api.send('GET', `${base}/apis/test.io/v1/cogz`)).status).toBe(404);
  });
});

describe('events', () => {
  it('are one object in two shapes', async () => {
    const eventPath = `${base}/apis/events.k8s.io/v1/namespaces/default/events`;
    const made = await api.send('POST', eventPath, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'e1' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'berth',
      reportingInstance: 'berth-0',
      action: 'Binding',
      reason: 'Bound',
      type: 'Normal',
      note: 'it is bound',
      regarding: { kind: 'Widget', name: 'w', namespace: 'default', uid: 'u1' },
    });
    expect([made.status, made.body.apiVersion]).toEqual([201, 'events.k8s.io/v1']);
    const core = `${base}/api/v1/namespaces/default/events`;
    const read = (await api.send('GET', `${core}/e1`)).body;
    expect(read).toMatchObject({
      apiVersion: 'v1',
      message: 'it is bound',
      reportingComponent: 'berth',
      involvedObject: { kind: 'Widget', name: 'w' },
    });
    const bySelector = await api.send<KubeList<KubeObject>>(
      'GET',
      `${core}?fieldSelector=involvedObject.name%3Dw,involvedObject.uid%3Du1`,
    );
    expect(bySelector.body.items.length).toBe(1);
    const none = await api.send<KubeList<KubeObject>>('GET', `${eventPath}?fieldSelector=regarding.name%3Dother`);
    expect(none.body.items).toEqual([]);
    const list = await api.send<KubeList<KubeObject>>('GET', eventPath);
    // What its items are is said once.
    const { kind, apiVersion, ...item } = made.body;
    expect(list.body).toMatchObject({ kind: `${kind}List`, apiVersion });
    expect(list.body.items).toEqual([item]);
  });
});

describe('secrets', () => {
  it('merge stringData, encoded, into data', async () => {
    const secrets = `${base}/api/v1/namespaces/default/secrets`;
    const { body } = await api.send('POST', secrets, {
      metadata: { name: 's' },
      stringData: { a: 'b' },
      data: { c: 'ZA==' },
    });
    expect(body).toMatchObject({ type: 'Opaque', data: { a: 'Yg==', c: 'ZA==' } });
    expect('stringData' in body).toBe(false);
    expect((await api.send('POST', secrets, { metadata: { name: 't' }, data: { c: 'no base64!' } })).status).toBe(400);
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    const table = JSON.parse(await textOf(await api.request('GET', secrets, { headers })));
    expect(table.rows[0].cells.slice(0, 3)).toEqual(['s', 'Opaque', 2]);
  });
});

describe('discovery', () => {
  it('lists resources with their subresources', async () => {
    const { body } = await api.send<{ resources: { name: string; verbs: string[]; shortNames?: string[] }[] }>(
      'GET',
      `${base}/apis/example.com/v1`,
    );
    expect(body.resources.map((resource) => resource.name)).toEqual(['widgets', 'widgets/status', 'widgets/scale']);
    expect(body.resources[0]).toMatchObject({ shortNames: ['wd'], singularName: 'widget', namespaced: true });
  });

  it('has the aggregated form for who asks', async () => {
    const response = await api.request('GET', `${base}/apis`, {
      headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json' },
    });
    expect(response.headers['content-type']).toBe(
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    );
    const body = JSON.parse(await textOf(response));
    const group = body.items.find((item: { metadata: { name: string } }) => item.metadata.name === 'example.com');
    expect(group.versions[0].resources[0]).toMatchObject({
      resource: 'widgets',
      scope: 'Namespaced',
      responseKind: { group: 'example.com', version: 'v1', kind: 'Widget' },
      subresources: [
        { subresource: 'status' },
        { subresource: 'scale', responseKind: { kind: 'Scale', group: 'autoscaling' } },
      ],
    });
  });

  it('answers health, version, and 404 for what is not there', async () => {
    expect((await api.send('GET', `${base}/livez`)).text).toBe('ok');
    expect((await api.send('GET', `${base}/readyz?verbose`)).text).toBe('[+]ping ok\nreadyz check passed\n');
    expect((await api.send('GET', `${base}/version`)).body).toMatchObject({ major: '1' });
    expect((await api.send('GET', `${base}/apis/none.io/v1`)).status).toBe(404);
    expect((await api.send('GET', `${base}/nothing`)).status).toBe(404);
  });
});

describe('authorization', () => {
  it("answers 403 in the real server's words, and asks with the right attributes", async () => {
    const asked: unknown[] = [];
    const own = await startServer({
      authorizer: {
        authorize: ({ identity, ...rest }) => {
          asked.push(rest);
          return { allowed: identity.user === 'admin' };
        },
      },
    });
    const mallory = { user: 'mallory', groups: [] };
    const list = await own.request('GET', `${base}/apis/example.com/v1/namespaces/default/widgets?watch=true`, {
      identity: mallory,
    });
    expect([list.status, JSON.parse(await textOf(list)).message]).toEqual([
      403,
      'widgets.example.com is forbidden: User "mallory" cannot watch resource "widgets" in API group "example.com" in the namespace "default"',
    ]);
    expect(asked[0]).toEqual({
      plane: 'hub',
      verb: 'watch',
      group: 'example.com',
      resource: 'widgets',
      subresource: '',
      namespace: 'default',
      name: '',
      path: '',
    });
    const path = await own.request('GET', `${base}/version`, { identity: mallory });
    expect(JSON.parse(await textOf(path)).message).toBe('forbidden: User "mallory" cannot get path "/version"');
    await own.close();
  });
});
