import type { Registry } from 'prom-client';
import type { Clock } from '../clock/clock.ts';
import type { Controller } from '../controller.ts';
import type { Random } from '../random.ts';
import type { Transport } from '../transport.ts';
import type { Log } from './log.ts';
import { managerMetrics } from './metrics.ts';
import { type Connection, type PlaneRef, SharedPlane } from './plane.ts';
import { ControllerRunner } from './runner.ts';

export interface ManagerOptions {
  clock: Clock;
  random: Random;
  log: Log;
  metrics?: Registry;
  /**
   * Opens a way to a plane under an identity: a controller's name, or `berth-informers` for the shared informers. The
   * manager closes a transport when the last plane that got it is disengaged; the same one may be given for several.
   */
  connect(plane: PlaneRef, identity: string): Connection;
}

export interface Manager {
  /** Throws when a controller of that name is there already. */
  add(controller: Controller): void;
  /** Lets the controllers reconcile. Planes may be engaged before or after. */
  start(): void;
  /** Offers a plane to every controller with rules for its role. Throws when one of that id is engaged. */
  engage(plane: PlaneRef): void;
  /** Resolves when nothing works on the plane any more; an unknown id is nothing to do. */
  disengage(id: string): Promise<void>;
  /**
   * Lets running reconciles finish, for at most `drainMilliseconds` (default 5,000), then aborts them, and closes all
   * watches and transports. It cannot be started again.
   */
  stop(drainMilliseconds?: number): Promise<void>;
}

interface EngagedPlane {
  shared: SharedPlane;
  transports: Set<Transport>;
}

const abortedGraceMilliseconds = 1_000;

/** Runs controllers over many planes, with one informer per plane and kind for all of them. */
export function createManager(options: ManagerOptions): Manager {
  const { clock, random, log } = options;
  const metrics = managerMetrics(options.metrics);
  const runners = new Map<string, ControllerRunner>();
  const planes = new Map<string, EngagedPlane>();
  const transportUsers = new Map<Transport, number>();
  let started = false;

  function engageRunner(runner: ControllerRunner, { shared }: EngagedPlane): void {
    try {
      runner.engage(shared);
    } catch (error) {
      const fields = { controller: runner.controller.name, plane: shared.ref.id, err: error };
      log.error(fields, 'a controller failed to engage a plane and does not work there');
      void runner.disengage(shared.ref.id);
    }
  }

  async function close({ shared, transports }: EngagedPlane): Promise<void> {
    await shared.close();
    for (const transport of transports) {
      const users = (transportUsers.get(transport) ?? 0) - 1;
      if (users > 0) {
        transportUsers.set(transport, users);
        continue;
      }
      transportUsers.delete(transport);
      await transport.close().catch((error) => log.warn({ plane: shared.ref.id, err: error }, 'closing a transport'));
    }
  }

  /** Waits for `work`, but no longer than `milliseconds`. Answers whether it was done in time. */
  async function atMost(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
    const late = new AbortController();
    const inTime = work.then(() => true);
    const timeout = clock.sleep(milliseconds, late.signal).then(
      () => false,
      () => true,
    );
    const result = await Promise.race([inTime, timeout]);
    late.abort();
    return result;
  }

  return {
    add(controller) {
      if (runners.has(controller.name)) throw new Error(`there is a controller ${controller.name} already`);
      const runner = new ControllerRunner(controller, { clock, random, log, metrics });
      runners.set(controller.name, runner);
      for (const plane of planes.values()) engageRunner(runner, plane);
      if (started) runner.start();
    },

    start() {
      started = true;
      for (const runner of runners.values()) runner.start();
    },

    engage(ref) {
      if (planes.has(ref.id)) throw new Error(`plane ${ref.id} is engaged already`);
      const transports = new Set<Transport>();
      const open = (identity: string): Connection => {
        const connection = options.connect(ref, identity);
        if (!transports.has(connection.transport)) {
          transports.add(connection.transport);
          transportUsers.set(connection.transport, (transportUsers.get(connection.transport) ?? 0) + 1);
        }
        return connection;
      };
      const plane = { shared: new SharedPlane(ref, { clock, random, log, metrics, open }), transports };
      planes.set(ref.id, plane);
      for (const runner of runners.values()) engageRunner(runner, plane);
    },

    async disengage(id) {
      const plane = planes.get(id);
      if (plane === undefined) return;
      planes.delete(id);
      const finished = Promise.all([...runners.values()].map((runner) => runner.disengage(id)));
      const closed = close(plane);
      if (!(await atMost(abortedGraceMilliseconds, finished))) {
        log.warn({ plane: id }, 'a reconcile goes on although its plane was disengaged');
      }
      await closed;
    },

    async stop(drainMilliseconds = 5_000) {
      const drained = Promise.all([...runners.values()].map((runner) => runner.drain()));
      if (!(await atMost(drainMilliseconds, drained))) log.warn({}, 'reconciles still run and are aborted');
      await Promise.all([...planes.keys()].map((id) => this.disengage(id)));
    },
  };
}
