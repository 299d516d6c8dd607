import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { PlaneRole } from '../controller.ts';
import type { QueueMetrics } from '../queue/queue.ts';

export type ReconcileOutcome = 'success' | 'requeue' | 'conflict' | 'error' | 'terminal' | 'aborted';

/** What a manager counts. Labels are controllers, kinds and roles, never planes: projects come and go, series would stay. */
export interface ManagerMetrics {
  reconciled(controller: string, outcome: ReconcileOutcome, seconds: number): void;
  informerFailed(role: PlaneRole, kind: string, during: string): void;
  queue(controller: string): QueueMetrics | undefined;
}

const noMetrics: ManagerMetrics = {
  reconciled: () => undefined,
  informerFailed: () => undefined,
  queue: () => undefined,
};

const secondsBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];

export function managerMetrics(registry: Registry | undefined): ManagerMetrics {
  if (registry === undefined) return noMetrics;
  const registers = [registry];
  /** Managers that share a registry share its series. */
  const once = <M>(name: string, make: (name: string) => M): M =>
    (registry.getSingleMetric(name) as M | undefined) ?? make(name);
  const reconciles = once(
    'berth_reconcile_total',
    (name) =>
      new Counter({
        name,
        help: 'Reconciles, by controller and result.',
        labelNames: ['controller', 'result'],
        registers,
      }),
  );
  const duration = once(
    'berth_reconcile_seconds',
    (name) =>
      new Histogram({
        name,
        help: 'How long a reconcile took.',
        labelNames: ['controller'],
        buckets: secondsBuckets,
        registers,
      }),
  );
  const failures = once(
    'berth_informer_failures_total',
    (name) =>
      new Counter({
        name,
        help: 'Failures of lists, watches and event handlers that informers recovered from.',
        labelNames: ['role', 'kind', 'during'],
        registers,
      }),
  );
  const depth = once(
    'berth_workqueue_depth',
    (name) =>
      new Gauge({
        name,
        help: 'Requests waiting for a worker.',
        labelNames: ['controller'],
        registers,
      }),
  );
  const adds = once(
    'berth_workqueue_adds_total',
    (name) =>
      new Counter({
        name,
        help: 'Requests added to the queue.',
        labelNames: ['controller'],
        registers,
      }),
  );
  const waits = once(
    'berth_workqueue_wait_seconds',
    (name) =>
      new Histogram({
        name,
        help: 'How long a request waited for a worker.',
        labelNames: ['controller'],
        buckets: secondsBuckets,
        registers,
      }),
  );
  return {
    reconciled(controller, result, seconds) {
      reconciles.inc({ controller, result });
      duration.observe({ controller }, seconds);
    },
    informerFailed: (role, kind, during) => failures.inc({ role, kind, during }),
    queue(controller) {
      const [waiting, added, waited] = [depth.labels(controller), adds.labels(controller), waits.labels(controller)];
      waiting.set(0);
      return {
        depth: (count) => waiting.set(count),
        added: () => added.inc(),
        waited: (seconds) => waited.observe(seconds),
      };
    },
  };
}
