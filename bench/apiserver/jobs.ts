/** What the load generator is asked to do, and what it answers. */

export interface Where {
  port: number;
  ca: string;
  token: string;
}

export type Job = { where: Where; namespace: string } & (
  | {
      kind: 'create';
      clients: number;
      /** Number of the first object. */
      first: number;
      most: number;
      seconds: number;
    }
  | { kind: 'get'; clients: number; seconds: number; objects: number }
  | { kind: 'list'; times: number; objects: number }
  | { kind: 'fan-out'; clients: number; watchers: number; events: number; http: 1 | 2 }
);

export interface Result {
  seconds: number;
  /** How long each request took. */
  milliseconds: number[];
  /** Processor time of the load generator itself. */
  cpuSeconds: number;
}
