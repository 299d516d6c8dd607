import { isObject } from '../schema/json-schema.ts';
import type { JsonSchema } from '../schema/schema.ts';
import { ProtobufWriter } from './protobuf.ts';
import type { SwaggerDocument } from './swagger.ts';

/**
 * A Swagger document as `openapi.v2.Document` (github.com/google/gnostic-models, openapiv2/OpenAPIv2.proto), of which it
 * writes the parts this server uses. The numbers are that file's field numbers.
 */
export function encodeDocument(document: SwaggerDocument): Uint8Array {
  const writer = new ProtobufWriter();
  writer.string(1, document.swagger);
  writer.message(2, (info) => {
    info.string(1, document.info.title);
    info.string(2, document.info.version);
  });
  writer.message(8, (paths) => {
    for (const [name, item] of Object.entries(document.paths)) {
      named(paths, 2, name, (value) => writePath(value, item));
    }
  });
  writer.message(9, (definitions) => writeSchemas(definitions, document.definitions));
  return writer.finish();
}

function named(writer: ProtobufWriter, field: number, name: string, write: (writer: ProtobufWriter) => void): void {
  writer.message(field, (entry) => {
    entry.string(1, name);
    entry.message(2, write);
  });
}

/** gnostic keeps free-form values as YAML text; JSON is YAML. */
function any(writer: ProtobufWriter, field: number, value: unknown): void {
  writer.message(field, (entry) => entry.string(2, `${JSON.stringify(value)}\n`));
}

function extensions(writer: ProtobufWriter, field: number, object: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(object)) {
    if (!name.startsWith('x-')) continue;
    writer.message(field, (entry) => {
      entry.string(1, name);
      any(entry, 2, value);
    });
  }
}

const methods: Record<string, number> = { get: 2, put: 3, post: 4, delete: 5, patch: 8 };

function writePath(writer: ProtobufWriter, item: Record<string, unknown>): void {
  for (const [method, field] of Object.entries(methods)) {
    const operation = item[method];
    if (isObject(operation)) writer.message(field, (value) => writeOperation(value, operation));
  }
  writeParameters(writer, 9, item.parameters);
}

function writeOperation(writer: ProtobufWriter, operation: Record<string, unknown>): void {
  writer.strings(1, operation.tags);
  writer.string(3, operation.description);
  writer.string(5, operation.operationId);
  writer.strings(6, operation.produces);
  writer.strings(7, operation.consumes);
  writeParameters(writer, 8, operation.parameters);
  writer.message(9, (responses) => {
    for (const [code, response] of Object.entries(operation.responses as Record<string, JsonSchema>)) {
      named(responses, 1, code, (value) =>
        value.message(1, (inner) => {
          inner.string(1, response.description);
          const { schema } = response;
          if (isObject(schema)) inner.message(2, (item) => item.message(1, (body) => writeSchema(body, schema)));
        }),
      );
    }
  });
  writer.strings(10, operation.schemes);
  extensions(writer, 13, operation);
}

function writeParameters(writer: ProtobufWriter, field: number, parameters: unknown): void {
  if (!Array.isArray(parameters)) return;
  for (const parameter of parameters.filter(isObject)) {
    writer.message(field, (item) => item.message(1, (value) => writeParameter(value, parameter)));
  }
}

function writeParameter(writer: ProtobufWriter, parameter: Record<string, unknown>): void {
  if (parameter.in === 'body') {
    writer.message(1, (body) => {
      body.string(2, parameter.name);
      body.string(3, parameter.in);
      body.bool(4, parameter.required);
      if (isObject(parameter.schema)) body.message(5, (schema) => writeSchema(schema, parameter.schema as JsonSchema));
    });
    return;
  }
  const isQuery = parameter.in === 'query';
  writer.message(2, (choice) =>
    choice.message(isQuery ? 3 : 4, (value) => {
      value.bool(1, parameter.required);
      value.string(2, parameter.in);
      value.string(3, parameter.description);
      value.string(4, parameter.name);
      value.string(isQuery ? 6 : 5, parameter.type);
      value.bool(isQuery ? 20 : 19, parameter.uniqueItems);
    }),
  );
}

function writeSchemas(writer: ProtobufWriter, schemas: Record<string, unknown>): void {
  for (const [name, schema] of Object.entries(schemas)) {
    if (isObject(schema)) named(writer, 1, name, (value) => writeSchema(value, schema));
  }
}

function writeSchema(writer: ProtobufWriter, schema: JsonSchema): void {
  writer.string(1, schema.$ref);
  writer.string(2, schema.format);
  writer.string(3, schema.title);
  writer.string(4, schema.description);
  if (schema.default !== undefined) any(writer, 5, schema.default);
  writer.double(6, schema.multipleOf);
  writer.double(7, schema.maximum);
  writer.bool(8, schema.exclusiveMaximum);
  writer.double(9, schema.minimum);
  writer.bool(10, schema.exclusiveMinimum);
  writer.int64(11, schema.maxLength);
  writer.int64(12, schema.minLength);
  writer.string(13, schema.pattern);
  writer.int64(14, schema.maxItems);
  writer.int64(15, schema.minItems);
  writer.bool(16, schema.uniqueItems);
  writer.int64(17, schema.maxProperties);
  writer.int64(18, schema.minProperties);
  writer.strings(19, schema.required);
  if (Array.isArray(schema.enum)) for (const value of schema.enum) any(writer, 20, value);
  const { additionalProperties, items, properties } = schema;
  if (isObject(additionalProperties)) {
    writer.message(21, (item) => item.message(1, (value) => writeSchema(value, additionalProperties)));
  } else if (additionalProperties === true) writer.message(21, (item) => item.bool(2, true));
  if (typeof schema.type === 'string') writer.message(22, (item) => item.string(1, schema.type));
  if (isObject(items)) writer.message(23, (item) => item.message(1, (value) => writeSchema(value, items)));
  if (isObject(properties)) writer.message(25, (value) => writeSchemas(value, properties));
  extensions(writer, 31, schema);
}
