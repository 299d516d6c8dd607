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
    const load = fork(new URL('apiserver/load.ts', import.meta.url).pathname, {
      execArgv: [],
      serialization: 'advanced',
    });
    try {
      const binaries = await findBinaries();
      if ('missing' in binaries) say(`no kube-apiserver to compare with: ${binaries.missing}`);
      else subjects.push(await startReal(binaries));
      subjects.push(await startBerth());
      return await measure(subjects, load, options, say);
    } finally {
      load.disconnect();
      await Promise.all(subjects.map((subject) => subject.stop()));
    }
  },
};

async function measure(
  subjects: readonly Subject[],
  load: ChildProcess,
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
    figures.push({ name: 'ready', value: subject.readyMilliseconds, unit: 'ms', server: subject.name });
  }
  await both('namespaces and the definition', (course) => prepare(course.subject, options));
  await both('memory of an empty server', memory);
  for (const clients of [1, 16, 128]) {
    await both(`creates by ${clients} clients`, (course) => creates(course, load, clients, options.seconds));
  }
  await both('gets', (course) => gets(course, load, options.seconds));
  await both(`a list of ${options.list}`, (course) => lists(course, load, options.list));
  for (const watchers of new Set([Math.min(100, options.watchers), options.watchers])) {
    await both(`${watchers} watchers`, (course) => fanOut(course, load, watchers, options));
  }
  await both(`${options.objects} objects`, async (course) => {
    await fill(course, load, options.objects);
    await memory(course);
  });
  return courses.flatMap(({ figures }) => figures);
}

async function ask(load: ChildProcess, job: Job): Promise<Result> {
  load.send(job);
  const [result] = await Promise.race([
    once(load, 'message'),
    once(load, 'exit').then(() => Promise.reject(new Error('the load generator failed: what it said is above'))),
  ]);
  return result as Result;
}

function jobOf({ subject }: Course): { where: Job['where']; namespace: string } {
  const { port, ca, token } = subject;
  return { where: { port, ca, token }, namespace };
}

async function creates(course: Course, load: ChildProcess, clients: number, seconds: number): Promise<void> {
  const { subject, figures } = course;
  const cpu = cpuSeconds(subject.pids);
  const job: Job = { ...jobOf(course), kind: 'create', clients, first: course.objects, most: Infinity, seconds };
  const result = await ask(load, job);
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
  figures.push({
    name: 'load-processor',
    value: result.cpuSeconds / result.seconds,
    unit: 'cores',
    load: 'creates',
    ...of,
  });
}

async function gets(course: Course, load: ChildProcess, seconds: number): Promise<void> {
  const clients = 16;
  const result = await ask(load, { ...jobOf(course), kind: 'get', clients, seconds, objects: course.objects });
  const of = { clients, server: course.subject.name };
  course.figures.push({ name: 'gets', value: result.milliseconds.length / result.seconds, unit: '1/s', ...of });
  course.figures.push({
    name: 'load-processor',
    value: result.cpuSeconds / result.seconds,
    unit: 'cores',
    load: 'gets',
    ...of,
  });
}

async function lists(course: Course, load: ChildProcess, objects: number): Promise<void> {
  await fill(course, load, objects);
  const { milliseconds } = await ask(load, { ...jobOf(course), kind: 'list', times: listTimes, objects });
  const of = { objects, server: course.subject.name };
  course.figures.push({ name: 'list', value: percentile(milliseconds, 0.5), unit: 'ms', ...of });
}

async function fanOut(course: Course, load: ChildProcess, watchers: number, { events }: Options): Promise<void> {
  const { subject, figures } = course;
  const cpu = cpuSeconds(subject.pids);
  const job: Job = {
    ...jobOf(course),
    namespace: fanOutNamespace(watchers),
    kind: 'fan-out',
    clients: 4,
    watchers,
    events,
  };
  const result = await ask(load, job);
  const all = watchers * events;
  const of = { watchers, server: subject.name };
  figures.push({ name: 'fan-out', value: all / result.seconds, unit: '1/s', ...of });
  figures.push({ name: 'fan-out-processor', value: ((cpuSeconds(subject.pids) - cpu) / all) * 1e6, unit: 'µs', ...of });
  figures.push({
    name: 'load-processor',
    value: result.cpuSeconds / result.seconds,
    unit: 'cores',
    load: 'fan-out',
    ...of,
  });
}

/** Until the server holds so many. */
async function fill(course: Course, load: ChildProcess, objects: number): Promise<void> {
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
  const { milliseconds } = await ask(load, job);
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

function fanOutNamespace(watchers: number): string {
  return `fan-out-${watchers}`;
}

async function prepare(subject: Subject, { watchers }: Options): Promise<void> {
  const names = new Set([namespace, fanOutNamespace(Math.min(100, watchers)), fanOutNamespace(watchers)]);
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
