import type { Session } from './session.ts';

/** A sequence of requests, sent to each server by itself. */
export interface Scenario {
  readonly title: string;
  readonly setup: boolean;
  /** Wants garbage collection and its like going on; all others run before any of it does. */
  readonly controllers: boolean;
  run(api: Session): Promise<void>;
}

const all: Scenario[] = [];

/** What the others stand on: run however few of them are asked for. */
export function setup(title: string, run: (api: Session) => Promise<void>): void {
  all.push({ title, setup: true, controllers: false, run });
}

/**
 * Adds a scenario. `run` must send the same requests whatever the server is; what it takes over from an answer (a
 * version, a uid, a continue token) is that server's own.
 */
export function scenario(title: string, run: (api: Session) => Promise<void>): void {
  all.push({ title, setup: false, controllers: false, run });
}

/** Adds a scenario about what controllers do. What is compared is where things end: they get there each in its own way. */
export function controllerScenario(title: string, run: (api: Session) => Promise<void>): void {
  all.push({ title, setup: false, controllers: true, run });
}

export function scenarios(): readonly Scenario[] {
  return all;
}
