import { bagDefinition, crds, gadgetDefinition, group, ownDefinition, ownDefinitions, served } from '../definitions.ts';
import { scenario, setup } from '../harness/scenario.ts';
import type { Json } from '../harness/session.ts';

scenario('definitions: every CRD of this project is taken by a real server', async (api) => {
  for (const name of await ownDefinitions()) {
    const verdict = (body: Json) => (body.kind === 'Status' ? body : body.kind);
    await api.send('POST', `${crds}?dryRun=All`, { body: await ownDefinition(name), note: name, view: verdict });
  }
});

setup('definitions: installing the CRDs under test', async (api) => {
  for (const definition of [
    gadgetDefinition,
    bagDefinition,
    await ownDefinition('networks.networking.datumapis.com'),
    await ownDefinition('networkinterfaces.networking.datumapis.com'),
    await ownDefinition('locations.networking.datumapis.com'),
    await ownDefinition('workloads.compute.datumapis.com'),
    await ownDefinition('vpcs.cloud.datumapis.com'),
  ]) {
    await api.post(crds, definition);
    await served(api, definition);
    await api.get(`${crds}/${definition.metadata.name}`);
  }
});

const aggregated = (version: string): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList,application/json`;

scenario('discovery', async (api) => {
  // The real server lists a CRD's group some moments after it serves it.
  const listed = (path: string) => api.until(path, ({ status }) => status === 200);
  await listed('/apis/compute.datumapis.com/v1alpha');
  await listed('/apis/cloud.datumapis.com/v1alpha1');
  await api.until('/apis', ({ body }) => body.groups?.some((one: Json) => one.name === 'cloud.datumapis.com'));
  await api.get('/api');
  await api.get('/apis');
  await api.get('/api/v1');
  for (const name of [group, 'networking.datumapis.com', 'compute.datumapis.com', 'cloud.datumapis.com']) {
    await api.get(`/apis/${name}`);
  }
  await api.get(`/apis/${group}/`);
  await api.get(`/apis/${group}/v1`);
  await api.get(`/apis/${group}/v1beta1`);
  await api.get('/apis/networking.datumapis.com/v1alpha');
  await api.get('/apis/networking.datumapis.com/v1alpha1');
  await api.get('/apis/compute.datumapis.com/v1alpha');
  await api.get('/apis/cloud.datumapis.com/v1alpha1');
  for (const path of ['events.k8s.io', 'coordination.k8s.io', 'rbac.authorization.k8s.io', 'apiextensions.k8s.io']) {
    await api.get(`/apis/${path}`);
    await api.get(`/apis/${path}/v1`);
  }
  await api.get('/apis/authorization.k8s.io/v1');
  await api.get('/apis/authentication.k8s.io/v1');
  await api.get('/apis/authorization.k8s.io');
  await api.get('/api', { accept: aggregated('v2') });
  await api.get('/apis', { accept: aggregated('v2') });
  await api.get('/apis', { accept: aggregated('v2beta1'), note: 'v2beta1' });
  await api.get('/apis', { accept: aggregated('v3'), note: 'unknown form' });
  await api.get('/apis/nobody.test', { note: 'unknown group' });
  await api.get(`/apis/${group}/v9`, { note: 'unknown version' });
  await api.get('/api/v2', { note: 'unknown version of core' });
  await api.get('/apis', { accept: 'application/yaml' });
  await api.get(`/apis/${group}/v1`, { accept: 'application/yaml' });
  await api.get('/apis', { accept: 'text/html' });
});

scenario('documents: health, version, unknown paths', async (api) => {
  await api.get('/version');
  await api.get('/healthz');
  await api.get('/livez');
  await api.get('/readyz');
  await api.get('/livez/ping');
  await api.get('/readyz/ping');
  await api.get('/healthz/nothing');
  await api.get('/nothing');
  await api.get('/nothing/at/all');
  await api.get('/api/v1/nothing');
  await api.get('/api/v1/namespaces/default/nothing');
  await api.get('/api/v1/namespaces/default/nothing/x');
  await api.get('/apis/nobody.test/v1/things');
  await api.get(`/apis/${group}/v1/nothing`);
  await api.get(`/apis/${group}/v9/gadgets`);
  await api.get('/api/v1/namespaces/default/configmaps/a/b/c');
  await api.get('/');
  await api.send('POST', '/version', { body: {} });
  await api.send('DELETE', '/apis');
  await api.send('PUT', '/healthz', { body: {} });
  await api.get('//api/v1', { note: 'double slash' });
  await api.get('/api/v1/namespaces/', { note: 'slash at the end' });
});

scenario('OpenAPI', async (api) => {
  const hasPath = (path: string) => (body: Json) => Object.keys(body.paths ?? {}).includes(path);
  await api.until('/openapi/v3', ({ body }) => body.paths?.[`apis/${group}/v1`] !== undefined);
  await api.until(`/openapi/v3/apis/${group}/v1`, ({ status }) => status === 200);
  await api.until('/openapi/v2', ({ body }) => hasPath(`/apis/${group}/v1/namespaces/{namespace}/gadgets`)(body));
  const gadgets = `/apis/${group}/v1/namespaces/{namespace}/gadgets`;
  await api.get('/openapi/v3', {
    note: 'which documents',
    view: (body) =>
      Object.keys(body.paths)
        .filter((path) => /conformance|datumapis|^(api\/v1|version)$/.test(path))
        .sort(),
  });
  const schemaOf = (name: string) => (body: Json) => body.components?.schemas?.[name];
  await api.get(`/openapi/v3/apis/${group}/v1`, {
    note: 'schema of Gadget',
    view: schemaOf('test.conformance.v1.Gadget'),
  });
  await api.get(`/openapi/v3/apis/${group}/v1`, {
    note: 'schema of GadgetList',
    view: schemaOf('test.conformance.v1.GadgetList'),
  });
  await api.get(`/openapi/v3/apis/${group}/v1`, { note: 'paths', view: (body) => Object.keys(body.paths).sort() });
  await api.get(`/openapi/v3/apis/${group}/v1`, {
    note: 'operations',
    view: (body) =>
      Object.fromEntries(
        Object.entries(body.paths[gadgets] as Record<string, Json>).map(([verb, operation]) => [
          verb,
          operation.operationId ?? operation,
        ]),
      ),
  });
  await api.get(`/openapi/v3/apis/${group}/v1`, {
    note: 'kinds of the operations',
    view: (body) =>
      Object.fromEntries(
        Object.entries(body.paths[`${gadgets}/{name}`] as Record<string, Json>).map(([verb, operation]) => [
          verb,
          [operation['x-kubernetes-action'], operation['x-kubernetes-group-version-kind']],
        ]),
      ),
  });
  await api.get('/openapi/v3/apis/coordination.k8s.io/v1', {
    note: 'fields of Lease',
    view: (body) => Object.keys(body.components.schemas['io.k8s.api.coordination.v1.Lease'].properties).sort(),
  });
  await api.get('/openapi/v2', {
    note: 'definition of Gadget',
    view: (body) => body.definitions['test.conformance.v1.Gadget'],
  });
  await api.get('/openapi/v2', {
    note: 'paths of gadgets',
    view: (body) =>
      Object.keys(body.paths)
        .filter((path) => path.includes('gadgets'))
        .sort(),
  });
  await api.get('/openapi/v2', { note: 'swagger', view: (body) => body.swagger });
  await api.get('/openapi/v2', {
    accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
    note: 'protobuf',
  });
  await api.get('/openapi/v3/apis/nobody.test/v1', { note: 'unknown' });
});
