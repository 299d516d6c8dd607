import { badRequest, fieldInvalid, fieldNotSupported, invalid } from '../errors.ts';
import { bodyText, decodeOrRefuse, notDecodable } from '../http/body.ts';
import { bodyFormat, booleanParameter, integerParameter } from '../http/negotiate.ts';
import type { FieldError } from '../schema/schema.ts';
import { formOf } from '../validation/metadata.ts';
import type { Call } from './call.ts';
import { checkDryRun } from './options.ts';

export interface DeleteOptions {
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  dryRun: boolean;
  /** `orphanDependents: false` was asked for: what is not gone at once is answered with 202. */
  accepted: boolean;
}

/** DeleteOptions from the body, or from the query where there is no body. Throws 400 and 422. */
export function deleteOptions(call: Call): DeleteOptions {
  const given = call.request.body === undefined || call.request.body.length === 0 ? ofQuery(call) : ofBody(call);
  const { propagationPolicy: policy, orphanDependents: orphan } = given;
  const errors: FieldError[] = [];
  if (policy !== undefined && orphan !== undefined) {
    errors.push(
      fieldInvalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  }
  const policies = ['Foreground', 'Background', 'Orphan'];
  if (policy !== undefined && !policies.includes(policy)) {
    errors.push(fieldNotSupported('propagationPolicy', policy, [...policies, 'nil']));
  }
  checkDryRun(given.dryRun, errors);
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  const older = orphan === undefined ? undefined : orphan ? 'Orphan' : 'Background';
  const effective = (policy ?? older) as DeleteOptions['propagationPolicy'];
  return {
    ...(effective === undefined ? {} : { propagationPolicy: effective }),
    ...(given.preconditions === undefined ? {} : { preconditions: given.preconditions }),
    dryRun: given.dryRun.length > 0,
    accepted: orphan === false,
  };
}

interface Given {
  propagationPolicy?: string;
  orphanDependents?: boolean;
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun: readonly string[];
}

function ofQuery({ request: { query } }: Call): Given {
  const policy = query.get('propagationPolicy');
  const orphan = booleanParameter(query, 'orphanDependents');
  integerParameter(query, 'gracePeriodSeconds');
  const [uid, version] = [query.get('uid') ?? '', query.get('resourceVersion') ?? ''];
  return {
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(orphan === undefined ? {} : { orphanDependents: orphan }),
    ...(uid === '' && version === ''
      ? {}
      : { preconditions: { ...(uid === '' ? {} : { uid }), ...(version === '' ? {} : { resourceVersion: version }) } }),
    dryRun: query.getAll('dryRun'),
  };
}

function ofBody({ request }: Call): Given {
  const contentType = request.headers['content-type'];
  const format = bodyFormat(Array.isArray(contentType) ? contentType[0] : contentType);
  const { value } = decodeOrRefuse(bodyText(request.body), format, false, notDecodable);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest(noKind(value));
  const { kind, propagationPolicy, orphanDependents, preconditions, dryRun } = value as Record<string, unknown>;
  if (kind !== undefined && kind !== 'DeleteOptions') {
    const { apiVersion = '' } = value as { apiVersion?: unknown };
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  if (propagationPolicy != null && typeof propagationPolicy !== 'string') {
    throw badRequest(unmarshal(propagationPolicy, 'DeleteOptions.propagationPolicy', 'v1.DeletionPropagation'));
  }
  if (orphanDependents != null && typeof orphanDependents !== 'boolean') {
    throw badRequest(unmarshal(orphanDependents, 'DeleteOptions.orphanDependents', 'bool'));
  }
  if (dryRun != null && !Array.isArray(dryRun)) {
    throw badRequest(unmarshal(dryRun, 'DeleteOptions.dryRun', '[]string'));
  }
  const odd = ((dryRun ?? []) as unknown[]).find((item) => typeof item !== 'string');
  if (odd !== undefined) throw badRequest(unmarshal(odd, 'DeleteOptions.dryRun', 'string'));
  return {
    ...(propagationPolicy == null ? {} : { propagationPolicy }),
    ...(orphanDependents == null ? {} : { orphanDependents }),
    ...(preconditions == null ? {} : { preconditions: checkPreconditions(preconditions) }),
    dryRun: (dryRun ?? []) as string[],
  };
}

/** As encoding/json refuses a value of another form than a field has. */
function unmarshal(value: unknown, field: string, type: string): string {
  return `json: cannot unmarshal ${formOf(value)} into Go struct field ${field} of type ${type}`;
}

function noKind(value: unknown): string {
  const type =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  const why = `json: cannot unmarshal ${formOf(value)} into Go value of type ${type}`;
  return `couldn't get version/kind; json parse error: ${why}`;
}

function checkPreconditions(value: unknown): NonNullable<DeleteOptions['preconditions']> {
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw badRequest(unmarshal(value, 'DeleteOptions.preconditions', 'v1.Preconditions'));
  }
  const { uid, resourceVersion } = value as Record<string, unknown>;
  for (const [name, given] of Object.entries({ uid, resourceVersion })) {
    if (given != null && typeof given !== 'string') {
      throw badRequest(
        unmarshal(given, `Preconditions.preconditions.${name}`, name === 'uid' ? 'types.UID' : 'string'),
      );
    }
  }
  return {
    ...(uid == null ? {} : { uid: uid as string }),
    ...(resourceVersion == null ? {} : { resourceVersion: resourceVersion as string }),
  };
}
