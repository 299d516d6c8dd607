import { Counter, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../kube/index.ts';

/** The metrics kube-apiserver is watched by, under its names. */
export class ServerMetrics {
  readonly #clock: Clock;
  readonly #requests: Counter<'plane' | 'verb' | 'group' | 'resource' | 'subresource' | 'code'>;
  readonly #durations: Histogram<'verb'>;

  constructor(registry: Registry, clock: Clock) {
    this.#clock = clock;
    const registers = [registry];
    this.#requests = new Counter({
      name: 'apiserver_request_total',
      help: 'Requests answered, by kind of plane, verb, resource and code.',
      labelNames: ['plane', 'verb', 'group', 'resource', 'subresource', 'code'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Seconds until a request was answered; for a watch, until it began.',
      labelNames: ['verb'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 60],
      registers,
    });
  }

  /** Milliseconds, for `answered`. */
  start(): number {
    return this.#clock.monotonic();
  }

  /** `plane` is its kind (root, hub, cell, project), not its name: projects come and go, and their series would stay. */
  answered(
    labels: { plane: string; verb: string; group: string; resource: string; subresource: string; code: number },
    since: number,
  ): void {
    this.#requests.inc({ ...labels, code: String(labels.code) });
    this.#durations.observe({ verb: labels.verb }, (this.#clock.monotonic() - since) / 1000);
  }
}
