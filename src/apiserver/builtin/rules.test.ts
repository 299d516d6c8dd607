import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Status } from '../../meta/index.ts';
import { base, type Fixture, startServer } from '../testing/fixture.ts';

let api: Fixture;
beforeAll(async () => {
  api = await startServer();
});
afterAll(() => api.close());

const rbac = `${base}/apis/rbac.authorization.k8s.io/v1/namespaces/default`;
const core = `${base}/api/v1/namespaces/default`;
const events = `${base}/apis/events.k8s.io/v1/namespaces/default/events`;

/** The refusals of a create: `field: message`, or the message where it is no 422. */
async function refusals(path: string, object: object): Promise<string[]> {
  const { status, body } = await api.send<Status>('POST', path, object);
  if (status < 400) return [];
  return status === 422
    ? body.details!.causes!.map(({ field, message }) => `${field}: ${message}`)
    : [`${status} ${body.message}`];
}

const role = (rule: object) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { generateName: 'r-' },
  rules: [rule],
});

describe('roles and bindings', () => {
  it('refuse rules that could never grant anything', async () => {
    expect(await refusals(`${rbac}/roles`, role({ apiGroups: [''], resources: ['x'] }))).toEqual([
      'rules[0].verbs: Required value',
    ]);
    expect(await refusals(`${rbac}/roles`, role({ verbs: ['get'] }))).toEqual([
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ]);
    expect(await refusals(`${rbac}/roles`, role({ verbs: ['get'], nonResourceURLs: ['/x'] }))).toEqual([
      'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
    ]);
    expect(await refusals(`${rbac}/roles`, role({ verbs: ['get'], apiGroups: [''], resources: ['x'] }))).toEqual([]);
  });

  it('refuse subjects and roles of unknown kinds and groups', async () => {
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'b' },
      roleRef: { apiGroup: 'odd', kind: 'Odd', name: '' },
      subjects: [
        { kind: 'Odd', name: 'x' },
        { kind: 'ServiceAccount', name: 'Bad', apiGroup: 'y' },
      ],
    };
    expect((await refusals(`${rbac}/rolebindings`, binding)).map((text) => text.slice(0, text.indexOf(':')))).toEqual([
      'roleRef.apiGroup',
      'roleRef.kind',
      'roleRef.name',
      'subjects[0].kind',
      'subjects[1].name',
      'subjects[1].apiGroup',
    ]);
  });
});

describe('events', () => {
  const event = (more: object) => ({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { generateName: 'e-' },
    eventTime: '2001-02-03T04:05:06.123456Z',
    reportingController: 'example.com/tester',
    reportingInstance: 'tester-1',
    action: 'Making',
    reason: 'Made',
    type: 'Normal',
    regarding: { kind: 'Thing', namespace: 'default', name: 'x' },
    ...more,
  });

  it('of the new group need who reports, and nothing of the old shape', async () => {
    expect(await refusals(events, event({}))).toEqual([]);
    expect(await refusals(events, event({ reportingController: 'bad name', action: '' }))).toEqual([
      expect.stringMatching(/^reportingController: Invalid value: "bad name": name part must consist/),
      'action: Required value',
    ]);
    expect(await refusals(events, event({ type: 'Odd', deprecatedCount: 5 }))).toEqual([
      'type: Invalid value: "": has invalid value: Odd',
      'count: Invalid value: "": needs to be unset',
    ]);
  });

  it('of the new group change in nothing but their series', async () => {
    const { body } = await api.send('POST', events, event({}));
    const path = `${events}/${body.metadata.name}`;
    const series = { count: 2, lastObservedTime: '2001-02-03T05:05:06.000000Z' };
    expect((await api.send('PATCH', path, { series }, 'application/merge-patch+json')).status).toBe(200);
    const other = await api.send<Status>('PATCH', path, { reason: 'Other' }, 'application/merge-patch+json');
    expect([other.status, other.body.details?.causes?.map((cause) => cause.field)]).toEqual([422, ['reason']]);
  });
});

describe('core kinds', () => {
  it('refuse what Go could not decode with 400', async () => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { a: 1 } };
    expect(await refusals(`${core}/configmaps`, map)).toEqual([
      '400 ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data.a of type string',
    ]);
  });

  it('refuse data over 1 MiB', async () => {
    const data = { a: 'x'.repeat(1024 * 1024 + 1) };
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data };
    expect(await refusals(`${core}/configmaps`, map)).toEqual(['[]: Too long: may not be more than 1048576 bytes']);
  });

  it('refuse secrets without what their type needs', async () => {
    const secret = (type: string, data: object = {}) =>
      refusals(`${core}/secrets`, { apiVersion: 'v1', kind: 'Secret', metadata: { generateName: 's-' }, type, data });
    expect(await secret('kubernetes.io/tls')).toEqual([
      'data[tls.crt]: Required value',
      'data[tls.key]: Required value',
    ]);
    expect(await secret('kubernetes.io/basic-auth', { password: 'eA==' })).toEqual([]);
    expect(await secret('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': 'eA==' })).toEqual([
      expect.stringMatching(/^data\[\.dockerconfigjson\]: Invalid value: "<secret contents redacted>"/),
    ]);
  });

  it('refuse a namespace without a name, and one with odd finalizers', async () => {
    const namespaces = `${base}/api/v1/namespaces`;
    expect(await refusals(namespaces, { apiVersion: 'v1', kind: 'Namespace' })).toEqual([
      'metadata.name: Required value: name or generateName is required',
    ]);
    const odd = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'odd' }, spec: { finalizers: ['plain'] } };
    expect(await refusals(namespaces, odd)).toEqual([
      'spec.finalizers: Invalid value: "plain": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });
});
