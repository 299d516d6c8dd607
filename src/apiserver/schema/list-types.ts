import { printValue } from './failure.ts';
import { isNullable, propertiesOf, schemaAt, stringsAt } from './json-schema.ts';
import type { FieldError, JsonSchema } from './schema.ts';

/** Takes one refusal: its reason, the field, and the message without the field. */
export type Report = (reason: FieldError['reason'], path: string, message: string) => void;

/** The rules of `x-kubernetes-list-type`, `x-kubernetes-list-map-keys` and `x-kubernetes-map-type`. */
export function checkListType(schema: JsonSchema, path: string, report: Report): void {
  const listType = schema['x-kubernetes-list-type'];
  const keys = stringsAt(schema, 'x-kubernetes-list-map-keys');
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType !== undefined) {
    if (schema.type !== 'object')
      report(
        'FieldValueInvalid',
        `${path}.type`,
        `Invalid value: ${printValue(schema.type)}: must be object if x-kubernetes-map-type is specified`,
      );
    if (mapType !== 'atomic' && mapType !== 'granular') {
      report(
        'FieldValueNotSupported',
        `${path}.x-kubernetes-map-type`,
        `Unsupported value: ${printValue(mapType)}: supported values: "atomic", "granular"`,
      );
    }
  }
  if (listType === undefined) {
    if (keys.length > 0)
      report(
        'FieldValueRequired',
        `${path}.x-kubernetes-list-type`,
        'Required value: must be map if x-kubernetes-list-map-keys is non-empty',
      );
    return;
  }
  if (schema.type !== 'array')
    report(
      'FieldValueInvalid',
      `${path}.type`,
      `Invalid value: ${printValue(schema.type)}: must be array if x-kubernetes-list-type is specified`,
    );
  if (listType !== 'atomic' && listType !== 'set' && listType !== 'map') {
    report(
      'FieldValueNotSupported',
      `${path}.x-kubernetes-list-type`,
      `Unsupported value: ${printValue(listType)}: supported values: "atomic", "map", "set"`,
    );
    return;
  }
  const items = schemaAt(schema, 'items');
  if (listType === 'set' && items !== undefined) {
    const isAtomic =
      (items.type === 'object' && items['x-kubernetes-map-type'] === 'atomic') ||
      (items.type === 'array' && (items['x-kubernetes-list-type'] ?? 'atomic') === 'atomic');
    if ((items.type === 'object' || items.type === 'array') && !isAtomic) {
      report('FieldValueForbidden', `${path}.items`, 'Forbidden: items of a set must be scalar, or atomic');
    }
    if (isNullable(items))
      report(
        'FieldValueForbidden',
        `${path}.items.nullable`,
        'Forbidden: cannot be nullable when x-kubernetes-list-type is set',
      );
  }
  if (listType !== 'map') {
    if (keys.length > 0)
      report(
        'FieldValueForbidden',
        `${path}.x-kubernetes-list-map-keys`,
        'Forbidden: must not be set if x-kubernetes-list-type is not map',
      );
    return;
  }
  if (keys.length === 0)
    report(
      'FieldValueRequired',
      `${path}.x-kubernetes-list-map-keys`,
      'Required value: must not be empty if x-kubernetes-list-type is map',
    );
  if (items === undefined) return;
  if (items.type !== 'object')
    report(
      'FieldValueInvalid',
      `${path}.items.type`,
      `Invalid value: ${printValue(items.type)}: must be object if parent array's x-kubernetes-list-type is map`,
    );
  if (isNullable(items))
    report(
      'FieldValueForbidden',
      `${path}.items.nullable`,
      'Forbidden: cannot be nullable when x-kubernetes-list-type is map',
    );
  const properties = new Map(propertiesOf(items));
  const required = stringsAt(items, 'required');
  if (new Set(keys).size < keys.length)
    report('FieldValueDuplicate', `${path}.x-kubernetes-list-map-keys`, 'Duplicate value: keys must be distinct');
  for (const [index, key] of keys.entries()) {
    const property = properties.get(key);
    const at = `${path}.x-kubernetes-list-map-keys[${index}]`;
    if (property === undefined)
      report(
        'FieldValueInvalid',
        at,
        `Invalid value: ${printValue(key)}: entries must all be names of item properties`,
      );
    else if (property.type === 'object' || property.type === 'array') {
      report(
        'FieldValueInvalid',
        `${path}.items.properties[${key}].type`,
        `Invalid value: ${printValue(property.type)}: must be a scalar type if parent array's x-kubernetes-list-type is map`,
      );
    } else if (property.default === undefined && !required.includes(key)) {
      report(
        'FieldValueRequired',
        `${path}.items.properties[${key}].default`,
        'Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      );
    }
  }
}
