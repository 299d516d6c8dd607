/** Requests a platform has answered, as it counts them itself. */
import { kubeconfigTransport, systemClock } from '../../src/kube/index.ts';

export interface Counted {
  /** Requests of any plane that changed something, without Events, Leases and IPAM. */
  writes: number;
  /** Of `writes`, those of each kind of plane: root, hub, cell, project. */
  byPlane: Record<string, number>;
  /** Requests to IPAM, without watches. */
  ipam: number;
}

/** Verbs as Kubernetes authorizes them: so the server counts them. */
const writing = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Sums up `apiserver_request_total` of the Prometheus text `metrics`. */
export function countRequests(metrics: string): Counted {
  const counted: Counted = { writes: 0, byPlane: {}, ipam: 0 };
  for (const [, labels = '', value = '0'] of metrics.matchAll(/^apiserver_request_total\{([^}]*)\} (\d+)/gm)) {
    const label = (name: string): string => new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    const [verb, resource] = [label('verb'), label('resource')];
    if (label('group') === 'ipam.miloapis.com') {
      if (verb !== 'watch') counted.ipam += Number(value);
    } else if (writing.has(verb) && resource !== 'events' && resource !== 'leases') {
      counted.writes += Number(value);
      counted.byPlane[label('plane')] = (counted.byPlane[label('plane')] ?? 0) + Number(value);
    }
  }
  return counted;
}

export async function counters(kubeconfig: string): Promise<Counted> {
  const transport = kubeconfigTransport(kubeconfig, 'root');
  try {
    const response = await transport.request({ method: 'GET', path: '/metrics' });
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body) text += decoder.decode(chunk, { stream: true });
    return countRequests(text);
  } finally {
    await transport.close();
  }
}

/** Requests until now, once nothing has been written for a second: what was set off has come to rest. */
export async function settled(kubeconfig: string): Promise<Counted> {
  let before = await counters(kubeconfig);
  for (;;) {
    await systemClock.sleep(1_000);
    const now = await counters(kubeconfig);
    if (now.writes === before.writes) return now;
    before = now;
  }
}
