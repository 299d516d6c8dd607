import fc from 'fast-check';
import { parse } from 'yaml';
import { systemClock, type TransportResponse } from '../../kube/index.ts';
import { type Fixture, textOf } from '../testing/fixture.ts';

/** Requests no client would send, and what no answer to one may be. */

/** Names and texts that reach far into a server, or that JavaScript might trip over. */
export const words = fc.constantFrom(
  'there',
  'default',
  'metadata',
  'name',
  'labels',
  'spec',
  'color',
  'status',
  '__proto__',
  'constructor',
  'finalizers',
  'ownerReferences',
  'managedFields',
  'resourceVersion',
  'apiVersion',
  'kind',
  'example.com/v1',
  'Widget',
  '',
  '0',
  '-1',
  '\u0000',
  '💥',
  'a'.repeat(300),
);
/** Any JSON, with such names in it. */
export const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    words,
    fc.constantFrom<unknown>(null, true, false, 0, -1, 1e308, 3.5),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(words, tie('value'), { maxKeys: 5 }),
  ),
})).value;

/** An object that is almost right: one that gets past the first checks. */
export const almost = fc.record(
  {
    apiVersion: fc.constantFrom<unknown>('example.com/v1', 'example.com/v1', 'example.com/v1', 'v1', 7),
    kind: fc.constantFrom<unknown>('Widget', 'Widget', 'Widget', 'ConfigMap', null),
    metadata: fc.oneof(
      value,
      fc.record(
        { name: words, labels: value, ownerReferences: value, finalizers: value, managedFields: value },
        { requiredKeys: ['name'] },
      ),
    ),
    spec: value,
    status: value,
  },
  { requiredKeys: [] },
);
export const patchOperations = fc.array(
  fc.record(
    {
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'no'),
      path: fc.array(words, { maxLength: 4 }).map((parts) => parts.map((part) => `/${part}`).join('')),
      from: fc.array(words, { maxLength: 3 }).map((parts) => parts.map((part) => `/${part}`).join('')),
      value,
    },
    { requiredKeys: ['op'] },
  ),
  { maxLength: 4 },
);
export const body = fc.oneof(
  { weight: 5, arbitrary: almost.map((object) => JSON.stringify(object)) },
  value.map((object) => JSON.stringify(object)),
  { weight: 2, arbitrary: patchOperations.map((operations) => JSON.stringify(operations)) },
  fc.string(),
  fc.constantFrom('{', '[]', 'null', '', '&a [*a]', '{"a":1,"a":2}', '["__proto__"]'),
);
export const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
  'application/strategic-merge-patch+json',
];
const wholeTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
export const methodAndType = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('PATCH'), fc.constantFrom(...patchTypes)) },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom('POST', 'PUT'), fc.constantFrom(...wholeTypes)) },
  fc.tuple(fc.constantFrom('GET', 'DELETE', 'PUT', 'PATCH'), fc.constantFrom('text/plain', ';;;', ...wholeTypes)),
);

export interface Malformed {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

const longestMilliseconds = 20_000;
const prototypes = [Object.prototype, Array.prototype, Function.prototype, String.prototype];
const pristine = prototypes.map((prototype) => Reflect.ownKeys(prototype).length);

/**
 * Sends requests to one server and judges the answers: below 500 (but 504 and 503, which say to come again), a Status where it is
 * a refusal, within 20 s, and the prototypes of JavaScript's objects as they were. Throws what is wrong.
 */
export class Judge {
  /** Requests sent so far, and how many of them were refused. */
  sent = 0;
  refused = 0;
  readonly #api: Fixture;

  constructor(api: Fixture) {
    this.#api = api;
  }

  async send({ method, path, headers = {}, body }: Malformed): Promise<{ status: number; text: string }> {
    this.sent++;
    const ending = new AbortController();
    const late = systemClock.after(longestMilliseconds, () => ending.abort());
    const response = await this.#api.request(method, path, {
      headers,
      signal: ending.signal,
      ...(body === undefined ? {} : { body }),
    });
    const text = isEndless(response) ? '' : await textOf(response);
    if (isEndless(response)) ending.abort();
    else if (ending.signal.aborted) throw new Error('the answer took more than 20 s');
    late.cancel();
    this.#judge(response.status, text);
    return { status: response.status, text };
  }

  #judge(status: number, text: string): void {
    if (status >= 400) this.refused++;
    if (status >= 500 && status !== 503 && status !== 504) throw new Error(`answered ${status}: ${text}`);
    if (status >= 400 && text !== '404 page not found\n') {
      const answer = (text.startsWith('{') ? JSON.parse(text) : parse(text)) as { kind: string; code: number };
      if (answer.kind !== 'Status' || answer.code !== status) throw new Error(`${status} with no Status: ${text}`);
    }
    const now = prototypes.map((prototype) => Reflect.ownKeys(prototype).length);
    if (`${now}` !== `${pristine}`) throw new Error('a prototype was changed');
  }
}

/** A watch that was let through goes on until somebody ends it. */
function isEndless(response: TransportResponse): boolean {
  return response.status === 200 && response.events !== undefined;
}
