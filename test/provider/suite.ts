import { Instance, NetworkInterface, NetworkInterfaceClaim } from '../../src/api/index.ts';
import { applyStatus, type Client, type Clock } from '../../src/kube/index.ts';
import {
  apiVersionOf,
  type Condition,
  findCondition,
  formatTime,
  isApiError,
  type KubeObject,
  Namespace,
  parseTime,
  type Stored,
} from '../../src/meta/index.ts';

/**
 * What docs/providers.md asks of an infrastructure provider, one check for each thing. The suite plays everyone else in
 * the cell: it makes gated instances with their interfaces, opens gates, and deletes. Nothing else may be at work there.
 */
export interface SuiteOptions {
  /** A client of the cell. */
  cell: Client;
  clock: Clock;
  namespace: string;
  /** How long a provider may take for what it has to do. */
  patienceMilliseconds: number;
  /** How long it is watched doing nothing. */
  watchMilliseconds: number;
  /** `spec.runtime` of the instances: something the provider can start. */
  runtime: NonNullable<Instance['spec']>['runtime'];
}

export interface Outcome {
  check: string;
  /** What was seen instead; absent where it is as it should be. */
  fault?: string;
}

class Fault extends Error {}

const player = 'provider-suite';
const computeManager = 'compute-cell-instance';
const hash = 'a1b2c3d4e5f60718';
const pollMilliseconds = 100;
const ours = ['Ready', 'QuotaGranted'];
const theirs = ['Programmed', 'Available'];

type Check = (name: string, stage: Stage) => Promise<void>;

const checks: Record<string, Check> = {
  async 'an instance behind gates is left alone, until the last one has gone'(name, stage) {
    await stage.make(name, ['Network', 'Quota']);
    await stage.untouched(name, 'while two gates are closed');
    await stage.openGates(name, ['Network']);
    await stage.untouched(name, 'while one gate is closed');
  },
  async 'an instance that nobody controls is left alone'(name, stage) {
    await stage.make(name, undefined);
    await stage.untouched(name, 'without spec.controller');
  },
  async 'once no gate is left it is Programmed and Available, whatever its interface says of Programmed'(name, stage) {
    await stage.start(name);
    const { metadata, status } = await stage.instance(name);
    for (const type of theirs) {
      const said = findCondition(status?.conditions, type);
      if (said?.reason !== type) throw new Fault(`${type} is True with reason ${said?.reason}, which is to be ${type}`);
      if (said.observedGeneration !== metadata.generation) {
        throw new Fault(`${type} has observedGeneration ${said.observedGeneration} of ${metadata.generation}`);
      }
      const made = parseTime(metadata.creationTimestamp) ?? 0;
      const since = parseTime(said.lastTransitionTime) ?? 0;
      if (since < made)
        throw new Fault(`${type} says True since ${said.lastTransitionTime}, before the instance was made`);
    }
  },
  async 'it applies its two conditions under one field manager, and nothing else of the status'(name, stage) {
    await stage.start(name);
    const instance = await stage.instance(name);
    const managers = statusManagers(instance).filter(({ manager }) => manager !== player);
    const [one, ...others] = managers;
    if (one === undefined || others.length > 0) {
      throw new Fault(`the status was written by ${managers.map(({ manager }) => manager).join(', ') || 'nobody'}`);
    }
    if (one.operation !== 'Apply') throw new Fault(`${one.manager} wrote the status by ${one.operation}, not by Apply`);
    const owned = ownedOf(one.fieldsV1 ?? {}).sort();
    const wanted = theirs.map((type) => `conditions[${type}]`).sort();
    if (owned.join() !== wanted.join()) throw new Fault(`${one.manager} owns ${owned.join(', ')} of the status`);
  },
  async 'it changes nothing of what others wrote: spec, Ready, QuotaGranted, addresses'(name, stage) {
    const before = await stage.start(name);
    const after = await stage.instance(name);
    const view = (object: Instance) =>
      JSON.stringify([
        object.spec,
        object.status?.networkInterfaces,
        object.status?.controller,
        ours.map((type) => findCondition(object.status?.conditions, type)),
      ]);
    if (view(before) !== view(after)) throw new Fault(`it was ${view(before)} and is ${view(after)}`);
  },
  async 'it writes neither interfaces nor claims'(name, stage) {
    await stage.start(name);
    const writers = statusManagers(await stage.instance(name)).map(({ manager }) => manager);
    for (const object of [await stage.networkInterface(name), await stage.claim(name)]) {
      const also = (object.metadata.managedFields ?? []).find(
        ({ manager }) => manager !== player && writers.includes(manager),
      );
      if (also !== undefined) throw new Fault(`${also.manager} wrote to ${object.kind} ${object.metadata.name}`);
    }
  },
  async 'it says a thing once'(name, stage) {
    await stage.start(name);
    await stage.quiet(name, 'after it had said that the instance is available');
    await stage.label(name);
    await stage.quiet(name, 'after a label was put on the instance');
  },
  async 'a deleted instance goes'(name, stage) {
    await stage.start(name);
    await stage.remove(name);
  },
  async 'one that was never started goes as well'(name, stage) {
    await stage.make(name, ['Network']);
    await stage.remove(name);
  },
  async 'a successor of the same name is another instance: gated it is left alone, opened it is started'(name, stage) {
    await stage.start(name);
    await stage.remove(name);
    await stage.make(name, ['Network', 'Quota']);
    await stage.untouched(name, 'while the gates of a successor are closed');
    await stage.openGates(name, []);
    await stage.available(name);
  },
};

