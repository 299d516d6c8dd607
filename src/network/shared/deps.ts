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
  dataPlane: 'none' | 'fabric';
}
