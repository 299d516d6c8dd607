import { createHash } from 'node:crypto';
import type { Instance, InstanceSpec, NetworkInterfaceClaim, Workload } from '../../api/index.ts';

export type InstanceTemplate = Workload['spec']['template'];

/** What one slot claims: one interface per instance for now. */
export interface InterfaceRequest {
  /** Name of the interface in the template: the last part of the claim's name. */
  name: string;
  /** Namespace the template gives for the network, where it gives one. */
  networkNamespace: string | undefined;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  spec: NetworkInterfaceClaim['spec'];
}

/** Longest name the kernel gives a device (IFNAMSIZ - 1). */
const deviceNameLength = 15;

/**
 * The claim a template asks for, written either way a consumer may write it: `networkInterfaces` (the device is the
 * interface's name) or `networkInterfaceClaimTemplates` (the device is `spec.interfaceName`).
 */
export function interfaceRequest(template: InstanceSpec): InterfaceRequest | undefined {
  const written = template.networkInterfaces?.[0];
  if (written !== undefined) {
    const { name, network, ipFamilies, reclaimPolicy, addresses } = written;
    return {
      name,
      networkNamespace: network.namespace,
      labels: {},
      annotations: {},
      spec: {
        network: { name: network.name },
        interfaceName: name,
        attachmentMode: 'Netns',
        ipFamilies,
        reclaimPolicy,
        ...(addresses === undefined ? {} : { addresses }),
      },
    };
  }
  const claim = template.networkInterfaceClaimTemplates?.[0];
  if (claim === undefined) return undefined;
  const { name, labels = {}, annotations = {} } = claim.metadata;
  return { name, networkNamespace: undefined, labels, annotations, spec: claim.spec };
}

/** The device of an interface in the guest: the claim's, or the template's name cut to what the kernel takes. */
export function deviceName(request: InterfaceRequest): string {
  return (request.spec.interfaceName ?? request.name).slice(0, deviceNameLength);
}

/**
 * Hash of what an instance is made from: any change of the template replaces the instances. Keys are sorted, so that two
 * servers that order a map differently agree.
 */
export function templateHash(template: InstanceTemplate): string {
  return createHash('sha256').update(canonical(template)).digest('hex').slice(0, 16);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
}

export function templateHashOf(instance: Instance): string | undefined {
  return instance.spec?.controller?.templateHash;
}
