/** Entry point: the load generator, in a process of its own. It is sent jobs and answers each with what it saw. */
import { Pool } from 'undici';
import { systemClock } from '../../src/kube/index.ts';
import type { Job, Result, Where } from './jobs.ts';
import { collectionPath, objectText } from './objects.ts';
import { watchAll } from './watchers.ts';

process.on('message', async (job: Job) => {
  const cpu = process.cpuUsage();
  const result = await run(job);
  const { user, system } = process.cpuUsage(cpu);
  process.send!({ ...result, cpuSeconds: (user + system) / 1e6 } satisfies Result);
});

function poolOf({ port, ca }: Where, connections: number): Pool {
  return new Pool(`https://127.0.0.1:${port}`, { connections, connect: { ca }, headersTimeout: 0, bodyTimeout: 0 });
}

async function run(job: Job): Promise<Omit<Result, 'cpuSeconds'>> {
  const pool = poolOf(job.where, job.kind === 'list' ? 1 : job.clients);
  try {
    switch (job.kind) {
      case 'create':
        return await create(pool, job);
      case 'get':
        return await get(pool, job);
      case 'list':
        return await list(pool, job);
      case 'fan-out':
        return await fanOut(pool, job);
    }
  } finally {
    await pool.destroy();
  }
}

/** Sends and reads to the end. Throws what the server says unless it answers `expected`. */
async function send(
  pool: Pool,
  { token }: Where,
  method: 'GET' | 'POST',
  path: string,
  expected: number,
  body?: string,
): Promise<number> {
  const { statusCode, body: answer } = await pool.request({
    method,
    path,
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  });
  if (statusCode !== expected) throw new Error(`${method} ${path}: ${statusCode} ${await answer.text()}`);
  let bytes = 0;
  for await (const chunk of answer) bytes += (chunk as Buffer).length;
  return bytes;
}

/** `clients` of them call `once` again and again until it says that there is no more. Answers how long each call took. */
async function drive(
  clients: number,
  once: (number: number) => Promise<unknown> | undefined,
): Promise<{ seconds: number; milliseconds: number[] }> {
  const milliseconds: number[] = [];
  let next = 0;
  const since = systemClock.monotonic();
  const client = async (): Promise<void> => {
    for (;;) {
      const from = systemClock.monotonic();
      const sent = once(next);
      if (sent === undefined) return;
      next++;
      await sent;
      milliseconds.push(systemClock.monotonic() - from);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { seconds: (systemClock.monotonic() - since) / 1000, milliseconds };
}

function create(pool: Pool, job: Extract<Job, { kind: 'create' }>): Promise<Omit<Result, 'cpuSeconds'>> {
  const path = collectionPath(job.namespace);
  const end = systemClock.monotonic() + job.seconds * 1000;
  return drive(job.clients, (number) => {
    if (number >= job.most || systemClock.monotonic() > end) return undefined;
    const at = job.first + number;
    return send(pool, job.where, 'POST', path, 201, objectText(job.namespace, `o-${at}`, at));
  });
}

function get(pool: Pool, job: Extract<Job, { kind: 'get' }>): Promise<Omit<Result, 'cpuSeconds'>> {
  const path = collectionPath(job.namespace);
  const end = systemClock.monotonic() + job.seconds * 1000;
  // A step that meets every object before it meets one twice.
  return drive(job.clients, (number) =>
    systemClock.monotonic() > end
      ? undefined
      : send(pool, job.where, 'GET', `${path}/o-${(number * 7919) % job.objects}`, 200),
  );
}

function list(pool: Pool, job: Extract<Job, { kind: 'list' }>): Promise<Omit<Result, 'cpuSeconds'>> {
  const path = `${collectionPath(job.namespace)}?limit=${job.objects}`;
  return drive(1, (number) => (number >= job.times ? undefined : send(pool, job.where, 'GET', path, 200)));
}

/** Seconds from the first write until the last of `watchers` has seen the last of `events`. */
async function fanOut(pool: Pool, job: Extract<Job, { kind: 'fan-out' }>): Promise<Omit<Result, 'cpuSeconds'>> {
  const path = collectionPath(job.namespace);
  const watching = await watchAll(job.where, path, job);
  const since = systemClock.monotonic();
  await drive(job.clients, (number) =>
    number >= job.events
      ? undefined
      : send(pool, job.where, 'POST', path, 201, objectText(job.namespace, `o-${number}`, number)),
  );
  await watching.done;
  const seconds = (systemClock.monotonic() - since) / 1000;
  watching.close();
  return { seconds, milliseconds: [] };
}
