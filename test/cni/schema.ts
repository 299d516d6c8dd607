/**
 * What section 1 of the CNI specification (1.1.0, "Network configuration format") says a configuration list and its plugin
 * objects are. The specification has it in prose; keys of a plugin's own are allowed in a plugin object only.
 */

const name = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*$' };
const version = { type: 'string', pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$' };

const plugin = {
  type: 'object',
  required: ['type'],
  properties: {
    // The name of an executable: nothing a path could be made of.
    type: { type: 'string', pattern: '^[^/\\\\\\0]+$' },
    capabilities: { type: 'object', additionalProperties: { type: 'boolean' } },
    ipMasq: { type: 'boolean' },
    ipam: { type: 'object', required: ['type'], properties: { type: { type: 'string', minLength: 1 } } },
    dns: {
      type: 'object',
      properties: {
        nameservers: { type: 'array', items: { type: 'string' } },
        domain: { type: 'string' },
        search: { type: 'array', items: { type: 'string' } },
        options: { type: 'array', items: { type: 'string' } },
      },
    },
    // Of a runtime's request, and never of what is on file.
    runtimeConfig: false,
    args: false,
    prevResult: false,
    name: false,
    cniVersion: false,
  },
  patternProperties: { '^cni\\.dev/': false },
};

export const configurationList = {
  type: 'object',
  required: ['cniVersion', 'name', 'plugins'],
  additionalProperties: false,
  properties: {
    cniVersion: version,
    cniVersions: { type: 'array', items: version },
    name,
    disableCheck: { type: 'boolean' },
    disableGC: { type: 'boolean' },
    loadOnlyInlinedPlugins: { type: 'boolean' },
    plugins: { type: 'array', minItems: 1, items: plugin },
  },
};
