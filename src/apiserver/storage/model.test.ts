import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type Commit, PreconditionFailed, type Storage, type StorageEvent, type StorageKey } from './storage.ts';
import { bytes, type HostName, key, open, Recorder, temporaryFolder, text, turns } from './testing.ts';

/** Random operations against a map with a list of its past. */

const planes = ['p', 'q'];
const resources = ['g/things', 'ipam/claims'];

interface KeyChoice {
  name: number;
  resource: number;
  plane: number;
}
type Step =
  | {
      do: 'commit';
      puts: KeyChoice[];
      deletes: KeyChoice[];
      expects: { key: KeyChoice; what: 'right' | 'absent' | 'wrong' }[];
    }
  | { do: 'lease' | 'unlease'; key: KeyChoice; fail: boolean }
  | { do: 'drop'; plane: number }
  | { do: 'settle' }
  | { do: 'reopen' };

const keyChoice = fc.record({ name: fc.nat(5), resource: fc.nat(1), plane: fc.nat(1) });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      puts: fc.array(keyChoice, { maxLength: 3 }),
      deletes: fc.array(keyChoice, { maxLength: 2 }),
      expects: fc.array(
        fc.record({ key: keyChoice, what: fc.constantFrom('right', 'right', 'right', 'absent', 'wrong') }),
        { maxLength: 2 },
      ) as fc.Arbitrary<Extract<Step, { do: 'commit' }>['expects']>,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('lease', 'unlease'),
      key: keyChoice,
      fail: fc.boolean(),
    }) as fc.Arbitrary<Step>,
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('drop' as const), plane: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'settle' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'reopen' }) },
);

type State = Map<string, { key: StorageKey; revision: number; value: string }>;

const keyOf = ({ name, resource, plane }: KeyChoice) => key(`k${name}`, 'n', resources[resource]!, planes[plane]!);
const id = ({ plane, resource, namespace, name }: StorageKey) => [plane, resource, namespace, name].join('|');
/** What all values have in common, as objects of a kind do: enough for them to be packed. */
const common = JSON.stringify({ spec: { pad: 'x'.repeat(200), list: [...'abcdefghijklmnopqrstuvwxyz'] } });
/** A lease's value has the time in it: only its revision is told apart. */
const told = (value: Uint8Array | undefined) => {
  const content = text(value)?.replace(common, '');
  return content?.startsWith('{') ? `lease ${JSON.parse(content).revision}` : content;
};

class Model {
  state: State = new Map();
  readonly past = new Map<number, State>([[0, new Map()]]);
  readonly events: string[] = [];
  readonly leases = new Set<string>();
  readonly droppedAt = new Map<string, number>();
  revision = 0;

  failing(commit: Commit): boolean {
    return (commit.preconditions ?? []).some(
      (one) => (this.state.get(id(one.key))?.revision ?? 'absent') !== one.revision,
    );
  }

  write(at: StorageKey, revision: number, value: string, deleted: boolean): void {
    const before = this.state.get(id(at));
    if (deleted && before === undefined) return;
    const now = new Map(this.state);
    if (deleted) now.delete(id(at));
    else now.set(id(at), { key: at, revision, value });
    this.events.push(`${revision} ${deleted ? 'delete' : 'put'} ${id(at)} ${value} was ${before?.value}`);
    this.state = now;
  }

  reached(revision: number): void {
    this.revision = revision;
    this.past.set(revision, this.state);
  }
}

