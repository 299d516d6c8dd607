import { isObject } from '../schema/json-schema.ts';
import type { JsonSchema } from '../schema/schema.ts';
import { cached, encodeJson, listSchema, type OpenApiDocument, withTypeMeta } from './document.ts';
import { encodeDocument } from './gnostic.ts';
import { type Described, gvkOf, schemaName } from './names.ts';
import { type Operation, type Parameter, patchTypesOf, pathsOf } from './paths.ts';
import { metaPrefix, sharedSchemas } from './shared-schemas.ts';
import type { SwaggerDocument } from './swagger.ts';

const ref = (name: string): JsonSchema => ({ $ref: `#/definitions/${name}` });

/** The media type of the protobuf form. */
export const openApiV2ProtobufType = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

/** A Swagger 2.0 document, as far as this server writes one. */
/** `/openapi/v2`: everything a plane serves, as Swagger 2.0 in JSON, or in gnostic's protobuf form. */
export function openApiV2(resources: readonly Described[], form: 'json' | 'protobuf' = 'json'): OpenApiDocument {
  return cached(`v2 ${form}`, resources, () => {
    const document = build(resources);
    return form === 'json' ? encodeJson(document) : encodeDocument(document);
  });
}

function build(resources: readonly Described[]): SwaggerDocument {
  const definitions: Record<string, JsonSchema> = sharedSchemas(ref);
  const paths: SwaggerDocument['paths'] = {};
  for (const resource of resources) {
    const { group, version, kind, listKind } = resource;
    const name = schemaName(group, version, kind);
    definitions[name] = {
      ...withTypeMeta(toV2(resource.schema.source), ref(`${metaPrefix}ObjectMeta`)),
      'x-kubernetes-group-version-kind': [gvkOf(resource)],
    };
    definitions[schemaName(group, version, listKind)] = listSchema(resource, ref(name), ref(`${metaPrefix}ListMeta`));
    for (const { path, parameters, operations } of pathsOf(resource)) {
      const item: Record<string, unknown> = { parameters: parameters.map(parameterOf) };
      for (const operation of operations) item[operation.method] = operationOf(operation);
      paths[path] = item;
    }
  }
  return { swagger: '2.0', info: { title: 'Kubernetes', version: 'v1' }, paths, definitions };
}

/**
 * A structural schema in the words of Swagger 2.0, which has no alternatives and no null: where a value could be
 * something Swagger cannot say, nothing is said, because old clients refuse what they think is wrong.
 */
export function toV2(schema: JsonSchema): JsonSchema {
  const out: JsonSchema = {};
  const isOpen =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const hidden = isOpen || schema.nullable === true;
  for (const [key, value] of Object.entries(schema)) {
    if (['allOf', 'anyOf', 'oneOf', 'not', 'nullable', 'x-kubernetes-validations'].includes(key)) continue;
    if (hidden && ['type', 'items', 'properties', 'additionalProperties', 'required', 'enum'].includes(key)) continue;
    if (hidden && (key === 'format' || key === 'default' || key === 'pattern')) continue;
    if (key === 'properties' && isObject(value)) {
      out.properties = Object.fromEntries(
        Object.entries(value).map(([name, property]) => [name, isObject(property) ? toV2(property) : {}]),
      );
    } else if ((key === 'items' || key === 'additionalProperties') && isObject(value)) out[key] = toV2(value);
    else out[key] = value;
  }
  return out;
}

function parameterOf(parameter: Parameter): unknown {
  return {
    name: parameter.name,
    in: parameter.in,
    description: parameter.description,
    type: parameter.type,
    uniqueItems: true,
    ...(parameter.in === 'path' ? { required: true } : {}),
  };
}

function operationOf(operation: Operation): unknown {
  const body =
    operation.body === undefined
      ? []
      : [{ name: 'body', in: 'body', required: operation.method !== 'delete', schema: ref(operation.body) }];
  return {
    tags: [operation.tag],
    description: operation.description,
    operationId: operation.id,
    consumes: operation.method === 'patch' ? patchTypesOf(operation.gvk) : ['application/json', 'application/yaml'],
    produces: ['application/json', 'application/yaml'],
    schemes: ['https'],
    parameters: [...body, ...operation.parameters.map(parameterOf)],
    responses: {
      200: { description: 'OK', schema: ref(operation.response) },
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': operation.gvk,
  };
}
