/** The structural schema of a resource, compiled: what every write and read goes through. */

/** JSONSchemaProps of apiextensions.k8s.io/v1, as plain JSON. */
export type JsonSchema = Record<string, unknown>;

/** One cause of a 422: `reason` is the cause type (`FieldValueInvalid`, `FieldValueRequired`, …), as k8s `field.Error`. */
export interface FieldError {
  reason:
    | 'FieldValueInvalid'
    | 'FieldValueRequired'
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden'
    | 'FieldValueNotSupported'
    | 'FieldValueNotFound'
    | 'FieldValueTypeInvalid'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'InternalError';
  /** `spec.addresses[0].family`. */
  field: string;
  /** As field.Error.ErrorBody() prints it, without the field: `Invalid value: "x": must be …`. */
  message: string;
}

export interface CompiledSchema {
  /** The source, for OpenAPI and for server-side apply (list types, map keys). */
  readonly source: JsonSchema;
  /** Drops unknown fields in place (and null values where the schema is not nullable); answers their paths. */
  prune(object: Record<string, unknown>): string[];
  /** Fills in defaults, in place. */
  applyDefaults(object: Record<string, unknown>): void;
  /**
   * Structure and values first; CEL rules unless something among those or `already` leaves their input without meaning,
   * which a last error then says; transition rules only with `old`. Rule compilation, evaluation and cost errors are field
   * errors too. Answers only its own. Never throws.
   *
   * @param already what else is wrong with the object.
   * @param settled whether `old` was found valid by this very schema: fields of which both have the same value are not gone
   * through again.
   */
  validate(
    object: Record<string, unknown>,
    old?: Record<string, unknown>,
    already?: readonly FieldError[],
    settled?: boolean,
  ): FieldError[];
}