class Run {
  readonly model = new Model();
  readonly heard: string[] = [];
  storage!: Storage;
  /** Revisions as the writer believes them to be: it does not wait for answers. */
  readonly believed = new Map<string, number | 'absent'>();
  #pending: {
    outcome: Promise<{ revision: number } | undefined>;
    apply: (revision: number | undefined, error: unknown) => void;
  }[] = [];
  #uncertain = false;
  #next = 1;

  async start(file: string, host: HostName, freshBytes: number): Promise<void> {
    this.storage = await open(file, host, { freshBytes });
    this.#next = this.storage.revision + 1;
    this.storage.onCommit((events) => this.heard.push(...events.map(line)));
  }

  commit({ puts, deletes, expects }: Extract<Step, { do: 'commit' }>): void {
    const seen = new Set<string>();
    const fresh = (choice: KeyChoice) => {
      const one = id(keyOf(choice));
      return !seen.has(one) && seen.add(one);
    };
    const expected = expects.map(({ key: choice, what }) => {
      const at = keyOf(choice);
      const right = this.believed.get(id(at)) ?? 'absent';
      return { key: at, revision: what === 'right' ? right : what === 'absent' ? ('absent' as const) : 999_999 };
    });
    let assigned = 0;
    const encode = (value: string) => (revision: number) => {
      assigned = revision;
      return bytes(value + common);
    };
    const number = this.#pending.length;
    const value = `v${this.#next}.${number}`;
    const commit: Commit = {
      preconditions: expected,
      puts: puts.filter(fresh).map((choice) => ({ key: keyOf(choice), encode: encode(value) })),
      deletes: deletes.filter(fresh).map((choice) => ({ key: keyOf(choice), encode: encode(`last ${value}`) })),
    };
    const certain = !this.#uncertain;
    if (expected.some((one) => one.key.resource === 'ipam/claims')) this.#uncertain = true;
    const outcome = this.storage.commit(commit);
    if (assigned > 0) {
      this.#next = assigned + 1;
      for (const { key: at } of commit.puts!) this.believed.set(id(at), assigned);
      for (const { key: at } of commit.deletes!) this.believed.set(id(at), 'absent');
    }
    this.#later(outcome, (revision, error) => {
      if (revision === undefined) {
        expect(error).toBeInstanceOf(PreconditionFailed);
        if (certain) expect(this.model.failing(commit)).toBe(true);
        return;
      }
      expect(this.model.failing(commit)).toBe(false);
      for (const { key: at } of commit.puts!) this.model.write(at, revision, value, false);
      for (const { key: at } of commit.deletes!) this.model.write(at, revision, `last ${value}`, true);
      this.model.reached(revision);
    });
  }

  procedure(what: 'lease' | 'unlease', choice: KeyChoice, fail: boolean): void {
    const at = keyOf({ ...choice, plane: 0 });
    const { name, resource } = at;
    this.#uncertain = true;
    const outcome = this.storage.call(what, { name, resource, ...(fail ? { fail: 'plain' } : {}) });
    this.#later(outcome, (revision, error) => {
      const refused = what === 'lease' && (fail || this.model.leases.has(name));
      expect(error === undefined).toBe(!refused);
      if (revision === undefined) return;
      if (what === 'lease') {
        this.model.leases.add(name);
        this.model.write(at, revision, `lease ${revision}`, false);
      } else {
        this.model.leases.delete(name);
        const held = this.model.state.get(id(at));
        if (held !== undefined) this.model.write(at, revision, held.value, true);
      }
      this.model.reached(revision);
    });
  }

  drop(plane: string): void {
    for (const one of this.believed.keys()) if (one.startsWith(`${plane}|`)) this.believed.delete(one);
    const outcome = this.storage.dropPlane(plane).then(() => undefined);
    this.#later(outcome, () => {
      this.model.state = new Map([...this.model.state].filter(([, record]) => record.key.plane !== plane));
      this.model.droppedAt.set(plane, this.model.revision);
    });
  }

  /** Waits for everything, replays it in the model, compares all there is to see. */
  async settle(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    const outcomes = await Promise.allSettled(pending.map(({ outcome }) => outcome));
    for (const [index, { apply }] of pending.entries()) {
      const outcome = outcomes[index]!;
      if (outcome.status === 'fulfilled') apply(outcome.value?.revision, undefined);
      else apply(undefined, outcome.reason);
    }
    this.#uncertain = false;
    this.believed.clear();
    for (const [one, { revision }] of this.model.state) this.believed.set(one, revision);
    expect(this.heard).toEqual(this.model.events);
    await this.#compare(undefined, this.model.state);
    for (const [revision, state] of [...this.model.past].slice(-6)) await this.#compare(revision, state);
  }

  async #compare(revision: number | undefined, state: State): Promise<void> {
    for (const plane of planes) {
      if (revision !== undefined && this.model.droppedAt.has(plane)) continue;
      for (const resource of resources) {
        const expected = [...state.values()]
          .filter((record) => record.key.plane === plane && record.key.resource === resource)
          .map((record) => `${id(record.key)} ${record.revision} ${record.value}`)
          .sort();
        const found: string[] = [];
        let after: { namespace: string; name: string } | undefined;
        for (;;) {
          const page = await this.storage.list({
            plane,
            resource,
            limit: 2,
            ...(revision === undefined ? {} : { revision }),
            ...(after === undefined ? {} : { after }),
          });
          for (const record of page.records) found.push(`${id(record.key)} ${record.revision} ${told(record.value)}`);
          expect(page.remaining).toBe(expected.length - found.length);
          after = page.records.at(-1)?.key;
          if (page.remaining === 0 || after === undefined) break;
        }
        expect(found).toEqual(expected);
      }
    }
    if (revision === undefined) {
      for (const record of state.values()) {
        const held = await this.storage.get(record.key);
        expect([held?.revision, told(held?.value)]).toEqual([record.revision, record.value]);
      }
    }
  }

  /** A watch from half way, after all of it: the tail of what happened. */
  async follow(): Promise<void> {
    const from = Math.floor(this.storage.revision / 2);
    for (const plane of planes) {
      if (this.model.droppedAt.has(plane)) continue;
      for (const resource of resources) {
        const recorder = new Recorder();
        this.storage.watch({ plane, resource, from }, recorder);
        await turns(2);
        const mine = (one: string) => one.includes(` ${plane}|${resource}|`) && Number(one.split(' ')[0]) > from;
        expect(recorder.seen.map(line)).toEqual(this.model.events.filter(mine));
      }
    }
  }

  #later(
    outcome: Promise<{ revision: number } | undefined>,
    apply: (revision: number | undefined, error: unknown) => void,
  ) {
    outcome.catch(() => {});
    this.#pending.push({ outcome, apply });
  }
}

