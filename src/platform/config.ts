import { readFileSync } from 'node:fs';
import type { Static } from 'typebox';
import { parseDocument } from 'yaml';
import { schemas } from '../api/index.ts';
import { filled, type Node } from './config-fields.ts';
import { defaultFeatureGates, type FeatureGates, isFeatureGate, UsageError } from './gates.ts';

const { bool, int32, map, object, oneOf, optional, text } = schemas;

const seconds = (defaultValue: number, description: string) =>
  int32(description, { minimum: 0, maximum: 31_536_000, default: defaultValue });
const className = (defaultValue: string | undefined, description: string) =>
  optional(
    text(description, {
      minLength: 1,
      maxLength: 253,
      ...(defaultValue === undefined ? {} : { default: defaultValue }),
    }),
  );

const schema = object('What a platform can be told.', {
  quietPeriodSeconds: seconds(300, 'How long a network stays present in a location that nothing uses any more.'),
  restSeconds: seconds(60, 'How long a freed address rests before anyone else gets it; pools may say otherwise.'),
  auditSeconds: seconds(600, 'How often addresses held are compared with interfaces; 0: only at start.'),
  orphanSeconds: seconds(
    60,
    'Least time between the two audits that make an allocation nobody can name an orphan, which is released.',
  ),
  leases: object(
    'Limits on what is retained.',
    {
      retentionSeconds: optional(
        int32('How long a retained interface nobody holds is kept, where its class says nothing. Absent: for ever.', {
          minimum: 60,
        }),
      ),
    },
    { default: {} },
  ),
  ipam: object(
    'How IPAM is used.',
    {
      classes: object(
        'IPAM classes the network controllers use.',
        {
          networkIPv6: className('network-ipv6', 'Class that gives a network its IPv6 range.'),
          subnetIPv6: className('subnet-ipv6', 'Class that gives a network its IPv6 subnet in a location.'),
          networkIPv4: className(undefined, 'Class that gives a network its IPv4 range. Unset: it has none.'),
          subnetIPv4: className('subnet-ipv4', 'Class that gives a network its IPv4 subnet in a location.'),
        },
        { default: {} },
      ),
    },
    { default: {} },
  ),
  dataPlane: oneOf(
    'What realizes interfaces in the cells. fabric: an attachment a node can read is made of each, and its instance starts after that. external: the same, by somebody else (see providers.md). none: an instance starts as soon as its addresses exist, and nothing of the fabric is read or written.',
    ['fabric', 'external', 'none'],
    { default: 'fabric' },
  ),
  featureGates: map('Feature gates by name.', bool(''), { default: {} }),
});

export type PlatformConfig = Omit<Static<typeof schema>, 'featureGates'> & { featureGates: FeatureGates };

const root = schema as unknown as Node;

export function defaultConfig(): PlatformConfig {
  return decodeConfig({}, 'the built-in configuration');
}

/**
 * Strict: an unknown field, a wrong type or a value out of range is refused, naming the field and what would be right.
 * @throws {UsageError}
 */
export function decodeConfig(value: unknown, source: string): PlatformConfig {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${source}: the configuration must be a mapping of fields, such as "quietPeriodSeconds: 300"`);
  }
  let decoded: Static<typeof schema>;
  try {
    decoded = filled(value, root, '') as Static<typeof schema>;
  } catch (error) {
    throw new UsageError(`${source}: ${(error as Error).message}`);
  }
  for (const gate of Object.keys(decoded.featureGates)) {
    if (!isFeatureGate(gate)) throw new UsageError(`${source}: featureGates.${gate} is not a feature gate`);
  }
  return { ...decoded, featureGates: { ...defaultFeatureGates(), ...decoded.featureGates } };
}

/**
 * Reads a YAML or JSON file.
 * @throws {UsageError} when it cannot be read, parsed or decoded.
 */
export function loadConfig(file: string): PlatformConfig {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`configuration file ${file} cannot be read: ${(error as Error).message}`);
  }
  const document = parseDocument(text);
  const problem = document.errors[0];
  if (problem !== undefined)
    throw new UsageError(`configuration file ${file} is not YAML: ${problem.message.split('\n')[0]}`);
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // An alias of nothing, or aliases that multiply without end.
    throw new UsageError(`configuration file ${file} is not YAML: ${(error as Error).message}`);
  }
  return decodeConfig(value ?? {}, file);
}

/** The fields, for `--help` and the documentation. */
export function configFields(): { field: string; default: string; description: string }[] {
  const rows: { field: string; default: string; description: string }[] = [];
  const walk = (node: Node, path: string): void => {
    for (const [name, property] of Object.entries(node.properties ?? {})) {
      const field = path === '' ? name : `${path}.${name}`;
      if (property.properties !== undefined) walk(property, field);
      else {
        const text = property.default === undefined ? '' : JSON.stringify(property.default);
        rows.push({ field, default: text, description: property.description ?? '' });
      }
    }
  };
  walk(root, '');
  return rows;
}
