import { systemClock } from '../../../src/kube/index.ts';

/** What a run of `npm run test:trust` can be told, by environment variables. */

/** Seed of the run; printed with what fails. */
export const seed = process.env.TRUST_SEED ?? String(systemClock.now());

/** A number of rounds. Throws where it is not one. */
export function rounds(variable: string, usual: number): number {
  const text = process.env[variable];
  if (text === undefined) return usual;
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`${variable}=${text} is not a number of rounds`);
  return Number(text);
}
