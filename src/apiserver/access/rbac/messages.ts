import { ApiError } from '../../../meta/index.ts';
import type { AccessAttributes } from '../interfaces.ts';

/** What somebody may not do, in the words clients of kube-apiserver look for. */
export function denialText(attributes: AccessAttributes): string {
  const user = JSON.stringify(attributes.identity.user);
  if (attributes.resource === '') {
    return `User ${user} cannot ${attributes.verb} path ${JSON.stringify(attributes.path)}`;
  }
  const resource =
    attributes.subresource === '' ? attributes.resource : `${attributes.resource}/${attributes.subresource}`;
  const scope =
    attributes.namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(attributes.namespace)}`;
  return `User ${user} cannot ${attributes.verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(attributes.group)} ${scope}`;
}

/** The 403 of a request the authorizer refused, with `text` (default: `denialText`) as its explanation. */
export function forbidden(attributes: AccessAttributes, text = denialText(attributes)): ApiError {
  const { group, resource, name } = attributes;
  if (resource === '') return ApiError.of('Forbidden', `forbidden: ${text}`, {});
  const qualified = group === '' ? resource : `${resource}.${group}`;
  const what = name === '' ? qualified : `${qualified} ${JSON.stringify(name)}`;
  return ApiError.of('Forbidden', `${what} is forbidden: ${text}`, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: resource,
  });
}
