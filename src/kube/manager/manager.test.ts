import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../meta/index.ts';
import { VirtualClock } from '../clock/virtual.ts';
import { type Controller, type Plane, type PlaneRole, type Request, TerminalError, type Watch } from '../controller.ts';
import { seededRandom } from '../seeded-random.ts';
import { ScriptedServer, Thing, thing } from '../testing/scripted-server.ts';
import { createManager } from './manager.ts';

const rules = [{ verbs: ['*'], apiGroups: ['test.example'], resources: ['things'] }];

function setUp() {
  const clock = new VirtualClock();
  const servers = new Map<string, ScriptedServer>();
  const server = (id: string) => {
    const known = servers.get(id) ?? new ScriptedServer(clock);
    servers.set(id, known);
    return known;
  };
  const logged: string[] = [];
  const line = (level: string) => (fields: object, message: string) => {
    logged.push(`${level}: ${message} ${JSON.stringify(fields)}`);
  };
  const log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  const metrics = new Registry();
  const connected: string[] = [];
  let closed = 0;
  const manager = createManager({
    clock,
    random: seededRandom(1),
    log,
    metrics,
    connect(plane, identity) {
      connected.push(`${plane.id} as ${identity}`);
      const transport = server(plane.id).transport();
      return { transport: { ...transport, close: async () => void closed++ }, basePath: '' };
    },
  });
  const engage = (id: string, role: PlaneRole) => manager.engage({ id, role, name: id.split('/').at(-1) ?? id });
  return { clock, server, logged, metrics, connected, manager, engage, closed: () => closed };
}

/** A controller of Things in cells that runs `reconcile`. */
function controllerOf(reconcile: Controller['reconcile'], more: Partial<Controller> = {}): Controller {
  return {
    name: 'test/things',
    rules: { cell: rules },
    engage: (plane: Plane, _, watch: Watch) => watch.on(plane, Thing),
    reconcile,
    ...more,
  };
}

function text(request: Request): string {
  return `${request.plane} ${request.namespace}/${request.name}`;
}

