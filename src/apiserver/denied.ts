import { ApiError } from '../meta/index.ts';
import type { AccessAttributes } from './access/interfaces.ts';
import { forbidden } from './errors.ts';

/** The 403 of a request the authorizer refused, in kube-apiserver's words. `name` is the object's in the path. */
export function denied(attributes: AccessAttributes, name: string, reason: string): ApiError {
  const { identity, verb, group, resource, subresource, namespace, path } = attributes;
  const why = reason === '' ? '' : `: ${reason}`;
  const user = JSON.stringify(identity.user);
  if (resource === '') {
    return ApiError.of('Forbidden', `forbidden: User ${user} cannot ${verb} path ${JSON.stringify(path)}${why}`, {});
  }
  const what = JSON.stringify(subresource === '' ? resource : `${resource}/${subresource}`);
  const place = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  const text = `User ${user} cannot ${verb} resource ${what} in API group ${JSON.stringify(group)} ${place}${why}`;
  return forbidden({ group, plural: resource }, name, text);
}
