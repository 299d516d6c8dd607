import type { Session } from './session.ts';

/** A sequence of requests, sent to each server by itself. */
export interface Scenario {
  readonly title: string;
  run(api: Session): Promise<void>;
}

const all: Scenario[] = [];

/**
 * Adds a scenario. `run` must send the same requests whatever the server is; what it takes over from an answer (a
 * version, a uid, a continue token) is that server's own.
 */
export function scenario(title: string, run: (api: Session) => Promise<void>): void {
  all.push({ title, run });
}

export function scenarios(): readonly Scenario[] {
  return all;
}