describe('a controller', () => {
  it('is asked to reconcile what is there and what changes, in every plane of its roles', async () => {
    const { clock, server, manager, engage, connected } = setUp();
    const seen: string[] = [];
    server('cell/x').put(Thing, thing('a'));
    server('hub').put(Thing, thing('not-mine'));
    manager.add(
      controllerOf(async (request) => {
        seen.push(text(request));
        return undefined;
      }),
    );
    engage('cell/x', 'cell');
    engage('hub', 'hub');
    manager.start();
    engage('cell/y', 'cell');
    await clock.settle();
    server('cell/y').put(Thing, thing('b'));
    await clock.settle();
    expect(seen).toEqual(['cell/x default/a', 'cell/y default/b']);
    expect(connected.sort()).toEqual([
      'cell/x as berth-informers',
      'cell/x as test/things',
      'cell/y as berth-informers',
      'cell/y as test/things',
    ]);
    await manager.stop();
  });

  it('shares the informer of a kind with every other, and sees its own writes at once', async () => {
    const { clock, server, manager, engage } = setUp();
    const colors: unknown[] = [];
    server('cell/x').put(Thing, thing('a'));
    manager.add(
      controllerOf(async (request, planes) => {
        const plane = planes.get(request.plane);
        const patch = { type: 'merge', body: { spec: { color: 'blue' } } } as const;
        server('cell/x').stall();
        await plane?.client.patch(Thing, request, patch);
        colors.push(plane?.informer(Thing).get('default', 'a')?.spec?.color);
        return undefined;
      }),
    );
    manager.add(controllerOf(async () => undefined, { name: 'test/other' }));
    manager.start();
    engage('cell/x', 'cell');
    await clock.settle();
    expect(colors[0]).toBe('blue');
    expect(server('cell/x').requests.filter((request) => request.includes('watch=true'))).toHaveLength(1);
    await manager.stop();
  });

  it('reconciles nothing of a plane before what it watches there is complete, and says what it waits for', async () => {
    const { clock, server, manager, engage, logged } = setUp();
    const seen: string[] = [];
    for (let n = 0; n < 7; n++) server('cell/x').faults.push(() => new Error('down'));
    server('cell/x').put(Thing, thing('a'));
    const controller = controllerOf(
      async (request, planes) => {
        seen.push(`${text(request)} of ${planes.get(request.plane)?.informer(Thing).list().length}`);
        return undefined;
      },
      {
        engage(plane, _, watch) {
          watch.on(plane, Thing);
          watch.enqueue({ plane: plane.id, namespace: 'default', name: 'early' });
          watch.enqueue({ plane: plane.id, namespace: 'default', name: 'soon' }, 10);
          watch.enqueue({ plane: 'cell/unknown', namespace: 'default', name: 'nowhere' });
        },
      },
    );
    manager.add(controller);
    manager.start();
    engage('cell/x', 'cell');
    await clock.advance(31_000);
    expect(seen).toEqual([]);
    expect(logged.filter((entry) => entry.includes('still waiting'))).toEqual([
      'warn: still waiting for the first list {"controller":"test/things","plane":"cell/x","kinds":["Thing"]}',
    ]);
    await clock.advance(60_000);
    expect(seen.sort()).toEqual(['cell/x default/a of 1', 'cell/x default/early of 1', 'cell/x default/soon of 1']);
    await manager.stop();
  });

  it('maps events of one plane to objects of another, and drops those its filter leaves out', async () => {
    const { clock, server, manager, engage } = setUp();
    const seen: string[] = [];
    manager.add(
      controllerOf(
        async (request) => {
          seen.push(text(request));
          return undefined;
        },
        {
          rules: { cell: rules, hub: rules },
          engage(plane, planes, watch) {
            watch.on(plane, Thing, (object) =>
              object.spec?.size === 1
                ? planes.byRole('hub').map((hub) => ({ plane: hub.id, namespace: 'ns', name: object.metadata.name }))
                : [],
            );
          },
        },
      ),
    );
    engage('hub', 'hub');
    engage('cell/x', 'cell');
    manager.start();
    await clock.settle();
    server('cell/x').put(Thing, thing('a', { size: 1 }));
    server('cell/x').put(Thing, thing('b', { size: 2 }));
    await clock.settle();
    expect(seen).toEqual(['hub ns/a']);
    await manager.stop();
  });

  it('is asked again when it fails, more and more slowly, quietly on conflicts, and not after a terminal failure', async () => {
    const { clock, server, manager, engage, logged, metrics } = setUp();
    const tries = new Map<string, number[]>();
    manager.add(
      controllerOf(async ({ name }) => {
        const times = tries.get(name) ?? [];
        tries.set(name, [...times, clock.monotonic()]);
        if (name === 'terminal') throw new TerminalError('cannot be');
        if (name === 'later' && times.length === 0) return { requeueAfterMilliseconds: 700 };
        if (name === 'conflict' && times.length < 2) throw ApiError.of('Conflict', 'moved on');
        if (name === 'broken' && times.length < 11) throw new Error('boom');
        return undefined;
      }),
    );
    for (const name of ['terminal', 'later', 'conflict', 'broken', 'fine']) server('cell/x').put(Thing, thing(name));
    manager.start();
    engage('cell/x', 'cell');
    await clock.advance(30_000);
    expect(Object.fromEntries([...tries].map(([name, times]) => [name, times.length]))).toEqual({
      terminal: 1,
      later: 2,
      conflict: 3,
      broken: 12,
      fine: 1,
    });
    expect(tries.get('later')).toEqual([0, 700]);
    const broken = tries.get('broken') ?? [];
    expect(broken[11]! - broken[10]!).toBeGreaterThan(2_500);
    expect(logged.filter((entry) => entry.includes('conflict') && !entry.startsWith('debug'))).toEqual([]);
    expect(logged.filter((entry) => entry.startsWith('error'))).toHaveLength(1);
    const text = await metrics.metrics();
    expect(text).toContain('berth_reconcile_total{controller="test/things",result="success"} 4');
    expect(text).toContain('berth_reconcile_total{controller="test/things",result="error"} 11');
    expect(text).toContain('berth_reconcile_total{controller="test/things",result="conflict"} 2');
    expect(text).toContain('berth_workqueue_depth{controller="test/things"} 0');
    await manager.stop();
  });

  it('never has one object twice at once, nor more than its concurrency', async () => {
    const { clock, server, manager, engage } = setUp();
    const running = new Set<string>();
    let most = 0;
    const last = new Map<string, number | undefined>();
    manager.add(
      controllerOf(
        async ({ plane, namespace, name }, planes) => {
          expect(running.has(name)).toBe(false);
          last.set(name, planes.get(plane)?.informer(Thing).get(namespace, name)?.spec?.size);
          running.add(name);
          most = Math.max(most, running.size);
          await clock.sleep(10);
          running.delete(name);
          return undefined;
        },
        { concurrency: 3 },
      ),
    );
    manager.start();
    engage('cell/x', 'cell');
    for (let round = 0; round < 5; round++) {
      for (let n = 0; n < 10; n++) server('cell/x').put(Thing, thing(`t${n}`, { size: round }));
      await clock.advance(7);
    }
    await clock.advance(1_000);
    expect(most).toBe(3);
    expect([...last.values()]).toEqual(new Array(10).fill(4));
    await manager.stop();
  });

  it('whose reconciles fail leaves turns of the event loop to everything else', async () => {
    const { clock, server, manager, engage } = setUp();
    const done: string[] = [];
    for (let n = 0; n < 100; n++) server('cell/x').put(Thing, thing(`a-${n}`));
    manager.add(
      controllerOf(
        async () => {
          if (done.length === 0) clock.soon(() => done.push('something else'));
          done.push('failed');
          throw new Error('no');
        },
        { concurrency: 4 },
      ),
    );
    engage('cell/x', 'cell');
    manager.start();
    await clock.settle();
    expect(done.indexOf('something else')).toBeLessThanOrEqual(4);
    expect(done.filter((what) => what === 'failed')).toHaveLength(100);
    await manager.stop();
  });

  it('that fails to engage, or fails in a mapping, harms no other', async () => {
    const { clock, server, manager, engage, logged } = setUp();
    const seen: string[] = [];
    const bad = () => {
      throw new Error('bad');
    };
    manager.add(controllerOf(async () => undefined, { name: 'test/unengaged', engage: bad }));
    manager.add(
      controllerOf(async () => undefined, {
        name: 'test/unmapped',
        engage: (plane, _, watch) => watch.on(plane, Thing, bad),
      }),
    );
    manager.add(
      controllerOf(async (request) => {
        seen.push(text(request));
        return undefined;
      }),
    );
    manager.start();
    engage('cell/x', 'cell');
    server('cell/x').put(Thing, thing('a'));
    await clock.settle();
    expect(seen).toEqual(['cell/x default/a']);
    expect(logged.filter((entry) => entry.startsWith('error'))).toHaveLength(2);
    await manager.stop();
  });
});

