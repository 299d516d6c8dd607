import { core, makeNamespace } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';

/** Built-in kinds in protobuf, as Go controllers send them. */

const type = 'application/vnd.kubernetes.protobuf';
const accept = 'application/json';

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 0x80);
  }
}

/** A field of text, bytes or fields of its own. */
function field(number: number, value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as never);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

function whole(number: number, value: number): Buffer {
  return Buffer.from([...varint(number * 8), ...varint(value)]);
}

const fields = (...parts: Buffer[]): Buffer => Buffer.concat(parts);

function enveloped(apiVersion: string, kind: string, raw: Uint8Array): Buffer {
  const typeMeta = fields(field(1, apiVersion), field(2, kind));
  return fields(Buffer.from('k8s\0'), field(1, typeMeta), field(2, raw), field(3, ''), field(4, ''));
}

const named = (name: string, ...more: Buffer[]): Buffer => field(1, fields(field(1, name), ...more));
const pair = (key: string, value: string): Buffer => fields(field(1, key), field(2, value));

scenario('bodies in protobuf', async (api) => {
  const namespace = await makeNamespace(api, 'protobuf');
  const [maps, events] = [`${namespace}/configmaps`, `${namespace}/events`];
  const leases = '/apis/coordination.k8s.io/v1/namespaces/protobuf/leases';
  const send = (method: string, path: string, body: Buffer, note: string, query = '') =>
    api.send(method, `${path}${query}`, { body, type, accept, note });
  const map = (name: string, ...more: Buffer[]) => enveloped('v1', 'ConfigMap', fields(named(name), ...more));
  await send('POST', maps, map('one', field(2, pair('a', 'x')), field(3, pair('b', 'bytes')), whole(4, 0)), 'a map');
  await send('POST', maps, map('one'), 'again');
  await send('PUT', `${maps}/one`, map('one', field(2, pair('a', 'y'))), 'changed');
  await send('POST', maps, map('Bad Name'), 'a bad name');
  await send('POST', maps, map('dry', field(2, pair('a', ''))), 'dry', '?dryRun=All&fieldValidation=Strict');
  await send('POST', maps, map('unknown', field(99, 'x')), 'an unknown field', '?fieldValidation=Strict');
  await send('POST', maps, enveloped('v1', 'Secret', named('other')), 'another kind');
  await send('POST', maps, enveloped('v9', 'ConfigMap', named('other')), 'another version');
  const owner = fields(
    field(1, 'ConfigMap'),
    field(3, 'one'),
    field(4, 'uid'),
    field(5, 'v1'),
    whole(6, 1),
    whole(7, 0),
  );
  const labels = field(11, pair('l', '1'));
  const annotations = field(12, pair('n', ''));
  const full = named(
    'full',
    field(2, ''),
    field(3, 'protobuf'),
    labels,
    annotations,
    field(13, owner),
    field(14, 'example.com/f'),
  );
  await send('POST', maps, enveloped('v1', 'ConfigMap', full), 'metadata');
  const generated = field(1, field(2, 'gen-'));
  await send('POST', maps, enveloped('v1', 'ConfigMap', generated), 'a generated name');
  const micro = fields(whole(1, 981173106), whole(2, 123456000));
  const spec = fields(field(1, 'me'), whole(2, 15), field(3, micro), field(4, micro), whole(5, 0));
  const lease = (name: string, body = spec) =>
    enveloped('coordination.k8s.io/v1', 'Lease', fields(named(name), field(2, body)));
  await send('POST', leases, lease('l'), 'a lease');
  await send('PUT', `${leases}/l`, lease('l', fields(field(1, 'you'), whole(2, 20))), 'taken over');
  await send('POST', leases, lease('bad', whole(2, 0)), 'a lease that is refused');
  const about = fields(field(1, 'ConfigMap'), field(2, 'protobuf'), field(3, 'one'), field(5, 'v1'));
  const event = fields(
    named('e'),
    field(2, about),
    field(3, 'Made'),
    field(4, 'it was made'),
    field(5, field(1, 'tester')),
    field(6, whole(1, 981173106)),
    field(7, whole(1, 981173106)),
    whole(8, 1),
    field(9, 'Normal'),
  );
  await send('POST', events, enveloped('v1', 'Event', event), 'an event');
  const newer = fields(
    named('e2'),
    field(2, micro),
    field(4, 'example.com/tester'),
    field(5, 'tester-1'),
    field(6, 'Making'),
    field(7, 'Made'),
    field(8, about),
    field(10, 'it was made'),
    field(11, 'Normal'),
  );
  const fresh = '/apis/events.k8s.io/v1/namespaces/protobuf/events';
  await send('POST', fresh, enveloped('events.k8s.io/v1', 'Event', newer), 'an event of the other group');
  await send('DELETE', `${maps}/full`, enveloped('v1', 'DeleteOptions', field(4, 'Foreground')), 'delete options');
  await send('DELETE', `${maps}/one`, enveloped('v1', 'DeleteOptions', field(2, field(1, 'other'))), 'a precondition');
  const role = fields(named('r'), field(2, fields(field(1, 'get'), field(2, ''), field(3, 'configmaps'))));
  const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/protobuf/roles';
  await send('POST', roles, enveloped('rbac.authorization.k8s.io/v1', 'Role', role), 'a role');
  const secret = fields(named('s'), field(2, pair('k', 'value')), field(3, 'Opaque'), field(4, pair('p', 'plain')));
  await send('POST', `${namespace}/secrets`, enveloped('v1', 'Secret', secret), 'a secret');
  await send('POST', `${core}/namespaces`, enveloped('v1', 'Namespace', named('protobuf-made')), 'a namespace');
  await send('POST', `${namespace}/serviceaccounts`, enveloped('v1', 'ServiceAccount', named('a')), 'an account');
  const asks = fields(
    field(2, fields(field(1, fields(field(1, 'protobuf'), field(2, 'get'), field(5, 'configmaps'))))),
  );
  const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  await send('POST', reviews, enveloped('authorization.k8s.io/v1', 'SelfSubjectAccessReview', asks), 'a review');
  await send('POST', maps, Buffer.from('k8s\0\xff', 'latin1'), 'cut off');
  await send('POST', maps, Buffer.from('{"kind":"ConfigMap"}'), 'JSON that says it is protobuf');
  await send('POST', maps, Buffer.alloc(0), 'empty');
  await api.get(maps, { note: 'what there is' });
});
