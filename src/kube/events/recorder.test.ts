import { expect, it } from 'vitest';
import { Event } from '../../meta/index.ts';
import { VirtualClock } from '../clock/virtual.ts';
import { createClient } from '../rest/create-client.ts';
import { seededRandom } from '../seeded-random.ts';
import { refusal, ScriptedServer, Thing, thing } from '../testing/scripted-server.ts';
import { createRecorder } from './recorder.ts';

function setUp() {
  const clock = new VirtualClock();
  const server = new ScriptedServer(clock);
  const errors: unknown[] = [];
  const recorder = createRecorder({
    client: createClient({ transport: server.transport(), basePath: '', clock }),
    clock,
    random: seededRandom(1),
    reportingController: 'berth.example/network-claim',
    reportingInstance: 'host-1',
    onError: (error) => errors.push(error),
  });
  const object = server.put(Thing, thing('a'));
  const say = (note = 'pool is full') =>
    recorder.event(object, { type: 'Warning', reason: 'AddressPoolExhausted', action: 'Allocate', note });
  return { clock, server, recorder, errors, object, say };
}

it('writes what happened to what', async () => {
  const { clock, server, object, say } = setUp();
  say();
  await clock.settle();
  expect(server.all(Event)).toMatchObject([
    {
      metadata: { namespace: 'default', name: expect.stringMatching(/^a\.[0-9a-f]{16}$/) },
      eventTime: '2026-01-01T00:00:00.000000Z',
      type: 'Warning',
      reason: 'AddressPoolExhausted',
      action: 'Allocate',
      note: 'pool is full',
      reportingController: 'berth.example/network-claim',
      reportingInstance: 'host-1',
      regarding: { kind: 'Thing', namespace: 'default', name: 'a', uid: object.metadata.uid },
    },
  ]);
});

it('makes repetitions a series of one Event, with a write a second at most, and another note another Event', async () => {
  const { clock, server, say } = setUp();
  for (let n = 0; n < 50; n++) {
    say();
    await clock.advance(100);
  }
  say('another pool is full');
  await clock.advance(5_000);
  const events = server.all(Event);
  expect(events.map((event) => event.series?.count)).toEqual([50, undefined]);
  expect(events[0]?.series?.lastObservedTime).toBe('2026-01-01T00:00:04.900000Z');
  expect(server.requests.filter((request) => request.startsWith('PATCH')).length).toBeLessThanOrEqual(5);
});

it('begins a new Event when the series has long been over', async () => {
  const { clock, server, say } = setUp();
  say();
  await clock.advance(361_000);
  say();
  await clock.settle();
  expect(server.all(Event)).toHaveLength(2);
});

it('puts Events of cluster-scoped objects into default, and cuts notes at 1,024 bytes', async () => {
  const { clock, server, recorder } = setUp();
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', uid: 'u' } };
  recorder.event(node, { type: 'Normal', reason: 'R', action: 'A', note: 'ü'.repeat(2000) });
  await clock.settle();
  const [event] = server.all(Event);
  expect(event?.metadata.namespace).toBe('default');
  expect(Buffer.byteLength(event?.note ?? '')).toBeLessThanOrEqual(1024);
  expect(event?.note).toMatch(/^ü{510}…$/);
});

it('tries again while the server is down, gives up when refused, and never throws', async () => {
  const { clock, server, errors, say } = setUp();
  server.faults.push(
    () => new Error('down'),
    () => new Error('down'),
  );
  say();
  await clock.advance(10_000);
  expect([server.all(Event).length, errors.length]).toEqual([1, 2]);
  server.faults.push(refusal('Forbidden', 'no'));
  say('refused');
  await clock.advance(10_000);
  expect([server.all(Event).length, errors.length]).toEqual([1, 3]);
});

it('writes nothing after it was stopped', async () => {
  const { clock, server, recorder, say } = setUp();
  say();
  say();
  await clock.settle();
  recorder.stop();
  say('more');
  await clock.advance(10_000);
  expect(server.all(Event).map((event) => event.series)).toEqual([undefined]);
});
