import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Clock, createManager, type Plane, type Random, Recorders, type Transport } from '../../kube/index.ts';
import type { PlatformConfig } from '../config.ts';
import { cellControllersOf, controllerDeps } from '../controllers.ts';
import { cellPlane, hubPlane } from '../planes.ts';
import { projectClients } from '../project-clients.ts';
import type { Server } from './servers.ts';

export interface TermOptions {
  location: string;
  cell: Server;
  hub: Server;
  ipam: Server;
  config: PlatformConfig;
  simulate: boolean;
  /** Tells this process's events from those of others. */
  identity: string;
  metrics: Registry;
  clock: Clock;
  random: Random;
  log: Logger;
}

/**
 * The controllers of a cell at work, from their start to their end, with nothing left of an earlier time: what they
 * remember is good only while nobody else works in the cell.
 */
export function startTerm(options: TermOptions): { stop(drainMilliseconds: number): Promise<void> } {
  const { location, config, simulate, identity, metrics, clock, random, log } = options;
  const transports: Record<'cell' | 'hub', Transport> = { cell: options.cell.open(), hub: options.hub.open() };
  const ipam = options.ipam.open();
  const manager = createManager({
    clock,
    random,
    log,
    metrics,
    connect: ({ role }) => ({ transport: role === 'cell' ? transports.cell : transports.hub, basePath: '' }),
  });
  const recorders = new Recorders({
    clock,
    random,
    domain: 'berth.datumapis.com',
    instance: identity,
    onError: (err) => log.warn({ err }, 'an event was not written'),
  });
  const controllers = cellControllersOf(
    controllerDeps({
      clock,
      random,
      log,
      metrics,
      config,
      recorder: (plane: Plane, controller) => recorders.of(plane, controller),
      projectClient: projectClients(() => ipam, clock),
      simulate,
    }),
    { apart: true },
  );
  for (const controller of controllers) manager.add(controller);
  manager.engage(hubPlane);
  manager.engage(cellPlane(location));
  manager.start();
  return {
    async stop(drainMilliseconds) {
      await manager.stop(drainMilliseconds);
      await ipam.close();
    },
  };
}
