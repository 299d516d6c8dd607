import { afterEach, describe, expect, test } from 'vitest';
import { Instance, NetworkInterface } from '../../../src/api/index.ts';
import { applyStatus, type Controller, mergeStatus, type Plane, type VirtualClock } from '../../../src/kube/index.ts';
import { type Condition, formatTime, isTerminating, type Stored } from '../../../src/meta/index.ts';
import { simulatedProvider } from '../../../src/node/index.ts';
import { Stack } from '../../harness/stack.ts';
import { checkNames, type Outcome, runSuite, type SuiteOptions } from '../../provider/suite.ts';

// The suite that a provider's author runs: the simulated provider keeps to all of it, and each of these breaks its part.

let stack: Stack;
afterEach(() => stack.close());

async function judged(make: (clock: VirtualClock) => Controller): Promise<Outcome[]> {
  stack = await Stack.open({ projects: [], controllers: ({ clock }) => [make(clock)] });
  const { clock } = stack;
  return clock.advanceUntil(runSuite(options(clock)));
}

function options(clock: VirtualClock): SuiteOptions {
  return {
    cell: stack.cell(),
    clock,
    namespace: 'provider-suite',
    patienceMilliseconds: 10_000,
    watchMilliseconds: 2_000,
    runtime: {
      resources: { instanceType: 'small' },
      sandbox: { containers: [{ name: 'main', image: 'nginx' }] },
    } as never,
  };
}

const failed = (outcomes: readonly Outcome[]) =>
  outcomes.flatMap(({ check, fault }) => (fault === undefined ? [] : [check]));

const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];

/** What a provider does with an instance each time it looks at it. */
type Act = (
  instance: Stored<Instance>,
  plane: Plane,
  says: (type: string, status?: 'True' | 'False') => Condition,
) => unknown;

function provider(act: Act): (clock: VirtualClock) => Controller {
  return (clock) => ({
    name: 'provider',
    rules: { cell: everything },
    engage: (plane, _, watch) => watch.on(plane, Instance),
    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const instance = plane?.informer(Instance).get(request.namespace, request.name);
      if (plane === undefined || instance === undefined) return undefined;
      await act(instance, plane, (type, status = 'True') => ({
        type,
        status,
        reason: type,
        message: '',
        observedGeneration: instance.metadata.generation ?? 1,
        lastTransitionTime: formatTime(clock.now()),
      }));
      return undefined;
    },
  });
}

const isGated = ({ spec }: Instance) =>
  spec?.controller === undefined || (spec.controller.schedulingGates ?? []).length > 0;
const runs = ({ status }: Instance) =>
  status?.conditions?.some(({ type, status }) => type === 'Available' && status === 'True') === true;

/** As it should be, but for what `more` does. */
function right(
  more: Partial<{ starts: (instance: Instance) => boolean; conditions: string[]; manager: string }> = {},
): Act {
  return async (instance, plane, says) => {
    const { starts = (each) => !isGated(each), conditions = ['Programmed', 'Available'], manager = 'provider' } = more;
    if (isTerminating(instance) || !starts(instance) || runs(instance)) return;
    await applyStatus(plane.client, Instance, instance, { conditions: conditions.map((type) => says(type)) }, manager);
  };
}

