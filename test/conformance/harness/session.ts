import type { IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import { parse } from 'yaml';
import { systemClock } from '../../../src/kube/index.ts';
import { type Target, tokens, type User } from '../servers/target.ts';

/** Sends requests to one server and keeps what it answered, one entry per request. */

export interface SendOptions {
  /** An object is sent as JSON; a string or bytes as they are. */
  body?: unknown;
  /** Content-Type; `application/json` where there is a body and none is named. */
  type?: string;
  accept?: string;
  headers?: Record<string, string>;
  /** `admin` unless said otherwise. */
  as?: User;
}

export interface RecordOptions extends SendOptions {
  /** What is said of the request in the transcript. */
  note?: string;
  /** What of the answer is compared. */
  view?: (body: Json) => Json;
}

// biome-ignore lint/suspicious/noExplicitAny: a server's answer is looked into by the scenarios, whatever it holds
export type Json = any;

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Parsed where it is JSON or YAML, else the text. */
  body: Json;
}

/** One line of a transcript. */
export interface Entry {
  /** `GET /api/v1/…`, with what the scenario said of it. */
  title: string;
  answer: Answer;
  /** Applied to both answers before they are compared, where only a part of them can be the same. */
  view: ((body: Json) => Json) | undefined;
}

const keptHeaders = [
  'content-type',
  'warning',
  'retry-after',
  'location',
  'cache-control',
  'allow',
  'www-authenticate',
];
const patience = 8_000;

export class Session {
  readonly entries: Entry[] = [];
  readonly #target: Target;
  readonly #agent: Agent;
  readonly #open = new Set<Watch>();

  constructor(target: Target) {
    this.#target = target;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 32 });
  }

  /** Sends, records and answers. */
  async send(method: string, path: string, options: RecordOptions = {}): Promise<Answer> {
    const answer = await this.quiet(method, path, options);
    const note = options.note === undefined ? '' : `  (${options.note})`;
    this.entries.push({ title: `${method} ${path}${note}`, answer, view: options.view });
    return answer;
  }

  get(path: string, options: RecordOptions = {}): Promise<Answer> {
    return this.send('GET', path, options);
  }

  post(path: string, body: unknown, options: RecordOptions = {}): Promise<Answer> {
    return this.send('POST', path, { ...options, body });
  }

  put(path: string, body: unknown, options: RecordOptions = {}): Promise<Answer> {
    return this.send('PUT', path, { ...options, body });
  }

  delete(path: string, body?: unknown, options: RecordOptions = {}): Promise<Answer> {
    return this.send('DELETE', path, { ...options, ...(body === undefined ? {} : { body }) });
  }

  /** `type` is short: merge, json, strategic or apply. */
  patch(
    type: 'merge' | 'json' | 'strategic' | 'apply',
    path: string,
    body: unknown,
    options: RecordOptions = {},
  ): Promise<Answer> {
    const types = {
      merge: 'application/merge-patch+json',
      json: 'application/json-patch+json',
      strategic: 'application/strategic-merge-patch+json',
      apply: 'application/apply-patch+yaml',
    };
    return this.send('PATCH', path, { type: types[type], ...options, body });
  }

  /** Sends without recording: to prepare, to wait, to clean up. */
  async quiet(method: string, path: string, options: SendOptions = {}): Promise<Answer> {
    const response = await this.#request(method, path, options);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return answerOf(response, Buffer.concat(chunks));
  }

  /** Asks again, unrecorded, until `done` likes the answer. Rejects after `milliseconds`. */
  async until(path: string, done: (answer: Answer) => boolean, milliseconds = patience): Promise<Answer> {
    const end = systemClock.monotonic() + milliseconds;
    for (;;) {
      const answer = await this.quiet('GET', path);
      if (done(answer)) return answer;
      if (systemClock.monotonic() > end) {
        throw new Error(
          `${this.#target.name}: ${path} did not become what was waited for: ${JSON.stringify(answer.body).slice(0, 500)}`,
        );
      }
      await systemClock.sleep(30);
    }
  }

  pause(milliseconds: number): Promise<void> {
    return systemClock.sleep(milliseconds);
  }

