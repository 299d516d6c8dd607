import { connect } from 'node:http2';
import { request } from 'node:https';
import type { Readable } from 'node:stream';
import type { Where } from './jobs.ts';

const lineFeed = 10;
/** So many are opened at once: a handshake each would otherwise time out behind all the others. */
const together = 50;
/** Watches on one connection of HTTP/2: what Go's client opens before it opens another connection. */
const streamsPerConnection = 100;

/** Opens one watch; resolves with its body once the server has answered. */
type Open = () => Promise<Readable>;

/**
 * Opens watches of a collection that is empty: over HTTP/1.1 each on a connection of its own, over HTTP/2 many on one, as
 * Kubernetes' clients do. `done` resolves when each has had `events` lines; rejects when one ends before.
 */
export async function watchAll(
  where: Where,
  collection: string,
  { watchers, events, http }: { watchers: number; events: number; http: 1 | 2 },
): Promise<{ done: Promise<void>; close(): void }> {
  const path = `${collection}?watch=true&resourceVersion=0`;
  const closers: (() => void)[] = [];
  const open = http === 1 ? openHttp1(where, path, closers) : openHttp2(where, path, closers);
  const done = Promise.withResolvers<void>();
  let waiting = watchers;
  const watch = async (): Promise<void> => {
    const body = await open();
    let lines = 0;
    body.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) lines++;
      if (lines < events) return;
      body.removeAllListeners('data').resume();
      waiting--;
      if (waiting === 0) done.resolve();
    });
    body.once('end', () => done.reject(new Error(`a watch ended after ${lines} of ${events} events`)));
    body.once('error', (error) => done.reject(error));
  };
  for (let opened = 0; opened < watchers; opened += together) {
    await Promise.all(Array.from({ length: Math.min(together, watchers - opened) }, watch));
  }
  return {
    done: done.promise,
    close() {
      done.promise.catch(() => {});
      for (const end of closers) end();
    },
  };
}

function headersOf({ token }: Where): Record<string, string> {
  return { authorization: `Bearer ${token}`, accept: 'application/json' };
}

function openHttp1(where: Where, path: string, closers: (() => void)[]): Open {
  const { port, ca } = where;
  return () =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, ca, agent: false, headers: headersOf(where) });
      closers.push(() => sent.destroy());
      sent.once('error', reject);
      sent.once('response', (response) => {
        if (response.statusCode === 200) resolve(response);
        else reject(new Error(`a watch was answered with ${response.statusCode}`));
      });
      sent.end();
    });
}

function openHttp2(where: Where, path: string, closers: (() => void)[]): Open {
  const { port, ca } = where;
  let session = connect(`https://127.0.0.1:${port}`, { ca });
  let streams = 0;
  return () =>
    new Promise((resolve, reject) => {
      if (streams % streamsPerConnection === 0) {
        if (streams > 0) session = connect(`https://127.0.0.1:${port}`, { ca });
        const opened = session;
        closers.push(() => opened.destroy());
      }
      streams++;
      const stream = session.request({ ':path': path, ...headersOf(where) });
      stream.once('error', reject);
      stream.once('response', ({ ':status': status }) => {
        if (status === 200) resolve(stream);
        else reject(new Error(`a watch was answered with ${status}`));
      });
    });
}
