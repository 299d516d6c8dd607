import { type Client, type Random, systemClock } from '../../../src/kube/index.ts';
import { ApiError, ConfigMap } from '../../../src/meta/index.ts';
import type { Call, Operation } from '../linearizable.ts';
import { configMap, keyOf } from './api.ts';

/** What a client knows of an object: the state it was in when it last heard of it. */
interface Known {
  state: string;
  version: string;
}

/** Everything that was asked of a few objects, and what was answered. */
export class Recording {
  readonly calls = new Map<string, Call[]>();
  /** Version of each state that anybody was told. */
  readonly versions = new Map<string, number>();
  readonly faults: string[] = [];
  #moment = 0;

  tick(): number {
    return ++this.#moment;
  }

  add(name: string, call: Call): void {
    const calls = this.calls.get(name);
    if (calls === undefined) this.calls.set(name, [call]);
    else calls.push(call);
  }

  /** A state has one version, for everybody. */
  learn(state: string, version: string): void {
    const known = this.versions.get(state);
    if (known !== undefined && known !== Number(version)) {
      this.faults.push(`${state} has version ${known} for one and ${version} for another`);
    }
    this.versions.set(state, Number(version));
  }
}

/** One of many clients: does one thing at a time, any of them, to any of the objects, and writes down what comes of it. */
export class RecordingClient {
  readonly #client: Client;
  readonly #random: Random;
  readonly #recording: Recording;
  readonly #id: string;
  readonly #names: readonly string[];
  readonly #isThere: () => boolean;
  readonly #known = new Map<string, Known>();
  #writes = 0;

  constructor(options: {
    client: Client;
    random: Random;
    recording: Recording;
    /** What its writes begin with. */
    id: string;
    names: readonly string[];
    /** Whether there is a server just now. */
    isThere: () => boolean;
  }) {
    this.#client = options.client;
    this.#random = options.random;
    this.#recording = options.recording;
    this.#id = options.id;
    this.#names = options.names;
    this.#isThere = options.isThere;
  }

  async run(signal: AbortSignal, calls: number): Promise<void> {
    for (let n = 0; n < calls && !signal.aborted; n++) {
      const name = this.#names[Math.floor(this.#random.next() * this.#names.length)]!;
      const chance = this.#random.next();
      if (chance < 0.3) await this.#read(name);
      else if (chance < 0.4) await this.#list();
      else if (chance < 0.55) await this.#create(name);
      else if (chance < 0.88) await this.#update(name, this.#random.next() < 0.7);
      else await this.#delete(name, this.#random.next() < 0.5);
    }
  }

  async #read(name: string): Promise<void> {
    const asked = this.#recording.tick();
    const object = await this.#client.get(ConfigMap, keyOf(name)).catch(noAnswer);
    if (object === lost) return this.#rest();
    this.#recording.add(name, { operation: this.#found(name, object), asked, answered: this.#recording.tick() });
  }

  /** A list is a read of every object at one moment. */
  async #list(): Promise<void> {
    const asked = this.#recording.tick();
    const list = await this.#client.list(ConfigMap, { namespace: 'default' }).catch(noAnswer);
    if (list === lost) return this.#rest();
    const answered = this.#recording.tick();
    for (const name of this.#names) {
      const object = list.items.find((item) => item.metadata.name === name);
      this.#recording.add(name, { operation: this.#found(name, object), asked, answered });
    }
  }

  #create(name: string): Promise<void> {
    const state = this.#next();
    return this.#write(name, { kind: 'create', state }, async () => {
      const object = await this.#client.create(ConfigMap, configMap(name, state));
      this.#learn(name, state, object.metadata.resourceVersion);
      return { kind: 'create', state };
    });
  }

  #update(name: string, guarded: boolean): Promise<void> {
    const state = this.#next();
    const known = guarded ? this.#known.get(name) : undefined;
    const from = known === undefined ? {} : { from: known.state };
    return this.#write(name, { kind: 'update', state, ...from }, async () => {
      const object = await this.#client.update(ConfigMap, configMap(name, state, known?.version));
      this.#learn(name, state, object.metadata.resourceVersion);
      return { kind: 'update', state, ...from };
    });
  }

  #delete(name: string, guarded: boolean): Promise<void> {
    const known = guarded ? this.#known.get(name) : undefined;
    const from = known === undefined ? {} : { from: known.state };
    const preconditions = known === undefined ? {} : { preconditions: { resourceVersion: known.version } };
    return this.#write(name, { kind: 'delete', ...from }, async () => {
      const existed = await this.#client.delete(ConfigMap, keyOf(name), preconditions);
      return existed ? { kind: 'delete', ...from } : { kind: 'absent' };
    });
  }

  async #write(name: string, wanted: Operation, write: () => Promise<Operation>): Promise<void> {
    const asked = this.#recording.tick();
    const operation = await write().catch((error) => refusalOf(wanted, error));
    if (operation === lost) {
      this.#recording.add(name, { operation: wanted, asked, answered: undefined });
      return this.#rest();
    }
    this.#recording.add(name, { operation, asked, answered: this.#recording.tick() });
  }

  #found(name: string, object: ConfigMap | undefined): Operation {
    if (object === undefined) {
      this.#known.delete(name);
      return { kind: 'read', state: undefined };
    }
    const state = object.data?.by ?? '';
    this.#learn(name, state, object.metadata.resourceVersion!);
    return { kind: 'read', state };
  }

  #learn(name: string, state: string, version: string): void {
    this.#recording.learn(state, version);
    this.#known.set(name, { state, version });
  }

  #next(): string {
    return `${this.#id}.${this.#writes++}`;
  }

  /** The server is away: it is not asked a thousand times meanwhile. */
  async #rest(): Promise<void> {
    do await systemClock.sleep(5 + this.#random.next() * 20);
    while (!this.#isThere());
  }
}

const lost = Symbol('no answer');

/** Rethrows what was an answer. */
function noAnswer(error: unknown): typeof lost {
  if (error instanceof ApiError) throw error;
  return lost;
}

function refusalOf(wanted: Operation, error: unknown): Operation | typeof lost {
  if (!(error instanceof ApiError)) return lost;
  if (error.reason === 'NotFound') return { kind: 'absent' };
  if (error.reason === 'AlreadyExists' && wanted.kind === 'create') return { kind: 'create-refused' };
  const guard = wanted.kind === 'update' || wanted.kind === 'delete' ? wanted.from : undefined;
  if (error.reason === 'Conflict' && guard !== undefined) {
    return { kind: wanted.kind === 'update' ? 'update-refused' : 'delete-refused', from: guard };
  }
  throw error;
}
