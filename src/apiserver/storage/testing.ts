import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../kube/index.ts';
import { openStorage, type StorageOptions } from './open.ts';
import type { Commit, Storage, StorageEvent, StorageKey, StoredRecord, WatchSink } from './storage.ts';

/** What the tests of the store share. */

export type HostName = 'memory' | 'inline' | 'worker';
export const hosts: HostName[] = ['memory', 'inline', 'worker'];

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const text = (value: Uint8Array | undefined) => (value === undefined ? undefined : decoder.decode(value));
export const bytes = (value: string) => encoder.encode(value);

export function key(name: string, namespace = 'n', resource = 'g/things', plane = 'p'): StorageKey {
  return { plane, resource, namespace, name };
}

export function put(at: StorageKey, value: string, revision?: number | 'absent'): Commit {
  return {
    puts: [{ key: at, encode: () => bytes(value) }],
    ...(revision === undefined ? {} : { preconditions: [{ key: at, revision }] }),
  };
}

export function remove(at: StorageKey, lastValue: string, revision?: number): Commit {
  return {
    deletes: [{ key: at, encode: () => bytes(lastValue) }],
    ...(revision === undefined ? {} : { preconditions: [{ key: at, revision }] }),
  };
}

export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'berth-storage-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function open(file: string, host: HostName, options: Partial<StorageOptions> = {}): Promise<Storage> {
  return openStorage({
    file: host === 'memory' ? ':memory:' : file,
    host: host === 'worker' ? 'worker' : 'inline',
    clock: systemClock,
    log: () => {},
    procedures: [new URL('./procedures.fixture.ts', import.meta.url).href],
    uncached: (resource) => resource.startsWith('ipam/'),
    onFatal: (error) => {
      throw error;
    },
    ...options,
  });
}

export const names = (records: readonly StoredRecord[]) => records.map(({ key }) => `${key.namespace}/${key.name}`);

/** Turns of the event loop: enough for anything that is already durable to be told. */
export async function turns(count = 3): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise<void>((resolve) => systemClock.soon(resolve));
}

/** A sink that keeps what it is told, as one line of text per event, and can be waited on. */
export class Recorder implements WatchSink {
  readonly seen: StorageEvent[] = [];
  readonly batches: number[] = [];
  revision = 0;
  isClosed = false;
  #wake: (() => void)[] = [];

  events(events: readonly StorageEvent[], revision: number): void {
    this.seen.push(...events);
    this.batches.push(events.length);
    this.revision = revision;
    this.#notify();
  }

  closed(): void {
    this.isClosed = true;
    this.#notify();
  }

  get lines(): string[] {
    return this.seen.map((event) => {
      const was = event.previous === undefined ? '' : ` was ${text(event.previous?.value)}`;
      return `${event.revision} ${event.type} ${event.key.namespace}/${event.key.name} ${text(event.value)}${was}`;
    });
  }

  async until(condition: (recorder: this) => boolean): Promise<void> {
    while (!condition(this)) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const resolve of wake) resolve();
  }
}
