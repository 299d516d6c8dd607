import { badRequest, fieldInvalid, fieldNotSupported, invalid } from '../errors.ts';
import { bodyText, decodeOrRefuse, notDecodable } from '../http/body.ts';
import { bodyFormat, booleanParameter } from '../http/negotiate.ts';
import type { FieldError } from '../schema/schema.ts';
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
  return {
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(orphan === undefined ? {} : { orphanDependents: orphan }),
    dryRun: query.getAll('dryRun'),
  };
}

function ofBody({ request }: Call): Given {
  const contentType = request.headers['content-type'];
  const format = bodyFormat(Array.isArray(contentType) ? contentType[0] : contentType);
  const { value } = decodeOrRefuse(bodyText(request.body), format, false, notDecodable);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('the body of a delete must be DeleteOptions');
  }
  const { kind, propagationPolicy, orphanDependents, preconditions, dryRun } = value as Record<string, unknown>;
  if (kind !== undefined && kind !== 'DeleteOptions') {
    throw badRequest('decoded object cannot be converted to DeleteOptions');
  }
  if (propagationPolicy != null && typeof propagationPolicy !== 'string') {
    throw badRequest('propagationPolicy must be a string');
  }
  if (orphanDependents != null && typeof orphanDependents !== 'boolean') {
    throw badRequest('orphanDependents must be true or false');
  }
  if (dryRun != null && (!Array.isArray(dryRun) || dryRun.some((item) => typeof item !== 'string'))) {
    throw badRequest('dryRun must be a list of strings');
  }
  return {
    ...(propagationPolicy == null ? {} : { propagationPolicy }),
    ...(orphanDependents == null ? {} : { orphanDependents }),
    ...(preconditions == null ? {} : { preconditions: checkPreconditions(preconditions) }),
    dryRun: (dryRun ?? []) as string[],
  };
}

function checkPreconditions(value: unknown): NonNullable<DeleteOptions['preconditions']> {
  if (typeof value !== 'object') throw badRequest('preconditions must be an object');
  const { uid, resourceVersion } = value as Record<string, unknown>;
  for (const field of [uid, resourceVersion]) {
    if (field != null && typeof field !== 'string') throw badRequest('preconditions must hold strings');
  }
  return {
    ...(uid == null ? {} : { uid: uid as string }),
    ...(resourceVersion == null ? {} : { resourceVersion: resourceVersion as string }),
  };
}
