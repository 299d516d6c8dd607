import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock, VirtualClock } from '../../kube/index.ts';
import { formatMicroTime, formatTime } from '../../meta/index.ts';
import type { Storage, StorageEvent } from '../storage/storage.ts';
import { openTestStorage } from '../testing/storage.ts';
import { EventRetention } from './event-retention.ts';
import { PlaneFeed } from './follow.ts';

const minute = 60_000;
const resource = '/events';
let storage: Storage;
let clock: VirtualClock;
let feed: PlaneFeed;
let retention: EventRetention;
const errors: unknown[] = [];

beforeEach(async () => {
  storage = await openTestStorage();
  clock = new VirtualClock();
  begin();
});
afterEach(async () => {
  feed.stop();
  await retention.stop();
  await storage.close();
  expect(errors).toEqual([]);
});

function begin() {
  feed = new PlaneFeed(storage);
  const onError = (error: unknown) => errors.push(error);
  retention = new EventRetention({ storage, clock, retentionMilliseconds: 60 * minute, onError });
}

const open = (plane: string) => feed.open(plane, [resource], retention.open());

async function put(name: string, fields: object = {}, plane = 'hub') {
  const object = { apiVersion: 'v1', kind: 'Event', metadata: { name, namespace: 'default' }, ...fields };
  const encode = () => Buffer.from(JSON.stringify(object));
  await storage.commit({ puts: [{ key: { plane, resource, namespace: 'default', name }, encode }] });
}

async function names(plane = 'hub') {
  return (await storage.list({ plane, resource })).records.map((record) => record.key.name);
}

/** Lets time pass in steps, with the real store's turns in between. */
async function pass(minutes: number) {
  for (let step = 0; step < minutes; step++) {
    await clock.advance(minute);
    await systemClock.sleep(1);
  }
}

test('an event goes an hour after it was last written', async () => {
  await open('hub');
  await put('old');
  await put('repeated');
  await pass(40);
  await put('repeated', { count: 2 });
  await pass(19);
  expect(await names()).toEqual(['old', 'repeated']);
  await pass(3);
  expect(await names()).toEqual(['repeated']);
  await pass(40);
  expect(await names()).toEqual([]);
});

test('watchers see it go, with the version of its deletion', async () => {
  await open('hub');
  await put('old', { note: 'kept' });
  const seen: StorageEvent[] = [];
  storage.watch(
    { plane: 'hub', resource, from: storage.revision },
    { events: (events) => seen.push(...events), closed: () => {} },
  );
  await pass(62);
  expect(seen.map(({ type }) => type)).toEqual(['delete']);
  const last = JSON.parse(Buffer.from(seen[0]!.value).toString());
  expect([last.note, last.metadata.resourceVersion]).toEqual(['kept', String(seen[0]!.revision)]);
});

test('after a restart age is read from the event: repeated, old style and plain', async () => {
  const at = (minutesAgo: number) => clock.now() - minutesAgo * minute;
  await put('a-fresh', { metadata: { name: 'a-fresh', creationTimestamp: formatTime(at(10)) } });
  await put('b-repeated', {
    eventTime: formatMicroTime(at(90)),
    series: { count: 3, lastObservedTime: formatMicroTime(at(30)) },
  });
  await put('c-stale', { lastTimestamp: formatTime(at(59)) });
  await put('d-future-proof', { eventTime: 'nonsense' });
  await open('hub');
  await pass(2);
  expect(await names()).toEqual(['a-fresh', 'b-repeated', 'd-future-proof']);
  await pass(30);
  expect(await names()).toEqual(['a-fresh', 'd-future-proof']);
  await pass(30);
  expect(await names()).toEqual([]);
});

test('two thousand go in a few commits', async () => {
  await open('hub');
  await Promise.all(Array.from({ length: 2000 }, (_, index) => put(`event-${index}`)));
  const before = storage.revision;
  await pass(62);
  expect(await names()).toEqual([]);
  expect(storage.revision - before).toBeLessThanOrEqual(8);
});

test('a plane that is closed is left alone', async () => {
  await open('hub');
  await open('root');
  await put('one');
  await put('two', {}, 'root');
  feed.close('hub');
  retention.close('hub');
  await pass(62);
  expect([await names(), await names('root')]).toEqual([['one'], []]);
});
