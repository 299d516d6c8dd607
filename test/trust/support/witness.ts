import { type Client, type InformerEvent, type RunningInformer, systemClock } from '../../../src/kube/index.ts';
import { ApiError, ConfigMap, type Stored } from '../../../src/meta/index.ts';

/** What somebody was told of one object: it came, changed or went, and the version of the state that was told. */
export interface Told {
  what: 'added' | 'updated' | 'deleted';
  name: string;
  uid: string;
  version: string;
}

function told(what: Told['what'], object: Stored<ConfigMap>): Told {
  const { name, uid, resourceVersion } = object.metadata;
  return { what, name, uid, version: resourceVersion };
}

/** Everything an informer tells its handlers. Of what was deleted it tells the last state it saw. */
export function listenTo(informer: RunningInformer<ConfigMap>): Told[] {
  const all: Told[] = [];
  informer.onEvent((event: InformerEvent<ConfigMap>) => {
    all.push(told(event.type, event.object));
  });
  return all;
}

const wireTypes = { ADDED: 'added', MODIFIED: 'updated', DELETED: 'deleted' } as const;

const quietMilliseconds = 2_000;

/**
 * Follows all ConfigMaps from `from` on as a client does that has nothing but the watch: it resumes from the last version it
 * saw, and that is all it knows; what is open for long it opens anew. A 410 is thrown.
 */
export async function followPlainly(client: Client, from: string, signal: AbortSignal, all: Told[]): Promise<void> {
  let resourceVersion = from;
  while (!signal.aborted) {
    const ending = new AbortController();
    const timer = systemClock.after(quietMilliseconds, () => ending.abort());
    const both = AbortSignal.any([signal, ending.signal]);
    try {
      for await (const event of client.watch(ConfigMap, { resourceVersion, signal: both })) {
        if (event.type === 'BOOKMARK') resourceVersion = event.resourceVersion;
        else {
          all.push(told(wireTypes[event.type], event.object));
          resourceVersion = event.object.metadata.resourceVersion;
        }
      }
    } catch (error) {
      if (error instanceof ApiError && error.code === 410) throw error;
    } finally {
      timer.cancel();
    }
    if (!signal.aborted) await systemClock.sleep(1);
  }
}

/** The same as an informer tells it: a deletion in the state before it. */
export function asInformersTell(all: readonly Told[]): Told[] {
  const held = new Map<string, string>();
  return all.map((one) => {
    const before = held.get(one.name);
    if (one.what === 'deleted') held.delete(one.name);
    else held.set(one.name, one.version);
    return one.what === 'deleted' && before !== undefined ? { ...one, version: before } : one;
  });
}

export const lines = (all: readonly Told[]) =>
  all.map(({ what, name, uid, version }) => `${what} ${name} ${uid} ${version}`);