function line(event: StorageEvent): string {
  return `${event.revision} ${event.type} ${id(event.key)} ${told(event.value)} was ${told(event.previous?.value)}`;
}

/** Once lost an event: the second drop made the store forget, at the first, what was on its way between them. */
const between = { name: 0, resource: 0, plane: 0 };
const twoDrops: Step[] = [
  { do: 'drop', plane: 0 },
  { do: 'lease', key: between, fail: false },
  { do: 'commit', puts: [], deletes: [between], expects: [] },
  { do: 'drop', plane: 0 },
];

describe.each([
  ['memory', 2 ** 20, 100],
  ['memory', 500, 50],
  ['memory', 0, 50],
  ['inline', 500, 6],
  ['worker', 500, 6],
] as const)('model (%s, %i bytes of values not packed)', (host, freshBytes, numRuns) => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());
  let file = 0;

  it('any operations in any order do what the model does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        file += 1;
        const path = join(folder.path, `${file}`);
        const run = new Run();
        await run.start(path, host, freshBytes);
        try {
          for (const one of steps) {
            if (one.do === 'commit') run.commit(one);
            else if (one.do === 'drop') run.drop(planes[one.plane]!);
            else if (one.do === 'settle') await run.settle();
            else if (one.do !== 'reopen') run.procedure(one.do, one.key, one.fail);
            else if (host !== 'memory') {
              await run.settle();
              await run.storage.close();
              await run.start(path, host, freshBytes);
            }
          }
          await run.settle();
          await run.follow();
        } finally {
          await run.storage.close();
        }
      }),
      {
        numRuns,
        interruptAfterTimeLimit: 100_000,
        examples: [[twoDrops]],
      },
    );
  }, 120_000);
});
