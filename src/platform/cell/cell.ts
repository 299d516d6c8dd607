import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { kindsOf } from '../../api/index.ts';
import { type Clock, createClient, type Random, runElection, systemClock, systemRandom } from '../../kube/index.ts';
import { Namespace } from '../../meta/index.ts';
import type { PlatformConfig } from '../config.ts';
import { StartError } from '../start.ts';
import { serveHealth } from './health-server.ts';
import { takeLocation } from './location.ts';
import { cellLease, cellRules } from './roles.ts';
import { Server, type ServerOptions } from './servers.ts';
import { startTerm } from './term.ts';

export interface CellOptions {
  /** The location this cell is for. */
  location: string;
  /** The cluster that is the cell. */
  cell: ServerOptions;
  hub: ServerOptions;
  /** Serves IPAM of every project under the project's path. */
  ipam: ServerOptions;
  config: PlatformConfig;
  /** Whether instances are marked running without anything being started. */
  simulate: boolean;
  /** Where health and metrics are served. */
  host: string;
  /** 0 takes a free one. */
  port: number;
  log: Logger;
  /** Told when this process begins to work in the cell, and when it no longer does. */
  leading?: (leads: boolean) => void;
  /** It cannot go on. */
  onFatal: (error: Error) => void;
  clock?: Clock;
  random?: Random;
}

export interface Cell {
  /** Base of `/livez`, `/readyz` and `/metrics`. */
  url: string;
  servers: { cell: string; hub: string; ipam: string };
  /** Whether the hub publishes the location yet. */
  published: boolean;
  /** Lets what runs finish, gives the lease up, and closes everything. */
  stop(): Promise<void>;
}

/** What runs may take to its end: as a process that stops, and as one whose lease another may take five seconds later. */
const drainMilliseconds = { stopping: 5_000, lost: 1_000 };

/**
 * Runs the controllers of one cell against three API servers: the cell's cluster, the hub and IPAM. Of several such
 * processes one works, whoever has the Lease in the cell; the others wait.
 * @throws {StartError} with one sentence where something cannot be read, reached, found or done; no controller was started then.
 */
export async function startCell(options: CellOptions): Promise<Cell> {
  const { location, config, log, clock = systemClock, random = systemRandom } = options;
  const cell = new Server(options.cell, 'deploy/cell', clock);
  const hub = new Server(options.hub, 'deploy/hub', clock);
  const ipam = new Server(options.ipam, 'deploy/project', clock);
  const rules = (role: 'cell' | 'hub') => cellRules(role, config.featureGates);

  const system = await cell.ask((client, signal) =>
    client.get(Namespace, { namespace: '', name: 'kube-system' }, signal),
  );
  if (system === undefined) {
    throw new StartError(`${cell.option}: ${cell.url} has no namespace kube-system, which is what identifies a cell`);
  }
  await cell.askFor(kindsOf('cell'), rules('cell'));
  await hub.askFor(kindsOf('hub'), rules('hub'));
  await ipam.askVersion();
  const published = await hub.ask((client, signal) => takeLocation(client, location, system.metadata.uid, signal));

  const own = new Registry();
  collectDefaultMetrics({ register: own });
  const leads = new Gauge({
    name: 'berth_cell_leads',
    help: 'Whether this process is the one that works in its cell.',
    registers: [own],
  });
  // Of the controllers that work now: they count from the start each time.
  let controllers = new Registry();
  const health = await serveHealth({
    host: options.host,
    port: options.port,
    readyChecks: Object.entries({ cell, hub, ipam }).map(([name, server]) => ({ name, ready: () => server.answered })),
    async metrics() {
      const text = await Promise.all([own.metrics(), controllers.metrics()]);
      return { contentType: own.contentType, text: text.join('') };
    },
  });

  const identity = `${hostname()}_${random.uuid()}`;
  const stopping = new AbortController();
  const transport = cell.open();
  const lease = { namespace: 'kube-system', name: cellLease };
  const client = createClient({ transport, basePath: '', clock, userAgent: 'berth/cell' });
  const election = runElection(
    {
      client,
      clock,
      random,
      lease,
      identity,
      signal: stopping.signal,
      onError: (err) => log.warn({ err }, 'the lease of the cell was not had or renewed, trying again'),
    },
    async (signal) => {
      controllers = new Registry();
      const { simulate } = options;
      const term = startTerm({
        ...{ location, cell, hub, ipam, config, simulate, identity, clock, random, log, metrics: controllers },
      });
      leads.set(1);
      options.leading?.(true);
      await aborted(signal);
      if (!stopping.signal.aborted) log.warn({ err: signal.reason }, 'the cell is left to others');
      await term.stop(stopping.signal.aborted ? drainMilliseconds.stopping : drainMilliseconds.lost);
      leads.set(0);
      options.leading?.(false);
    },
  );
  election.catch(options.onFatal);
  return {
    url: health.url,
    servers: { cell: cell.url, hub: hub.url, ipam: ipam.url },
    published,
    async stop() {
      stopping.abort(new Error('the process stops'));
      await election;
      await transport.close();
      await health.close();
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
