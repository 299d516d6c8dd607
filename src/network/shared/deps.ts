import type { Registry } from 'prom-client';
import type { DataPlane } from '../../api/index.ts';
import type { Client, Clock, EventRecorder, Log, Plane, Random } from '../../kube/index.ts';

/** What network services are given. Everything they touch of the world comes through it. */
export interface NetworkDeps {
  clock: Clock;
  random: Random;
  log: Log;
  /** Id of the hub's plane. */
  hub: string;
  /** Events in `plane`, under the name and identity of `controller`. */
  recorder(plane: Plane, controller: string): EventRecorder;
  /** A project's API for a cell's IPAM transactions, under the identity of `controller`. Answers also for projects that are gone. */
  projectClient(controller: string, project: string): Client;
  /** IPAM classes that give ranges; an unset one means that family has no range at that level. */
  ipamClasses: {
    networkIPv6?: string;
    subnetIPv6?: string;
    networkIPv4?: string;
    subnetIPv4?: string;
  };
  /** How long a presence nothing needs is kept. */
  quietPeriodMilliseconds: number;
  /** Whether something in the cells prepares attachments. */
  dataPlane: DataPlane;
  /** How long an interface nobody holds is kept, where no class of its addresses says. Absent: for ever. */
  retentionSeconds?: number;
  /** How often IPAM is compared with the interfaces of a cell; 0: only at start. Default 600. */
  auditSeconds?: number;
  /** Least time between the two observations that make an allocation an orphan. Default 60. */
  orphanSeconds?: number;
  /** Where the cells' metrics are registered. */
  metrics?: Registry;
}