describe('the suite', () => {
  test('finds nothing in the simulated provider, nor in one like it', async () => {
    const recorder = () => ({ event: () => {}, stop: () => {} }) as never;
    const outcomes = await judged((clock) => simulatedProvider({ clock, recorder }));
    expect(outcomes).toEqual(checkNames.map((check) => ({ check })));
    await stack.close();
    expect(failed(await judged(provider(right())))).toEqual([]);
  });

  test('finds nothing in a provider that stops instances in good order, even where it lets go while the suite clears up', async () => {
    const finalizer = 'example.com/stop';
    const orderly: Act = async (instance, plane, says) => {
      const { namespace = '', name, finalizers = [] } = instance.metadata;
      const put = (list: string[]) =>
        plane.client.patch(Instance, { namespace, name }, { type: 'merge', body: { metadata: { finalizers: list } } });
      if (isTerminating(instance)) {
        if (finalizers.includes(finalizer)) await put([]);
        return;
      }
      if (!isGated(instance) && !finalizers.includes(finalizer)) await put([finalizer]);
      await right()(instance, plane, says);
    };
    stack = await Stack.open({ projects: [], controllers: ({ clock }) => [provider(orderly)(clock)] });
    const { clock } = stack;
    const { cell, ...rest } = options(clock);
    let late = 0;
    const slow: typeof cell = {
      ...cell,
      async patch(type, key, patch, more) {
        if (JSON.stringify(patch.body).includes('"finalizers":null')) {
          late++;
          while ((await cell.get(type, key)) !== undefined) await clock.sleep(10);
        }
        return cell.patch(type, key, patch, more);
      },
    };
    expect(failed(await clock.advanceUntil(runSuite({ ...rest, cell: slow })))).toEqual([]);
    expect(late).toBeGreaterThan(0);
  });

  test('says so where compute is at work, and would answer it', async () => {
    stack = await Stack.open({ projects: [] });
    const { clock } = stack;
    const suite = runSuite(options(clock));
    await expect(clock.advanceUntil(suite)).rejects.toThrow('compute is at work in this cell');
  });

  const broken: [what: string, act: Act, checks: RegExp[]][] = [
    [
      'waits for no gate',
      right({ starts: () => true }),
      [/behind gates/, /nobody controls/, /Programmed and Available/, /successor/],
    ],
    [
      'starts at the first gate that opens',
      right({ starts: ({ spec }) => (spec?.controller?.schedulingGates?.length ?? 2) < 2 }),
      [/behind gates/],
    ],
    [
      'waits for the interface\u2019s Programmed',
      async (instance, plane, says) => {
        const reference = instance.status?.networkInterfaces?.[0]?.networkInterfaceRef?.name ?? '';
        const found = plane.informer(NetworkInterface).get(instance.metadata.namespace ?? '', reference);
        const programmed = found?.status?.conditions?.some(
          ({ type, status }) => type === 'Programmed' && status === 'True',
        );
        if (programmed === true) await right()(instance, plane, says);
      },
      [
        /Programmed and Available/,
        /field manager/,
        /changes nothing/,
        /neither interfaces/,
        /says a thing once/,
        /deleted instance/,
        /successor/,
      ],
    ],
    [
      'says Ready as well',
      right({ conditions: ['Programmed', 'Available', 'Ready'] }),
      [/field manager/, /changes nothing/],
    ],
    [
      'merges the whole status',
      async (instance, plane, says) => {
        if (isTerminating(instance) || isGated(instance) || runs(instance)) return;
        const rest = (instance.status?.conditions ?? []).filter(
          ({ type }) => type === 'Ready' || type === 'QuotaGranted',
        );
        const conditions = [says('Programmed'), says('Available'), ...rest];
        await mergeStatus(plane.client, Instance, instance, { ...instance.status, conditions });
      },
      [/field manager/],
    ],
    [
      'says it again and again',
      async (instance, plane, says) => {
        if (isTerminating(instance) || isGated(instance)) return;
        const conditions = ['Programmed', 'Available'].map((type) => says(type));
        await applyStatus(plane.client, Instance, instance, { conditions }, 'provider');
      },
      [/says a thing once/],
    ],
    [
      'writes to the interface',
      async (instance, plane, says) => {
        await right()(instance, plane, says);
        const reference = instance.status?.networkInterfaces?.[0]?.networkInterfaceRef?.name;
        if (reference === undefined || isGated(instance) || isTerminating(instance)) return;
        const found = plane.informer(NetworkInterface).get(instance.metadata.namespace ?? '', reference);
        if (found === undefined) return;
        await applyStatus(plane.client, NetworkInterface, found, { conditions: [says('Programmed')] }, 'provider');
      },
      [/neither interfaces nor claims/],
    ],
    [
      'does not let go of what is deleted',
      async (instance, plane, says) => {
        if (!isGated(instance) && !isTerminating(instance) && instance.metadata.finalizers === undefined) {
          const body = { metadata: { finalizers: ['example.com/stop'] } };
          const { namespace = '', name } = instance.metadata;
          await plane.client.patch(Instance, { namespace, name }, { type: 'merge', body });
        }
        await right()(instance, plane, says);
      },
      [/deleted instance goes/, /successor/],
    ],
    [
      'does nothing',
      () => undefined,
      [
        /Programmed and Available/,
        /field manager/,
        /changes nothing/,
        /neither interfaces/,
        /says a thing once/,
        /deleted instance/,
        /successor/,
      ],
    ],
  ];

  test.each(broken)('finds one that %s', async (_, act, checks) => {
    const found = failed(await judged(provider(act)));
    expect(found).toHaveLength(checks.length);
    for (const [index, check] of checks.entries()) expect(found[index]).toMatch(check);
  });
});
