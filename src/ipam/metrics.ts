import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { ApiError } from '../meta/index.ts';
import type { ObservedWrite } from './backing.ts';
import type { Figures } from './figures.ts';

function shareHelp(of: string): string {
  return `Reserved, held and resting share of ${of}, 0 to 1.`;
}

/** IPAM's metrics. Every series is bounded: verbs, cause types, and the pools people wrote. */
export function createMetrics(registry: Registry, figures: () => Promise<Figures>) {
  const registers = [registry];
  const attempts = new Counter({
    name: 'berth_ipam_attempts_total',
    help: 'Writes of IPAM objects, dry runs included.',
    labelNames: ['resource', 'verb'],
    registers,
  });
  const failures = new Counter({
    name: 'berth_ipam_failures_total',
    help: 'Writes that were refused or failed, by cause type (the status reason where there is none).',
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
  // The gauges are read together, and only when somebody asks.
  let reading: Promise<void> | undefined;
  const collect = () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers, collect });
  const utilization = gauge('berth_ipam_pool_utilization_ratio', shareHelp('a pool somebody wrote'), ['plane', 'pool']);
  const ofClass = gauge('berth_ipam_class_utilization_ratio', shareHelp('the pools of a class'), ['plane', 'class']);
  const resting = gauge('berth_ipam_resting_blocks', 'Released blocks that nobody may have yet.', ['plane']);
  const read = async () => {
    for (const each of [utilization, ofClass, resting]) each.reset();
    // Without the store nothing is known of it: the counters are what is wanted then.
    const now = await figures().catch(() => undefined);
    if (now === undefined) return;
    for (const { share, ...of } of now.pools) utilization.set(of, share);
    for (const { share, ...of } of now.classes) ofClass.set(of, share);
    for (const { blocks, ...of } of now.resting) resting.set(of, blocks);
  };
  return {
    wrote({ plural, verb }: ObservedWrite, failure: unknown, milliseconds: number): void {
      attempts.inc({ resource: plural, verb });
      latency.observe({ resource: plural, verb }, milliseconds / 1000);
      if (failure === undefined) return;
      const cause =
        failure instanceof ApiError ? (failure.status.details?.causes?.[0]?.reason ?? failure.reason) : 'InternalError';
      failures.inc({ resource: plural, verb, cause });
    },
  };
}
