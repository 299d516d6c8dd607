import { apiVersionOf, type ResourceType } from '../../meta/index.ts';

/**
 * The path of a resource below a plane's root, with every part percent-encoded: `/apis/<group>/<version>/namespaces/
 * <namespace>/<plural>/<name>/<subresource>`. Without `namespace`, of all namespaces. Throws where a part would make it
 * the path of something else.
 */
export function resourcePath(
  basePath: string,
  type: ResourceType,
  place: { namespace?: string | undefined; name?: string | undefined; subresource?: string | undefined },
): string {
  const { namespace, name, subresource } = place;
  let path = `${basePath}${type.group === '' ? '/api' : '/apis'}/${apiVersionOf(type)}`;
  if (type.namespaced && namespace !== undefined) path += `/namespaces/${segment(type, 'namespace', namespace)}`;
  path += `/${type.plural}`;
  if (name !== undefined) path += `/${segment(type, 'name', name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

function segment(type: ResourceType, what: string, text: string): string {
  if (text === '' || text === '.' || text === '..') {
    throw new TypeError(`the ${what} of a ${type.kind} may not be ${JSON.stringify(text)}`);
  }
  return encodeURIComponent(text);
}

/** `?a=1&b=2`, without the parameters that are undefined; empty when none is left. */
export function queryString(parameters: Record<string, string | number | boolean | undefined>): string {
  let query = '';
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) continue;
    query += `${query === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
  }
  return query;
}
