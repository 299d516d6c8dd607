/** The embedded API server beside a real kube-apiserver on etcd: the same requests, in one run, on one machine. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:https';
import { systemClock } from '../src/kube/index.ts';
import { findBinaries } from '../test/conformance/servers/binaries.ts';
import type { Job, Result } from './apiserver/jobs.ts';
import { collectionPath, definition } from './apiserver/objects.ts';
import { cpuSeconds, residentMebibytes } from './apiserver/processes.ts';
import { type Subject, startBerth, startReal } from './apiserver/subject.ts';
import { type Benchmark, type Figure, percentile } from './harness/report.ts';

const namespace = 'bench';
const fillingClients = 16;
const listTimes = 5;

/** One server, what it holds so far, and the figures of it. */
interface Course {
  subject: Subject;
  objects: number;
  figures: Figure[];
}

type Options = Readonly<Record<'seconds' | 'list' | 'objects' | 'watchers' | 'events', number>>;

export const apiserver: Benchmark = {
  name: 'apiserver',
  description:
    'The embedded API server and a real kube-apiserver with etcd, side by side: writes, reads, lists, watches, start-up and memory. --seconds of each load; --list, --objects: how many are listed and kept; --watchers at most, --events for each of them and 100 watchers.',
  options: { seconds: 10, list: 10_000, objects: 100_000, watchers: 1_000, events: 200 },
  async run(given, say) {
    const options = given as Options;
    const subjects: Subject[] = [];
    const load = new Load();
    try {
      const binaries = await findBinaries();
      if ('missing' in binaries) say(`no kube-apiserver to compare with: ${binaries.missing}`);
      else subjects.push(await startReal(binaries));
      subjects.push(await startBerth());
      return await measure(subjects, load, options, say);
    } finally {
      load.end();
      await Promise.all(subjects.map((subject) => subject.stop()));
    }
  },
};

async function measure(
  subjects: readonly Subject[],
  load: Load,
  options: Options,
  say: (text: string) => void,
): Promise<Figure[]> {
  const courses: Course[] = subjects.map((subject) => ({ subject, objects: 0, figures: [] }));
  /** Each step is taken by one server and then by the other: what else the machine does meets both. */
  const both = async (what: string, step: (course: Course) => Promise<void>): Promise<void> => {
    for (const course of courses) {
      say(`${course.subject.name}: ${what}`);
      await step(course);
    }
  };
  for (const { subject, figures } of courses) {
    const of = { server: subject.name };
    figures.push({ name: 'ready', value: subject.readyMilliseconds, unit: 'ms', ...of });
    // Tells of the work where a busy machine spoils the time.
    figures.push({ name: 'ready-processor', value: subject.readyCpuSeconds * 1000, unit: 'ms', ...of });
  }
  await both('namespaces and the definition', (course) => prepare(course.subject, options));
  await both('memory of an empty server', memory);
  for (const clients of [1, 16, 128]) {
    await both(`creates by ${clients} clients`, (course) => creates(course, load, clients, options.seconds));
  }
  await both('gets', (course) => gets(course, load, options.seconds));
  await both(`a list of ${options.list}`, (course) => lists(course, load, options.list));
  for (const watchers of watcherCounts(options)) {
    // Kubernetes' clients speak HTTP/2 where it is offered; others do not.
    for (const http of [2, 1] as const) {
      await both(`${watchers} watchers over HTTP/${http}`, (course) => fanOut(course, load, watchers, http, options));
    }
  }
  await both(`${options.objects} objects`, async (course) => {
    await fill(course, load, options.objects);
    await memory(course);
  });
  return courses.flatMap(({ figures }) => figures);
}

/** The load generator, asked one thing at a time. */
class Load {
  readonly #process: ChildProcess;
  readonly #failed: Promise<never>;