  /** Opens a watch; it is recorded when `close` or `end` is called, as one answer whose body is its events. */
  async watch(path: string, options: Omit<RecordOptions, 'view'> = {}): Promise<Watch> {
    const response = await this.#request('GET', path, options);
    const watch = new Watch(response, (answer) => {
      this.#open.delete(watch);
      const note = options.note === undefined ? '' : `  (${options.note})`;
      this.entries.push({ title: `WATCH ${path}${note}`, answer, view: undefined });
    });
    this.#open.add(watch);
    return watch;
  }

  close(): void {
    for (const watch of this.#open) watch.drop();
    this.#agent.destroy();
  }

  #request(method: string, path: string, options: SendOptions): Promise<IncomingMessage> {
    const { body, type, accept, headers = {}, as = 'admin' } = options;
    const text =
      body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const sent: Record<string, string> = { 'user-agent': 'conformance/1.0', ...headers };
    if (as !== 'nobody') sent.authorization = `Bearer ${as === 'wrong' ? 'wrong' : tokens[as]}`;
    if (type !== undefined && type !== '') sent['content-type'] = type;
    else if (type === undefined && text !== undefined) sent['content-type'] = 'application/json';
    if (accept !== undefined) sent.accept = accept;
    if (text !== undefined) sent['content-length'] = String(Buffer.byteLength(text));
    const asked: RequestOptions = {
      host: '127.0.0.1',
      port: this.#target.port,
      ca: this.#target.ca,
      agent: this.#agent,
      method,
      path,
      headers: sent,
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(asked, resolve);
      outgoing.once('error', reject);
      outgoing.end(text);
    });
  }
}

/** An open watch of one server. */
export class Watch {
  readonly events: Json[] = [];
  readonly #response: IncomingMessage;
  readonly #record: (answer: Answer) => void;
  #text = '';
  #over = false;
  #wake: (() => void) | undefined;

  constructor(response: IncomingMessage, record: (answer: Answer) => void) {
    this.#response = response;
    this.#record = record;
    const finish = (): void => {
      this.#over = true;
      this.#wake?.();
    };
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => this.#read(chunk));
    response.once('end', finish);
    response.once('error', finish);
  }

  /** Waits for `count` events, records them and closes. What came beyond them is recorded too. */
  async close(count: number): Promise<Json[]> {
    await this.until(count);
    this.drop();
    this.#finish();
    return this.events;
  }

  /** Waits for the server to end the watch, and records it. */
  async end(): Promise<Json[]> {
    await this.#waitFor(() => this.#over);
    this.#finish();
    return this.events;
  }

  /** Waits for `count` events, or the end, or some seconds. */
  until(count: number): Promise<void> {
    return this.#waitFor(() => this.#over || this.events.length >= count);
  }

  drop(): void {
    this.#response.destroy();
  }

  async #waitFor(done: () => boolean): Promise<void> {
    const end = systemClock.monotonic() + patience;
    while (!done() && systemClock.monotonic() < end) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = systemClock.after(200, resolve);
      await promise;
      timer.cancel();
    }
  }

  #read(chunk: string): void {
    this.#text += chunk;
    if (this.#response.statusCode === 200) {
      const lines = this.#text.split('\n');
      this.#text = lines.pop() ?? '';
      for (const line of lines) if (line.trim() !== '') this.events.push(parsed(line));
    }
    this.#wake?.();
  }

  #finish(): void {
    const answer = answerOf(this.#response, Buffer.from(''));
    answer.body = this.#response.statusCode === 200 ? { events: this.events } : parsed(this.#text);
    this.#record(answer);
  }
}

function answerOf(response: IncomingMessage, bytes: Buffer): Answer {
  const headers: Answer['headers'] = {};
  for (const name of keptHeaders) {
    const value = response.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  const type = response.headers['content-type'] ?? '';
  const text = bytes.toString('utf8');
  const body = /yaml/.test(type) ? parse(text) : /protobuf|cbor/.test(type) ? `${bytes.length > 0}` : parsed(text);
  return { status: response.statusCode ?? 0, headers, body };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
