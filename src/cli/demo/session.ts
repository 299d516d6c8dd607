import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { allKinds } from '../../api/index.ts';
import { type Client, type Clock, createClient, kubeconfigTransport, type Transport } from '../../kube/index.ts';
import type { KubeObject, ResourceType, Stored } from '../../meta/index.ts';

/** Something that should hold did not, within the time given to it. */
export class CheckFailed extends Error {}

const patienceMilliseconds = 30_000;
const pollMilliseconds = 25;

/** Clients of a running platform by context, as kubectl has them: over HTTPS, from the kubeconfig. */
export class Session {
  readonly #kubeconfig: string;
  readonly #clock: Clock;
  readonly #clients = new Map<string, { client: Client; transport: Transport }>();

  constructor(kubeconfig: string, clock: Clock) {
    this.#kubeconfig = kubeconfig;
    this.#clock = clock;
  }

  client(context: string): Client {
    const held = this.#clients.get(context);
    if (held !== undefined) return held.client;
    const transport = kubeconfigTransport(this.#kubeconfig, context, this.#clock);
    const client = createClient({ transport, basePath: '', clock: this.#clock, userAgent: 'berth-demo' });
    this.#clients.set(context, { client, transport });
    return client;
  }

  async close(): Promise<void> {
    for (const { transport } of this.#clients.values()) await transport.close();
    this.#clients.clear();
  }

  /** What `kubectl apply --server-side -f` does with a file, namespaced objects going to `default`. */
  async apply(context: string, file: string, change: (object: KubeObject) => void = () => {}): Promise<KubeObject[]> {
    const client = this.client(context);
    const objects = parseAllDocuments(await readFile(file, 'utf8')).map((document) => document.toJS() as KubeObject);
    for (const object of objects) {
      change(object);
      const type = typeOf(object);
      const namespace = type.namespaced ? 'default' : '';
      await client.patch(
        type,
        { namespace, name: object.metadata.name },
        { type: 'apply', body: object, fieldManager: 'berth-demo', force: true },
      );
    }
    return objects;
  }

  /**
   * Asks again until `look` answers something.
   * @throws {CheckFailed} after half a minute, with what was awaited and `look`'s last reason.
   */
  async until<T>(what: string, look: () => Promise<T | string>): Promise<Exclude<T, string>> {
    const deadline = this.#clock.monotonic() + patienceMilliseconds;
    for (;;) {
      const answer = await look();
      if (typeof answer !== 'string') return answer as Exclude<T, string>;
      if (this.#clock.monotonic() > deadline) throw new CheckFailed(`${what}: ${answer}`);
      await this.#clock.sleep(pollMilliseconds);
    }
  }

  now(): number {
    return this.#clock.monotonic();
  }
}

function typeOf(object: KubeObject): ResourceType {
  const type = allKinds.find(
    (kind) => kind.kind === object.kind && `${kind.group}/${kind.version}` === object.apiVersion,
  );
  if (type === undefined) throw new CheckFailed(`${object.apiVersion} ${object.kind} is not a kind of Berth`);
  return type;
}

export function keyOf(object: Stored<KubeObject>): { namespace: string; name: string } {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}