export const checkNames: readonly string[] = Object.keys(checks);

/** Runs every check, one after the other, each with an instance of its own. Tells of each when it is done. */
export async function runSuite(options: SuiteOptions, tell: (outcome: Outcome) => void = () => {}): Promise<Outcome[]> {
  const stage = new Stage(options);
  await stage.open();
  const outcomes: Outcome[] = [];
  let serial = 0;
  for (const [check, run] of Object.entries(checks)) {
    const name = `provider-check-${++serial}`;
    let outcome: Outcome = { check };
    try {
      await run(name, stage);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      await stage.mustBeAlone(name);
      outcome = { check, fault: error.message };
    } finally {
      await stage.clear(name);
    }
    outcomes.push(outcome);
    tell(outcome);
  }
  return outcomes;
}

/** The rest of the cell, as far as a provider sees it. */
class Stage {
  readonly #options: SuiteOptions;

  constructor(options: SuiteOptions) {
    this.#options = options;
  }

  #key(name: string) {
    return { namespace: this.#options.namespace, name };
  }

  #interfaceKey(name: string) {
    return this.#key(`${name}-eth0`);
  }

  async open(): Promise<void> {
    const { cell, namespace } = this.#options;
    if ((await cell.get(Namespace, { namespace: '', name: namespace })) === undefined) {
      await cell.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    }
  }

  /** An instance with an interface that has its addresses, as compute and network services leave it. */
  async make(name: string, gates: readonly string[] | undefined): Promise<Stored<Instance>> {
    const { cell, clock, runtime } = this.#options;
    const metadata = this.#interfaceKey(name);
    const network = { name: 'default' };
    const addresses = [
      { family: 'IPv6', address: 'fd20:1000:0:0:1::/96', gateway: 'fd20:1000::1', primary: true },
    ] as const;
    const made = { fieldManager: player };
    if ((await cell.get(NetworkInterfaceClaim, metadata)) === undefined) {
      const claim = await cell.create(
        NetworkInterfaceClaim,
        {
          apiVersion: apiVersionOf(NetworkInterfaceClaim),
          kind: NetworkInterfaceClaim.kind,
          metadata,
          spec: { network } as NetworkInterfaceClaim['spec'],
        },
        made,
      );
      await cell.create(
        NetworkInterface,
        {
          apiVersion: apiVersionOf(NetworkInterface),
          kind: NetworkInterface.kind,
          metadata,
          spec: {
            network,
            claimRef: { name: claim.metadata.name, uid: claim.metadata.uid },
            addresses,
          } as unknown as NetworkInterface['spec'],
        },
        made,
      );
    }
    const instance = await cell.create(
      Instance,
      {
        apiVersion: apiVersionOf(Instance),
        kind: Instance.kind,
        metadata: this.#key(name),
        spec: {
          runtime,
          networkInterfaces: [{ network, name: 'eth0' }] as NonNullable<Instance['spec']>['networkInterfaces'],
          ...(gates === undefined
            ? {}
            : { controller: { templateHash: hash, schedulingGates: gates.map((gate) => ({ name: gate })) } }),
        } as NonNullable<Instance['spec']>,
      },
      made,
    );
    const says = (type: string, status: Condition['status'], reason: string): Condition => ({
      type,
      status,
      reason,
      message: 'As the suite says',
      observedGeneration: 1,
      lastTransitionTime: formatTime(clock.now()),
    });
    const status = {
      networkInterfaces: [{ name: 'eth0', networkInterfaceRef: { name: metadata.name }, addresses: [...addresses] }],
      controller: { observedTemplateHash: hash },
      conditions: [says('Ready', 'Unknown', 'Pending'), says('QuotaGranted', 'True', 'QuotaAvailable')],
    } as Partial<NonNullable<Instance['status']>>;
    return applyStatus(cell, Instance, instance, status, player);
  }

  /** Makes an instance, opens its gates, and waits until the provider says that it runs. Answers it as it was opened. */
  async start(name: string): Promise<Stored<Instance>> {
    await this.make(name, ['Network', 'Quota']);
    const opened = await this.openGates(name, []);
    await this.available(name);
    return opened;
  }

  async openGates(name: string, left: readonly string[]): Promise<Stored<Instance>> {
    const body = { spec: { controller: { schedulingGates: left.map((gate) => ({ name: gate })) } } };
    return this.#options.cell.patch(Instance, this.#key(name), { type: 'merge', body }, { fieldManager: player });
  }

  async label(name: string): Promise<void> {
    const body = { metadata: { labels: { 'example.com/suite': 'seen' } } };
    await this.#options.cell.patch(Instance, this.#key(name), { type: 'merge', body }, { fieldManager: player });
  }

  async available(name: string): Promise<void> {
    const saw = () => this.instance(name).then(({ status }) => summary(status?.conditions));
    await this.#until(
      async () => {
        const { conditions } = (await this.instance(name)).status ?? {};
        return theirs.every((type) => findCondition(conditions, type)?.status === 'True');
      },
      async () => `no gate is left, and the instance says ${await saw()}`,
    );
  }

  /** Watches that nothing is written to an instance for a while. */
  async quiet(name: string, when: string): Promise<void> {
    const { clock, watchMilliseconds } = this.#options;
    const before = await this.instance(name);
    await clock.sleep(watchMilliseconds);
    const after = await this.instance(name);
    if (after.metadata.resourceVersion === before.metadata.resourceVersion) return;
    const writers = (after.metadata.managedFields ?? []).map(({ manager }) => manager);
    throw new Fault(`${when} it was written to by one of ${writers.join(', ')}: ${summary(after.status?.conditions)}`);
  }

  /** Watches that the provider says nothing of an instance for a while. */
  async untouched(name: string, when: string): Promise<void> {
    const { clock, watchMilliseconds } = this.#options;
    await clock.sleep(watchMilliseconds);
    const instance = await this.instance(name);
    const [other] = statusManagers(instance).filter(({ manager }) => manager !== player);
    if (other === undefined) return;
    throw new Fault(`${when}, ${other.manager} wrote its status: ${summary(instance.status?.conditions)}`);
  }

  /** A fault is the provider's only where compute is not at work: it would answer the suite, in its own time. */
  async mustBeAlone(name: string): Promise<void> {
    const instance = await this.#options.cell.get(Instance, this.#key(name));
    if (instance === undefined || statusManagers(instance).every(({ manager }) => manager !== computeManager)) return;
    throw new Error(
      'compute is at work in this cell: the suite plays its part, and needs a cell with the provider alone',
    );
  }

  async remove(name: string): Promise<void> {
    const { cell } = this.#options;
    await cell.delete(Instance, this.#key(name));
    await this.#until(
      async () => (await cell.get(Instance, this.#key(name))) === undefined,
      async () => {
        const left = await cell.get(Instance, this.#key(name));
        return `it was deleted and is still there, with finalizers ${left?.metadata.finalizers?.join(', ')}`;
      },
    );
  }

  async #until(look: () => Promise<boolean>, fault: () => Promise<string>): Promise<void> {
    const { clock, patienceMilliseconds } = this.#options;
    const deadline = clock.monotonic() + patienceMilliseconds;
    while (!(await look())) {
      if (clock.monotonic() > deadline) throw new Fault(`after ${patienceMilliseconds / 1000} s: ${await fault()}`);
      await clock.sleep(pollMilliseconds);
    }
  }

  instance(name: string): Promise<Stored<Instance>> {
    return this.#there(Instance, this.#key(name));
  }

  networkInterface(name: string): Promise<Stored<NetworkInterface>> {
    return this.#there(NetworkInterface, this.#interfaceKey(name));
  }

  claim(name: string): Promise<Stored<NetworkInterfaceClaim>> {
    return this.#there(NetworkInterfaceClaim, this.#interfaceKey(name));
  }

  async #there<T extends KubeObject>(
    type: Parameters<Client['get']>[0] & { readonly __object?: T },
    key: { namespace: string; name: string },
  ): Promise<Stored<T>> {
    const found = await this.#options.cell.get(type, key);
    if (found === undefined) throw new Fault(`${type.kind} ${key.name} is not there any more`);
    return found as Stored<T>;
  }

  /** Takes away what a check left, finalizers of a provider that does not let go included. */
  async clear(name: string): Promise<void> {
    const { cell } = this.#options;
    for (const [type, key] of [
      [Instance, this.#key(name)],
      [NetworkInterface, this.#interfaceKey(name)],
      [NetworkInterfaceClaim, this.#interfaceKey(name)],
    ] as const) {
      if (!(await cell.delete(type, key))) continue;
      const left = await cell.get(type as typeof Instance, key);
      if (left === undefined) continue;
      const body = { metadata: { finalizers: null } };
      await cell.patch(type as typeof Instance, key, { type: 'merge', body }).catch((error) => {
        // Whoever held it has let go meanwhile.
        if (!isApiError(error, 'NotFound')) throw error;
      });
    }
  }
}

function summary(conditions: readonly Condition[] | undefined): string {
  return (conditions ?? []).map(({ type, status, reason }) => `${type} ${status} ${reason}`).join(', ');
}

interface Manager {
  manager: string;
  operation: string;
  fieldsV1: Record<string, unknown> | undefined;
}

/** Who wrote fields of the status. */
function statusManagers(object: Stored<KubeObject>): Manager[] {
  return (object.metadata.managedFields ?? []).flatMap(({ manager = '', operation = '', subresource, fieldsV1 }) =>
    subresource === 'status' ? [{ manager, operation, fieldsV1: fieldsV1 as Manager['fieldsV1'] }] : [],
  );
}

/** Fields of the status in a `fieldsV1`, as `conditions[Ready]`, `suspended`. */
function ownedOf(fields: Record<string, unknown>): string[] {
  const status = (fields['f:status'] ?? {}) as Record<string, Record<string, unknown>>;
  return Object.entries(status).flatMap(([field, inner]) => {
    const name = field.replace(/^f:/, '');
    if (name !== 'conditions') return [name];
    return Object.keys(inner).flatMap((key) => {
      const type = /"type":"([^"]+)"/.exec(key)?.[1];
      return type === undefined ? [] : [`conditions[${type}]`];
    });
  });
}
