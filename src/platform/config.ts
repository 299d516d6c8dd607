import { readFileSync } from 'node:fs';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import { parseDocument } from 'yaml';
import { defaultFeatureGates, type FeatureGates, isFeatureGate, UsageError } from './gates.ts';

const seconds = (defaultValue: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 31_536_000, default: defaultValue, description });
const className = (defaultValue: string | undefined, description: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 253,
      description,
      ...(defaultValue === undefined ? {} : { default: defaultValue }),
    }),
  );
const closed = { additionalProperties: false };

const schema = Type.Object(
  {
    quietPeriodSeconds: seconds(300, 'How long a network stays present in a location that nothing uses any more.'),
    restSeconds: seconds(60, 'How long a freed address rests before anyone else gets it; pools may say otherwise.'),
    auditSeconds: seconds(600, 'How often addresses held are compared with interfaces; 0: only at start.'),
    orphanSeconds: seconds(
      60,
      'Least time between the two audits that make an allocation nobody can name an orphan, which is released.',
    ),
    leases: Type.Object(
      {
        retentionSeconds: Type.Optional(
          Type.Integer({
            minimum: 60,
            description:
              'How long a retained interface nobody holds is kept, where its class says nothing. Absent: for ever.',
          }),
        ),
      },
      { ...closed, default: {}, description: 'Limits on what is retained.' },
    ),
    ipam: Type.Object(
      {
        classes: Type.Object(
          {
            networkIPv6: className('network-ipv6', 'Class that gives a network its IPv6 range.'),
            subnetIPv6: className('subnet-ipv6', 'Class that gives a network its IPv6 subnet in a location.'),
            networkIPv4: className(undefined, 'Class that gives a network its IPv4 range. Unset: it has none.'),
            subnetIPv4: className('subnet-ipv4', 'Class that gives a network its IPv4 subnet in a location.'),
          },
          { ...closed, default: {}, description: 'IPAM classes the network controllers use.' },
        ),
      },
      { ...closed, default: {} },
    ),
    dataPlane: Type.Union([Type.Literal('fabric'), Type.Literal('external'), Type.Literal('none')], {
      default: 'fabric',
      description:
        'What realizes interfaces in the cells. fabric: an attachment a node can read is made of each, and its instance starts after that. external: the same, by somebody else (see providers.md). none: an instance starts as soon as its addresses exist, and nothing of the fabric is read or written.',
    }),
    featureGates: Type.Record(Type.String(), Type.Boolean(), { default: {}, description: 'Feature gates by name.' }),
  },
  closed,
);

export type PlatformConfig = Omit<Static<typeof schema>, 'featureGates'> & { featureGates: FeatureGates };

const validator = Compile(schema);

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
  const unknown = unknownField(value, root, '');
  if (unknown !== undefined) throw new UsageError(`${source}: ${unknown}`);
  const filled = Value.Default(schema, structuredClone(value));
  const problem = validator.Errors(filled)[0];
  if (problem !== undefined) throw new UsageError(`${source}: ${describe(problem)}`);
  const decoded = filled as Static<typeof schema>;
  for (const gate of Object.keys(decoded.featureGates)) {
    if (!isFeatureGate(gate)) throw new UsageError(`${source}: featureGates.${gate} is not a feature gate`);
  }
  return { ...decoded, featureGates: { ...defaultFeatureGates(), ...decoded.featureGates } };
}

interface ObjectSchema {
  properties?: Record<string, ObjectSchema & { default?: unknown; description?: string }>;
}

const root = schema as unknown as ObjectSchema;

/** The first field that the schema does not know, as a sentence. */
function unknownField(value: object, node: ObjectSchema, path: string): string | undefined {
  const { properties } = node;
  if (properties === undefined) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const field = path === '' ? name : `${path}.${name}`;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) return `${field} is not a field; known here: ${Object.keys(properties).join(', ')}`;
    const deeper = typeof inner === 'object' && inner !== null ? unknownField(inner, property, field) : undefined;
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

function describe(problem: { instancePath: string; message: string }): string {
  const field = problem.instancePath.split('/').slice(1).join('.');
  if (field === 'dataPlane') return 'dataPlane must be one of: fabric, external, none';
  return `${field} ${problem.message}`;
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
  const walk = (node: ObjectSchema, path: string): void => {
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
