import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { NetworkInterface, NetworkInterfaceClaim, networkingLabels } from '../../api/index.ts';
import type { Plane } from '../../kube/index.ts';
import { findCondition } from '../../meta/index.ts';

/** What the cells' network services count. A cell's label is its location; projects come and go and are none. */
export interface CellMetrics {
  /** Counts the cell's interfaces and claims from its caches, whenever somebody asks, until the plane is left. */
  count(plane: Plane): void;
  /** What the last audit of a cell found, by project. */
  audited(cell: string, found: readonly { stranded: number; missing: number }[]): void;
  orphansReleased(cell: string, count: number): void;
  /** A claim got its addresses, so long after it was made. */
  allocated(cell: string, milliseconds: number): void;
}

const noMetrics: CellMetrics = {
  count: () => undefined,
  audited: () => undefined,
  orphansReleased: () => undefined,
  allocated: () => undefined,
};

/** Why Ready is False without the claim being refused: something is not there yet. */
const unready = new Set(['NotBound', 'NotAllocated', 'NotPrepared', 'NotProgrammed']);

export function cellMetrics(registry: Registry | undefined): CellMetrics {
  if (registry === undefined) return noMetrics;
  const registers = [registry];
  const cells = new Map<string, Plane>();
  const audits = new Map<string, { stranded: number; missing: number }>();
  new Gauge({
    name: 'berth_network_addresses',
    help: 'Addresses by state: held by a claim; retained by an interface nobody holds; stranded, which nothing can name; missing, published and not held. The last two are of the last audit.',
    labelNames: ['cell', 'state'],
    registers,
    collect() {
      this.reset();
      for (const [cell, plane] of cells) {
        const counts = { held: 0, retained: 0, ...(audits.get(cell) ?? { stranded: 0, missing: 0 }) };
        for (const { metadata, spec } of plane.informer(NetworkInterface).list()) {
          if (metadata.labels?.[networkingLabels.interfaceProjection] !== undefined) continue;
          const addresses = (spec.addresses?.length ?? 0) + (spec.externalAddresses?.length ?? 0);
          counts[spec.claimRef === undefined ? 'retained' : 'held'] += addresses;
        }
        for (const [state, count] of Object.entries(counts)) this.set({ cell, state }, count);
      }
    },
  });
  new Gauge({
    name: 'berth_network_claims_refused',
    help: 'Claims that are refused now, by reason.',
    labelNames: ['cell', 'reason'],
    registers,
    collect() {
      this.reset();
      for (const [cell, plane] of cells) {
        for (const { status } of plane.informer(NetworkInterfaceClaim).list()) {
          const ready = findCondition(status?.conditions, 'Ready');
          if (ready?.status === 'False' && !unready.has(ready.reason)) this.inc({ cell, reason: ready.reason });
        }
      }
    },
  });
  const released = new Counter({
    name: 'berth_network_orphans_released_total',
    help: 'Allocations the auditor released because nothing could name them.',
    labelNames: ['cell'],
    registers,
  });
  const allocated = new Histogram({
    name: 'berth_network_claim_allocated_seconds',
    help: 'Time from the creation of a claim until its addresses were published.',
    labelNames: ['cell'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600],
    registers,
  });
  return {
    count(plane) {
      cells.set(plane.name, plane);
      plane.signal.addEventListener('abort', () => {
        cells.delete(plane.name);
        audits.delete(plane.name);
      });
    },
    audited(cell, found) {
      const sum = (of: 'stranded' | 'missing') => found.reduce((total, each) => total + each[of], 0);
      audits.set(cell, { stranded: sum('stranded'), missing: sum('missing') });
    },
    orphansReleased: (cell, count) => released.inc({ cell }, count),
    allocated: (cell, milliseconds) => allocated.observe({ cell }, milliseconds / 1000),
  };
}
