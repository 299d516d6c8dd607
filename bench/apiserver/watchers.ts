import type { ClientRequest } from 'node:http';
import { request } from 'node:https';
import type { Where } from './jobs.ts';

const lineFeed = 10;
/** So many connections are made at once: a handshake each would otherwise time out behind all the others. */
const together = 50;

/**
 * Opens watches of a collection that is empty, each on a connection of its own. `done` resolves when each has had `events`
 * lines; rejects when one ends before.
 */
export async function watchAll(
  where: Where,
  path: string,
  watchers: number,
  events: number,
): Promise<{ done: Promise<void>; close(): void }> {
  const requests: ClientRequest[] = [];
  const done = Promise.withResolvers<void>();
  let waiting = watchers;
  const open = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request({
        host: '127.0.0.1',
        port: where.port,
        path: `${path}?watch=true&resourceVersion=0`,
        ca: where.ca,
        agent: false,
        headers: { authorization: `Bearer ${where.token}`, accept: 'application/json' },
      });
      requests.push(sent);
      sent.once('error', reject);
      sent.once('response', (response) => {
        let lines = 0;
        response.on('data', (chunk: Buffer) => {
          for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) lines++;
          if (lines >= events) {
            response.removeAllListeners('data').resume();
            waiting--;
            if (waiting === 0) done.resolve();
          }
        });
        response.once('end', () => done.reject(new Error(`a watch ended after ${lines} of ${events} events`)));
        response.once('error', (error) => done.reject(error));
        if (response.statusCode === 200) resolve();
        else reject(new Error(`a watch was answered with ${response.statusCode}`));
      });
      sent.end();
    });
  for (let opened = 0; opened < watchers; opened += together) {
    await Promise.all(Array.from({ length: Math.min(together, watchers - opened) }, open));
  }
  return {
    done: done.promise,
    close() {
      done.promise.catch(() => {});
      for (const sent of requests) sent.destroy();
    },
  };
}
