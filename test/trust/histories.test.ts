import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom, systemClock, type Transport } from '../../src/kube/index.ts';
import { checkLinearizable } from './linearizable.ts';
import { clientOver, connect, type Served, startApi, temporaryFolder } from './support/api.ts';
import { ApiProcess } from './support/api-process.ts';
import { BreakingProxy } from './support/breaking-proxy.ts';
import { rounds, seed } from './support/options.ts';
import { Recording, RecordingClient } from './support/recording-client.ts';

const callsPerClient = rounds('TRUST_CALLS', 250);
const kills = rounds('TRUST_HISTORY_KILLS', 4);
const clients = 10;
const names = ['one', 'two', 'three'];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const closing: (() => Promise<void>)[] = [];
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await folder.remove();
});

/** Ten clients at once, each over connections of its own. */
async function record(served: Served, port: number, signal: AbortSignal, calls: number): Promise<Recording> {
  const recording = new Recording();
  const transports: Transport[] = [];
  const running = Array.from({ length: clients }, (_, n) => {
    const transport = connect(served, port);
    transports.push(transport);
    const random = seededRandom(`${seed} client ${n}`);
    const client = clientOver(transport);
    const isThere = () => served.port !== 0;
    return new RecordingClient({ client, random, recording, id: `${n}`, names, isThere }).run(signal, calls);
  });
  await Promise.all(running).finally(() => Promise.all(transports.map((transport) => transport.close())));
  return recording;
}

function check(recording: Recording, what: string): void {
  expect(recording.faults).toEqual([]);
  let calls = 0;
  let unanswered = 0;
  for (const name of names) {
    const history = recording.calls.get(name) ?? [];
    calls += history.length;
    unanswered += history.filter(({ answered }) => answered === undefined).length;
    expect(checkLinearizable(history, recording.versions)).toEqual({ linearizable: true, explanation: '' });
  }
  console.log(`${what}: ${calls} calls by ${clients} clients, ${unanswered} without an answer, seed ${seed}`);
}

describe(`histories of ${names.length} objects are linearizable, seed ${seed}`, () => {
  it.each([
    ['in memory', true],
    ['on SQLite', false],
  ])('%s', async (what, inMemory) => {
    const api = await startApi({ folder: folder.path, inMemory });
    closing.push(() => api.close());
    const recording = await record(api, api.port, new AbortController().signal, callsPerClient);
    check(recording, what);
  });

  it(`on SQLite, the server being killed ${kills} times`, async () => {
    const server = new ApiProcess(folder.path);
    closing.push(() => server.kill());
    await server.start();
    const random = seededRandom(`${seed} kills`);
    const forwarder = new BreakingProxy(random, () => server.port);
    forwarder.breaking = false;
    const port = await forwarder.listen();
    closing.push(() => forwarder.close());
    const ending = new AbortController();
    const recorded = record(server, port, ending.signal, Number.POSITIVE_INFINITY);
    recorded.catch(() => {});
    for (let kill = 0; kill < kills; kill++) {
      await systemClock.sleep(300 + random.next() * 700);
      await server.kill();
      await server.start();
    }
    await systemClock.sleep(300);
    ending.abort();
    const recording = await recorded;
    check(recording, `killed ${kills} times`);
    const unanswered = [...recording.calls.values()].flat().filter(({ answered }) => answered === undefined).length;
    expect(unanswered).toBeGreaterThanOrEqual(kills);
  });

  it('and one that is not would be noticed: a stale read put into a recorded history', async () => {
    const api = await startApi({ folder: folder.path, inMemory: true });
    closing.push(() => api.close());
    const recording = await record(api, api.port, new AbortController().signal, 40);
    const history = recording.calls.get('one')!;
    const moment = recording.tick();
    const written = history.filter(({ operation }) => operation.kind === 'update').map(({ operation }) => operation);
    const [oldest] = written as { kind: 'update'; state: string }[];
    history.push({ operation: { kind: 'read', state: oldest!.state }, asked: moment, answered: recording.tick() });
    expect(checkLinearizable(history, recording.versions).linearizable).toBe(false);
  });
});
