/** A workload big enough to measure, and when its instances come to their addresses. */
import { Instance, Network, Workload } from '../../src/api/index.ts';
import { type Client, systemClock } from '../../src/kube/index.ts';
import { apiVersionOf } from '../../src/meta/index.ts';

export const namespace = 'default';

/** The network every instance of a load is in, of both families. */
export const network: Network = {
  apiVersion: apiVersionOf(Network),
  kind: Network.kind,
  metadata: { name: 'default', namespace },
  spec: { ipam: { mode: 'Auto' }, ipFamilies: ['IPv6', 'IPv4'], mtu: 1460 },
};

export interface Load {
  name: string;
  count: number;
  /** One placement, and one share of `count`, in each. */
  locations: readonly string[];
}

/** Dual-stack instances, as evenly over the locations as they go. */
export function load({ name, count, locations }: Load): Workload {
  const share = (index: number): number =>
    Math.floor(((index + 1) * count) / locations.length) - Math.floor((index * count) / locations.length);
  return {
    apiVersion: apiVersionOf(Workload),
    kind: Workload.kind,
    metadata: { name, namespace },
    spec: {
      template: {
        spec: {
          runtime: {
            resources: { instanceType: 'datumcloud/d1-standard-2' },
            sandbox: { containers: [{ name: 'app', image: 'docker.io/library/nginx:1.29' }] },
          },
          networkInterfaces: [
            { name: 'eth0', network: { name: 'default' }, ipFamilies: ['IPv6', 'IPv4'], reclaimPolicy: 'Delete' },
          ],
        },
      },
      placements: locations.flatMap((location, index) =>
        share(index) === 0
          ? []
          : [
              {
                name: `in-${location}`,
                locations: [{ name: location }],
                scaleSettings: { minReplicas: share(index), instanceManagementPolicy: 'OrderedReady' },
              },
            ],
      ),
    },
  };
}

export interface Seen {
  /** Milliseconds from `since` to the first sight of an instance in the project, and to its addresses, by name. */
  appeared: Map<string, number>;
  addressed: Map<string, number>;
}

/**
 * Watches the project until `count` instances show both addresses.
 * @throws after `waitMilliseconds` without.
 */
export async function watchAddresses(
  project: Client,
  count: number,
  since: number,
  waitMilliseconds: number,
): Promise<Seen> {
  const seen: Seen = { appeared: new Map(), addressed: new Map() };
  const { resourceVersion } = await project.list(Instance, { namespace });
  const deadline = new AbortController();
  const timer = systemClock.after(waitMilliseconds, () => deadline.abort(new Error('not all instances got addresses')));
  try {
    const options = { namespace, resourceVersion, signal: deadline.signal };
    for await (const event of project.watch(Instance, options)) {
      if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
      const { name } = event.object.metadata;
      const at = systemClock.monotonic() - since;
      if (!seen.appeared.has(name)) seen.appeared.set(name, at);
      const addresses = event.object.status?.networkInterfaces?.[0]?.addresses ?? [];
      if (addresses.length === 2 && !seen.addressed.has(name)) seen.addressed.set(name, at);
      if (seen.addressed.size === count) break;
    }
  } finally {
    timer.cancel();
  }
  deadline.signal.throwIfAborted();
  return seen;
}
