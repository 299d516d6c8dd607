import { Gauge, type Registry } from 'prom-client';
import { NetworkContext } from '../../api/index.ts';
import type { Clock, Plane } from '../../kube/index.ts';
import { parseTime } from '../../meta/index.ts';

const known = new WeakMap<Registry, Map<string, Plane>>();

/**
 * Counts, whenever somebody asks and until the plane is left, for how long its contexts have been going: one that is held
 * by addresses stays until the last of them is given back, in the cell and in the project alike.
 */
export function countTerminating(plane: Plane, registry: Registry | undefined, clock: Clock): void {
  if (registry === undefined) return;
  const planes = known.get(registry) ?? register(registry, clock);
  planes.set(plane.id, plane);
  plane.signal.addEventListener('abort', () => planes.delete(plane.id), { once: true });
}

function register(registry: Registry, clock: Clock): Map<string, Plane> {
  const planes = new Map<string, Plane>();
  known.set(registry, planes);
  new Gauge({
    name: 'berth_network_context_terminating_seconds',
    help: 'Age of the oldest NetworkContext of a plane that is being deleted; absent where none is.',
    labelNames: ['plane'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [id, plane] of planes) {
        const since = plane
          .informer(NetworkContext)
          .list()
          .flatMap(({ metadata }) => parseTime(metadata.deletionTimestamp) ?? []);
        if (since.length > 0) this.set({ plane: id }, Math.max(0, clock.now() - Math.min(...since)) / 1000);
      }
    },
  });
  return planes;
}
