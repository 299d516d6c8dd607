import { configMap, core, gadget, gadgetsIn, group, makeNamespace } from '../definitions.ts';
import { controllerScenario } from '../harness/scenario.ts';
import type { Answer, Json, Session } from '../harness/session.ts';

const bags = `/apis/${group}/v1/bags`;
const patience = 30_000;

const reference = (owner: Json, more: object = {}): Json => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  ...more,
});
const blocking = { blockOwnerDeletion: true };
const held = { finalizers: ['example.com/hold'] };
const policy = (propagationPolicy: string): object => ({ kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy });

/** Who there is, whom each belongs to, what holds it, and whether it is going. */
const standing = (body: Json): Json =>
  body.items?.map(({ metadata }: Json) => ({
    name: metadata.name,
    owners: metadata.ownerReferences,
    finalizers: metadata.finalizers,
    going: metadata.deletionTimestamp !== undefined,
  })) ?? body;

class Place {
  readonly gadgets: string;
  readonly maps: string;
  readonly #api: Session;

  private constructor(api: Session, namespace: string, gadgets: string) {
    this.#api = api;
    this.gadgets = gadgets;
    this.maps = `${core}/namespaces/${namespace}/configmaps`;
  }

  /** A namespace of its own, once garbage is being collected. */
  static async open(api: Session, namespace: string): Promise<Place> {
    const place = new Place(api, namespace, await gadgetsIn(api, namespace));
    const nobody = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: 'nobody' };
    await place.map('garbage', [nobody]);
    await place.gone(`${place.maps}/garbage`);
    return place;
  }

  async gadget(name: string, owners: readonly Json[] = [], more: object = {}): Promise<Json> {
    const metadata = { ownerReferences: owners, ...more };
    return (await this.#api.quiet('POST', this.gadgets, { body: gadget(name, {}, metadata) })).body;
  }

  async map(name: string, owners: readonly Json[] = [], more: object = {}): Promise<Json> {
    const metadata = { ownerReferences: owners, ...more };
    return (await this.#api.quiet('POST', this.maps, { body: configMap(name, {}, metadata) })).body;
  }

  until(path: string, done: (answer: Answer) => boolean): Promise<Answer> {
    return this.#api.until(path, done, patience);
  }

  gone(path: string): Promise<Answer> {
    return this.until(path, ({ status }) => status === 404);
  }

  async release(path: string): Promise<void> {
    await this.#api.quiet('PATCH', path, {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    });
  }

  async state(note: string): Promise<void> {
    await this.#api.get(this.gadgets, { note, view: standing });
    const maps = (body: Json): Json => standing(body).filter(({ name }: Json) => name !== 'kube-root-ca.crt');
    await this.#api.get(this.maps, { note, view: maps });
  }
}

controllerScenario('garbage: owners deleted in the background', async (api) => {
  const place = await Place.open(api, 'garbage-background');
  const [one, two] = [await place.gadget('one'), await place.gadget('two')];
  const middle = await place.map('middle', [reference(one)]);
  await place.map('leaf', [reference(middle)]);
  await place.map('shared', [reference(one), reference(two, blocking)]);
  await place.map('blocked', [reference(one, blocking)], held);
  await place.state('before');
  await api.delete(`${place.gadgets}/one`);
  await place.gone(`${place.maps}/leaf`);
  await place.until(`${place.maps}/blocked`, ({ body }) => body.metadata?.deletionTimestamp !== undefined);
  await place.until(`${place.maps}/shared`, ({ body }) => body.metadata?.ownerReferences?.length === 1);
  await place.state('one owner gone');
  await place.release(`${place.maps}/blocked`);
  await api.delete(`${place.gadgets}/two`, policy('Background'));
  await place.gone(`${place.maps}/shared`);
  await place.gone(`${place.maps}/blocked`);
  await place.state('both gone');
});

controllerScenario('garbage: owners deleted in the foreground', async (api) => {
  const place = await Place.open(api, 'garbage-foreground');
  const one = await place.gadget('one');
  const middle = await place.map('middle', [reference(one, blocking)]);
  await place.map('leaf', [reference(middle, blocking)], held);
  await place.map('loose', [reference(one)], held);
  await api.delete(`${place.gadgets}/one`, policy('Foreground'));
  await place.until(`${place.maps}/leaf`, ({ body }) => body.metadata?.deletionTimestamp !== undefined);
  await place.until(`${place.maps}/loose`, ({ body }) => body.metadata?.deletionTimestamp !== undefined);
  await place.state('held by a leaf');
  await place.release(`${place.maps}/leaf`);
  await place.gone(`${place.gadgets}/one`);
  await place.state('one that does not block is left');
  await place.release(`${place.maps}/loose`);
  const [first, second] = [await place.gadget('first'), await place.gadget('second')];
  await place.map('shared', [reference(first, blocking), reference(second)]);
  await api.delete(`${place.gadgets}/first`, policy('Foreground'));
  await place.gone(`${place.gadgets}/first`);
  await place.state('another owner keeps it');
  await place.gadget('itself');
  const itself = (await api.quiet('GET', `${place.gadgets}/itself`)).body;
  await api.quiet('PATCH', `${place.gadgets}/itself`, {
    type: 'application/merge-patch+json',
    body: { metadata: { ownerReferences: [reference(itself)] } },
  });
  await api.delete(`${place.gadgets}/itself`, policy('Foreground'));
  await place.gone(`${place.gadgets}/itself`);
  await place.state('its own owner');
});

controllerScenario('garbage: dependents orphaned', async (api) => {
  const place = await Place.open(api, 'garbage-orphan');
  const [one, two] = [await place.gadget('one'), await place.gadget('two')];
  const child = await place.map('child', [reference(one, blocking)]);
  await place.map('grandchild', [reference(child)]);
  await place.map('shared', [reference(two, blocking), reference(one)]);
  await place.map('ending', [reference(one)], held);
  await api.quiet('DELETE', `${place.maps}/ending`);
  await api.delete(`${place.gadgets}/one`, policy('Orphan'));
  await place.gone(`${place.gadgets}/one`);
  await place.state('orphaned');
  await place.gadget('kept', [], { finalizers: ['orphan'] });
  const kept = (await api.quiet('GET', `${place.gadgets}/kept`)).body;
  await place.map('of-kept', [reference(kept)]);
  await api.delete(`${place.gadgets}/kept`);
  await place.gone(`${place.gadgets}/kept`);
  await place.state('orphaned by a finalizer it had');
});

controllerScenario('garbage: cycles', async (api) => {
  const place = await Place.open(api, 'garbage-cycles');
  const ring = async (name: string, block: object): Promise<void> => {
    const a = await place.map(`${name}-a`);
    const b = await place.map(`${name}-b`, [reference(a, block)]);
    const c = await place.map(`${name}-c`, [reference(b, block)]);
    await api.quiet('PATCH', `${place.maps}/${name}-a`, {
      type: 'application/merge-patch+json',
      body: { metadata: { ownerReferences: [reference(c, block)] } },
    });
  };
  await ring('calm', {});
  await ring('background', {});
  await ring('foreground', blocking);
  await api.delete(`${place.maps}/background-a`, policy('Background'));
  await api.delete(`${place.maps}/foreground-a`, policy('Foreground'));
  for (const one of ['a', 'b', 'c']) {
    await place.gone(`${place.maps}/background-${one}`);
    await place.gone(`${place.maps}/foreground-${one}`);
  }
  await place.state('after');
});

controllerScenario('garbage: owners elsewhere, of another uid, of no kind', async (api) => {
  const place = await Place.open(api, 'garbage-odd');
  const far = await Place.open(api, 'garbage-far');
  const [here, there] = [await place.map('here'), await far.map('there')];
  const bag = (name: string, owners: readonly Json[] = []): Json => ({
    apiVersion: `${group}/v1`,
    kind: 'Bag',
    metadata: { name, ownerReferences: owners },
  });
  const wide = (await api.quiet('POST', bags, { body: bag('wide') })).body;
  await api.quiet('POST', bags, { body: bag('owned-from-below', [reference(here)]) });
  await api.quiet('POST', bags, { body: bag('owned', [reference(wide)]) });
  await place.map('of-bag', [reference(wide)]);
  await place.map('of-far', [reference(there)]);
  await place.map('of-far-and-here', [reference(there), reference(here)]);
  await place.map('other-uid', [{ ...reference(here), uid: 'other' }]);
  await place.map('other-name', [{ ...reference(here), name: 'other' }]);
  await place.map('other-kind', [{ ...reference(here), kind: 'Secret' }]);
  await place.map('other-version', [{ ...reference(here), apiVersion: 'v9' }]);
  await place.map('no-kind', [{ ...reference(here), kind: 'Nothing' }]);
  await place.map('no-group', [{ ...reference(here), apiVersion: 'nobody.test/v1' }]);
  await place.map('no-kind-and-gone', [
    { ...reference(here), kind: 'Nothing' },
    { ...reference(here), name: 'x', uid: 'x' },
  ]);
  for (const name of ['of-far', 'other-uid', 'other-kind']) await place.gone(`${place.maps}/${name}`);
  await place.until(`${place.maps}/of-far-and-here`, ({ body }) => body.metadata?.ownerReferences?.length === 1);
  await place.state('settled');
  await api.get(bags, { note: 'settled', view: standing });
  await api.quiet('DELETE', `${bags}/wide`);
  await place.gone(`${place.maps}/of-bag`);
  await place.gone(`${bags}/owned`);
  await place.state('a wide owner gone');
  await api.get(bags, { note: 'a wide owner gone', view: standing });
  await api.quiet('DELETE', `${bags}/owned-from-below`);
});

controllerScenario('namespaces: emptied, held, ended', async (api) => {
  const conditions = (body: Json): Json => ({
    finalizers: body.spec?.finalizers,
    phase: body.status?.phase,
    conditions: body.status?.conditions?.map(({ lastTransitionTime: _, ...condition }: Json) => condition),
    ...(body.kind === 'Status' ? body : {}),
  });
  const gadgets = await gadgetsIn(api, 'ending');
  const namespace = `${core}/namespaces/ending`;
  await api.quiet('POST', gadgets, { body: gadget('free') });
  for (const name of ['held', 'held-too']) await api.quiet('POST', gadgets, { body: gadget(name, {}, held) });
  await api.quiet('POST', `${namespace}/configmaps`, {
    body: configMap('map', {}, { finalizers: ['example.com/other', 'example.com/hold'] }),
  });
  await api.delete(namespace);
  await api.until(namespace, ({ body }) => body.status?.conditions?.length > 4, patience);
  await api.get(namespace, { note: 'held', view: conditions });
  await api.get(gadgets, { note: 'held', view: standing });
  for (const path of [`${gadgets}/held`, `${gadgets}/held-too`, `${namespace}/configmaps/map`]) {
    await api.quiet('PATCH', path, {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    });
  }
  await api.until(namespace, ({ status }) => status === 404, 2 * patience);
  await api.get(gadgets, { note: 'ended' });

  const kept = await makeNamespace(api, 'kept');
  await api.quiet('PATCH', kept, {
    type: 'application/merge-patch+json',
    body: { metadata: { finalizers: ['example.com/hold'] } },
  });
  await api.quiet('POST', `${kept}/configmaps`, { body: configMap('map') });
  await api.delete(kept);
  await api.until(kept, ({ body }) => (body.spec?.finalizers ?? []).length === 0, patience);
  await api.get(kept, { note: 'empty and kept', view: conditions });
  await api.get(`${kept}/configmaps`, { note: 'empty and kept' });
  await api.quiet('PATCH', kept, {
    type: 'application/merge-patch+json',
    body: { metadata: { finalizers: null } },
  });
  await api.until(kept, ({ status }) => status === 404, patience);
  const again = await makeNamespace(api, 'kept');
  await api.get(again, { note: 'again', view: conditions });
});

controllerScenario('aggregated roles are filled', async (api) => {
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  const role = (name: string, more: object, labels: object = {}): Json => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels },
    ...more,
  });
  const rule = (resource: string): object => ({
    verbs: ['get'],
    apiGroups: ['conformance.test'],
    resources: [resource],
  });
  const collecting = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'filled' } }] } };
  const rules = (length: number) => (answer: Answer) => (answer.body.rules ?? []).length === length;
  await api.quiet('POST', roles, { body: role('filled', { ...collecting, rules: [rule('overwritten')] }) });
  await api.quiet('POST', roles, { body: role('part-b', { rules: [rule('b'), rule('a')] }, { part: 'filled' }) });
  await api.quiet('POST', roles, { body: role('part-a', { rules: [rule('c'), rule('a')] }, { part: 'filled' }) });
  await api.until(`${roles}/filled`, rules(3), patience);
  await api.get(`${roles}/filled`, { note: 'filled' });
  await api.quiet('PATCH', `${roles}/part-b`, {
    type: 'application/merge-patch+json',
    body: { metadata: { labels: { part: null } } },
  });
  await api.until(`${roles}/filled`, rules(2), patience);
  await api.get(`${roles}/filled`, { note: 'one left', view: (body) => body.rules });
  for (const name of ['filled', 'part-a', 'part-b']) await api.quiet('DELETE', `${roles}/${name}`);
});