  constructor() {
    const entry = new URL('apiserver/load.ts', import.meta.url).pathname;
    this.#process = fork(entry, { execArgv: [], serialization: 'advanced' });
    this.#failed = once(this.#process, 'exit').then(() => {
      throw new Error('the load generator failed: what it said is above');
    });
    this.#failed.catch(() => {});
  }

  async ask(job: Job): Promise<Result> {
    this.#process.send(job);
    const [result] = await Promise.race([once(this.#process, 'message'), this.#failed]);
    return result as Result;
  }

  end(): void {
    if (this.#process.connected) this.#process.disconnect();
  }
}

function loadProcessor({ cpuSeconds, seconds }: Result): Figure {
  return { name: 'load-processor', value: cpuSeconds / seconds, unit: 'cores' };
}

function jobOf({ subject }: Course): { where: Job['where']; namespace: string } {
  const { port, ca, token } = subject;
  return { where: { port, ca, token }, namespace };
}

async function creates(course: Course, load: Load, clients: number, seconds: number): Promise<void> {
  const { subject, figures } = course;
  const cpu = cpuSeconds(subject.pids);
  const job: Job = { ...jobOf(course), kind: 'create', clients, first: course.objects, most: Infinity, seconds };
  const result = await load.ask(job);
  const count = result.milliseconds.length;
  course.objects += count;
  const of = { clients, server: subject.name };
  figures.push({ name: 'creates', value: count / result.seconds, unit: '1/s', ...of });
  figures.push({
    name: 'create-latency',
    value: percentile(result.milliseconds, 0.99),
    unit: 'ms',
    percentile: 99,
    ...of,
  });
  figures.push({
    name: 'create-processor',
    value: ((cpuSeconds(subject.pids) - cpu) / count) * 1e6,
    unit: 'µs',
    ...of,
  });
  figures.push({ ...loadProcessor(result), load: 'creates', ...of });
}

async function gets(course: Course, load: Load, seconds: number): Promise<void> {
  const clients = 16;
  const result = await load.ask({ ...jobOf(course), kind: 'get', clients, seconds, objects: course.objects });
  const of = { clients, server: course.subject.name };
  course.figures.push({ name: 'gets', value: result.milliseconds.length / result.seconds, unit: '1/s', ...of });
  course.figures.push({ ...loadProcessor(result), load: 'gets', ...of });
}

async function lists(course: Course, load: Load, objects: number): Promise<void> {
  await fill(course, load, objects);
  const { milliseconds } = await load.ask({ ...jobOf(course), kind: 'list', times: listTimes, objects });
  const of = { objects, server: course.subject.name };
  course.figures.push({ name: 'list', value: percentile(milliseconds, 0.5), unit: 'ms', ...of });
}

async function fanOut(course: Course, load: Load, watchers: number, http: 1 | 2, { events }: Options): Promise<void> {
  const { subject, figures } = course;
  const cpu = cpuSeconds(subject.pids);
  const name = http === 1 ? 'fan-out-http1' : 'fan-out';
  const result = await load.ask({
    ...jobOf(course),
    namespace: fanOutNamespace(watchers, http),
    kind: 'fan-out',
    clients: 4,
    watchers,
    events,
    http,
  });
  const all = watchers * events;
  const of = { watchers, server: subject.name };
  figures.push({ name, value: all / result.seconds, unit: '1/s', ...of });
  figures.push({ name: `${name}-processor`, value: ((cpuSeconds(subject.pids) - cpu) / all) * 1e6, unit: 'µs', ...of });
  figures.push({ ...loadProcessor(result), load: name, ...of });
}

/** Until the server holds so many. */
async function fill(course: Course, load: Load, objects: number): Promise<void> {
  const most = objects - course.objects;
  if (most <= 0) return;
  const job: Job = {
    ...jobOf(course),
    kind: 'create',
    clients: fillingClients,
    first: course.objects,
    most,
    seconds: Infinity,
  };
  const { milliseconds } = await load.ask(job);
  course.objects += milliseconds.length;
}

/** What is resident once the server has come to rest. */
async function memory({ subject, objects, figures }: Course): Promise<void> {
  await systemClock.sleep(3_000);
  const of = { objects, server: subject.name };
  figures.push({ name: 'rss', value: residentMebibytes(subject.pids), unit: 'MiB', ...of });
  if (subject.pids.length < 2) return;
  const [, own] = subject.pids;
  figures.push({ name: 'rss-without-etcd', value: residentMebibytes([own!]), unit: 'MiB', ...of });
}

function fanOutNamespace(watchers: number, http: 1 | 2): string {
  return `fan-out-${watchers}-http${http}`;
}

/** A hundred, and as many as were asked for. */
function watcherCounts({ watchers }: Options): Set<number> {
  return new Set([Math.min(100, watchers), watchers]);
}

async function prepare(subject: Subject, options: Options): Promise<void> {
  const watched = [...watcherCounts(options)].flatMap((count) => [
    fanOutNamespace(count, 1),
    fanOutNamespace(count, 2),
  ]);
  const names = [namespace, ...watched];
  for (const name of names) {
    await post(subject, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  await post(subject, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  const until = systemClock.monotonic() + 30_000;
  while ((await send(subject, 'GET', collectionPath(namespace))) !== 200) {
    if (systemClock.monotonic() > until) throw new Error(`${subject.name} does not serve the definition`);
    await systemClock.sleep(100);
  }
}

async function post(subject: Subject, path: string, body: object): Promise<void> {
  const status = await send(subject, 'POST', path, JSON.stringify(body));
  if (status !== 201) throw new Error(`${subject.name}: POST ${path} was answered with ${status}`);
}

function send({ port, ca, token }: Subject, method: string, path: string, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const sent = request({ host: '127.0.0.1', port, ca, method, path, headers, agent: false }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