describe('planes', () => {
  it('that are disengaged are forgotten: no plane, no requests, no watches, no retries', async () => {
    const { clock, server, manager, engage, closed, logged } = setUp();
    const seen: string[] = [];
    let signal: AbortSignal | undefined;
    manager.add(
      controllerOf(async (request, planes, reconcileSignal) => {
        seen.push(`${text(request)} ${planes.get(request.plane) !== undefined}`);
        signal = reconcileSignal;
        await clock.sleep(1_000, reconcileSignal);
        return undefined;
      }),
    );
    manager.start();
    engage('project/p', 'project');
    engage('cell/x', 'cell');
    server('cell/x').put(Thing, thing('a'));
    await clock.settle();
    server('cell/x').put(Thing, thing('a', { size: 2 }));
    await clock.settle();
    await manager.disengage('cell/x');
    expect(signal?.aborted).toBe(true);
    server('cell/x').put(Thing, thing('b'));
    await clock.advance(60_000);
    expect(seen).toEqual(['cell/x default/a true']);
    expect(server('cell/x').openWatches).toBe(0);
    expect(closed()).toBe(2);
    expect(logged).toEqual([]);
    engage('cell/x', 'cell');
    await clock.settle();
    expect(seen.slice(1).sort()).toEqual(['cell/x default/a true', 'cell/x default/b true']);
    await clock.advanceUntil(manager.stop(0));
  });

  it('are left when the manager stops, after the reconciles that run are done', async () => {
    const { clock, server, manager, engage } = setUp();
    const done: string[] = [];
    manager.add(
      controllerOf(
        async ({ name }) => {
          await clock.sleep(500);
          done.push(name);
          return undefined;
        },
        { concurrency: 1 },
      ),
    );
    manager.start();
    engage('cell/x', 'cell');
    server('cell/x').put(Thing, thing('a'));
    server('cell/x').put(Thing, thing('b'));
    await clock.settle();
    await clock.advanceUntil(manager.stop());
    expect(done).toEqual(['a']);
    expect(server('cell/x').openWatches).toBe(0);
    expect(clock.monotonic()).toBe(500);
  });

  it('are left although a reconcile never ends, and it is told', async () => {
    const { clock, server, manager, engage, logged } = setUp();
    manager.add(controllerOf(() => new Promise(() => undefined)));
    manager.start();
    engage('cell/x', 'cell');
    server('cell/x').put(Thing, thing('a'));
    await clock.settle();
    await clock.advanceUntil(manager.stop(2_000));
    expect(server('cell/x').openWatches).toBe(0);
    expect(logged.map((entry) => entry.slice(0, 40))).toEqual([
      'warn: reconciles still run and are abort',
      'warn: a reconcile goes on although its p',
    ]);
  });

  it('and controllers of the same name are refused twice', () => {
    const { manager, engage } = setUp();
    engage('hub', 'hub');
    expect(() => engage('hub', 'hub')).toThrow('plane hub is engaged already');
    manager.add(controllerOf(async () => undefined));
    expect(() => manager.add(controllerOf(async () => undefined))).toThrow('there is a controller test/things already');
  });
});
