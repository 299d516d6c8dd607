/** Feature gates, as Kubernetes components have them: `--feature-gates Name=true,Other=false`. */

export interface FeatureGate {
  /** Default of the embedded platform. */
  default: boolean;
  stage: 'alpha' | 'beta' | 'stable';
  description: string;
}

export const featureGates = {
  NetworkingIntegration: {
    default: true,
    stage: 'alpha',
    description: 'Instances claim network interfaces. Off: compute reads, watches and writes no networking object.',
  },
  ReferencedData: {
    default: false,
    stage: 'alpha',
    description:
      'ConfigMaps and Secrets that a template references are carried to its cells, and instances wait for them. Off: neither is read.',
  },
} as const satisfies Record<string, FeatureGate>;

export type FeatureGateName = keyof typeof featureGates;
export type FeatureGates = Record<FeatureGateName, boolean>;

export function isFeatureGate(name: string): name is FeatureGateName {
  return Object.hasOwn(featureGates, name);
}

export function defaultFeatureGates(): FeatureGates {
  return Object.fromEntries(Object.entries(featureGates).map(([name, gate]) => [name, gate.default])) as FeatureGates;
}

/**
 * `Name=true,Other=false` over the defaults.
 * @throws {UsageError} for an unknown gate or a value that is not a boolean.
 */
export function parseFeatureGates(text: string): Partial<FeatureGates> {
  const gates: Partial<FeatureGates> = {};
  for (const part of text.split(',').filter((item) => item.trim() !== '')) {
    const [name = '', value = ''] = part.split('=').map((item) => item.trim());
    if (!isFeatureGate(name)) {
      throw new UsageError(`feature gate "${name}" is unknown; known are: ${Object.keys(featureGates).join(', ')}`);
    }
    if (value !== 'true' && value !== 'false') {
      throw new UsageError(`feature gate ${name} must be true or false, not "${value}"`);
    }
    gates[name] = value === 'true';
  }
  return gates;
}

/** What a person typed cannot be done as typed: one sentence that says what would be right. Exit code 2. */
export class UsageError extends Error {}
