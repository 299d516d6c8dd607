import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ApiError } from '../meta/index.ts';
import type { WriteRequest } from './procedures.ts';
import type { PoolFigure } from './sweep.ts';

/** IPAM's metrics. Every series is bounded: verbs, cause types, and the pools people wrote. */
export function createMetrics(registry: Registry) {
  const registers = [registry];
  const attempts = new Counter({
    name: 'berth_ipam_attempts_total',
    help: 'Writes of IPAM objects, dry runs included.',
    labelNames: ['resource', 'verb'],
    registers,
  });
  const failures = new Counter({
    name: 'berth_ipam_failures_total',
    help: 'Writes IPAM refused, by cause type (the status reason where there is none).',
    labelNames: ['resource', 'verb', 'cause'],
    registers,
  });
  const latency = new Histogram({
    name: 'berth_ipam_write_seconds',
    help: 'Time from a write to its durable answer.',
    labelNames: ['resource', 'verb'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers,
  });
  const utilization = new Gauge({
    name: 'berth_ipam_pool_utilization_ratio',
    help: 'Reserved, held and resting share of an authored pool, 0 to 1.',
    labelNames: ['plane', 'pool'],
    registers,
  });
  const fullest = new Gauge({
    name: 'berth_ipam_class_utilization_ratio',
    help: 'Share in use of the pool of a class that changed last, 0 to 1.',
    labelNames: ['plane', 'class'],
    registers,
  });
  return {
    wrote({ plural, verb }: WriteRequest, refused: ApiError | undefined, milliseconds: number): void {
      attempts.inc({ resource: plural, verb });
      latency.observe({ resource: plural, verb }, milliseconds / 1000);
      if (refused === undefined) return;
      const cause = refused.status.details?.causes?.[0]?.reason ?? refused.reason;
      failures.inc({ resource: plural, verb, cause });
    },
    pools(figures: readonly PoolFigure[]): void {
      for (const { plane, pool, class: className, authored, utilization: share } of figures) {
        if (authored) utilization.set({ plane, pool }, share);
        else fullest.set({ plane, class: className }, share);
      }
    },
  };
}
