import type { JsonSchema } from '../schema/schema.ts';
import { cached, encodeJson, listSchema, type OpenApiDocument, withTypeMeta } from './document.ts';
import { type Described, groupVersionPath, gvkOf, schemaName } from './names.ts';
import { type Operation, type Parameter, patchTypesOf, pathsOf } from './paths.ts';
import { metaPrefix, sharedSchemas } from './shared-schemas.ts';

// A reference stands in allOf, because beside a bare $ref nothing else (a description) may stand in OpenAPI 3.0.
const plainRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const ref = (name: string): JsonSchema => ({ allOf: [plainRef(name)] });

interface GroupVersion {
  group: string;
  version: string;
}

/**
 * `/openapi/v3`: where each group and version is described. The address carries the document's hash, so that clients keep
 * what they have as long as it holds.
 *
 * @param prefix path of the plane (`''` for the root one): the addresses are relative to the server, not to the plane.
 */
export function openApiV3Index(resources: readonly Described[], prefix = ''): OpenApiDocument {
  const groups = new Map<string, GroupVersion>();
  for (const { group, version } of resources) groups.set(groupVersionPath({ group, version }), { group, version });
  const paths: Record<string, { serverRelativeURL: string }> = {};
  for (const path of [...groups.keys()].sort()) {
    const { hash } = openApiV3(groups.get(path)!, resources);
    paths[path] = { serverRelativeURL: `${prefix}/openapi/v3/${path}?hash=${hash}` };
  }
  return cached(`index ${prefix}`, resources, () => encodeJson({ paths }));
}

/**
 * `/openapi/v3/apis/<group>/<version>` (or `api/v1`): OpenAPI 3.0 in JSON.
 *
 * @param resources of the plane; only those of the group and version are described.
 */
export function openApiV3(groupVersion: GroupVersion, resources: readonly Described[]): OpenApiDocument {
  const own = resources.filter(
    ({ group, version }) => group === groupVersion.group && version === groupVersion.version,
  );
  return cached(`v3 ${groupVersionPath(groupVersion)}`, own, () => encodeJson(build(own)));
}

function build(resources: readonly Described[]): unknown {
  const schemas: Record<string, JsonSchema> = sharedSchemas(ref);
  const paths: Record<string, unknown> = {};
  for (const resource of resources) {
    const { group, version, kind, listKind } = resource;
    const name = schemaName(group, version, kind);
    schemas[name] = {
      ...withTypeMeta(resource.schema.source, ref(`${metaPrefix}ObjectMeta`)),
      'x-kubernetes-group-version-kind': [gvkOf(resource)],
    };
    schemas[schemaName(group, version, listKind)] = listSchema(resource, ref(name), ref(`${metaPrefix}ListMeta`));
    for (const { path, parameters, operations } of pathsOf(resource)) {
      const item: Record<string, unknown> = { parameters: parameters.map(parameterOf) };
      for (const operation of operations) item[operation.method] = operationOf(operation);
      paths[path] = item;
    }
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1' },
    paths,
    components: { schemas },
  };
}

function parameterOf(parameter: Parameter): unknown {
  return {
    name: parameter.name,
    in: parameter.in,
    description: parameter.description,
    ...(parameter.in === 'path' ? { required: true } : {}),
    schema: { type: parameter.type, uniqueItems: true },
  };
}

function operationOf(operation: Operation): unknown {
  const media = { schema: plainRef(operation.response) };
  const request = operation.method === 'patch' ? patchTypesOf(operation.gvk) : ['*/*'];
  return {
    tags: [operation.tag],
    description: operation.description,
    operationId: operation.id,
    parameters: operation.parameters.map(parameterOf),
    ...(operation.body === undefined
      ? {}
      : {
          requestBody: {
            content: Object.fromEntries(request.map((type) => [type, { schema: plainRef(operation.body!) }])),
          },
        }),
    responses: {
      200: { description: 'OK', content: { 'application/json': media, 'application/yaml': media } },
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': operation.gvk,
  };
}
