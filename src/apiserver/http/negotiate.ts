import { ApiError } from '../../meta/index.ts';
import { badRequest } from '../errors.ts';
import type { MetaVersion } from '../table/index.ts';

export type OutputKind = 'object' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

export interface Output {
  readonly as: OutputKind;
  /** meta.k8s.io version of the transformed output. */
  readonly version: MetaVersion;
  readonly format: 'json' | 'yaml';
}

const plain: Output = { as: 'object', version: 'v1', format: 'json' };

/**
 * Reads Accept for a resource request: JSON or YAML, as the object, a Table or PartialObjectMetadata. Throws 406 where
 * nothing that is offered is acceptable (protobuf and CBOR are not).
 */
export function negotiateOutput(accept: string | undefined): Output {
  if (accept === undefined || accept === '' || accept === 'application/json' || accept === '*/*') return plain;
  for (const range of mediaRanges(accept)) {
    const format = formatOf(range.type);
    if (format === undefined) continue;
    const as = range.parameters.get('as');
    if (as === undefined) return format === 'json' ? plain : { ...plain, format };
    const version = range.parameters.get('v');
    if (range.parameters.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) continue;
    if (as === 'Table' || as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') {
      return { as, version, format };
    }
  }
  throw ApiError.of('NotAcceptable', 'only the following media types are accepted: application/json, application/yaml');
}

function formatOf(type: string): 'json' | 'yaml' | undefined {
  if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'json';
  return type === 'application/yaml' ? 'yaml' : undefined;
}

export interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The ranges of an Accept header, the most wanted first. */
export function mediaRanges(accept: string): MediaRange[] {
  const ranges = accept.split(',').map((part) => {
    const [type = '', ...rest] = part.split(';').map((piece) => piece.trim());
    const parameters = new Map<string, string>();
    for (const piece of rest) {
      const at = piece.indexOf('=');
      if (at > 0) parameters.set(piece.slice(0, at).trim(), piece.slice(at + 1).trim());
    }
    return { type: type.toLowerCase(), parameters, quality: Number(parameters.get('q') ?? '1') };
  });
  return ranges.filter((range) => range.quality > 0).sort((a, b) => b.quality - a.quality);
}

/** The format of a request body by its Content-Type, JSON where none is given. Throws 415. */
export function bodyFormat(contentType: string | undefined): 'json' | 'yaml' {
  const type = baseType(contentType);
  if (type === '' || type === 'application/json') return 'json';
  if (type === 'application/yaml') return 'yaml';
  throw unsupportedMediaType(['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']);
}

/** A media type without its parameters, in lower case; '' where there is none. */
export function baseType(contentType: string | undefined): string {
  if (contentType === undefined) return '';
  const end = contentType.indexOf(';');
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  return ApiError.of(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
}

/** A query parameter that is yes or no: all but `0` and `false` is yes, as in apimachinery. Undefined where absent. */
export function booleanParameter(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  return value === null ? undefined : value !== '0' && value.toLowerCase() !== 'false';
}

/** A whole number of a query parameter; undefined where absent. Throws 400. */
export function integerParameter(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  if (!/^-?\d{1,15}$/.test(value)) {
    throw badRequest(`strconv.ParseInt: parsing "${value}": invalid syntax`);
  }
  return Number(value);
}
