import type { Procedure, ProcedureStep, ProcedureTransaction, StepProcedure } from '../apiserver/index.ts';
import { drive, steps as real } from './procedures.ts';

/** IPAM's own procedures; the process is killed when it has asked for `at` statements, as the power would. */

export { postgresSchema, schema } from './procedures.ts';

export const death = { at: Number.POSITIVE_INFINITY };

function* mortal(step: ProcedureStep<unknown>): ProcedureStep<unknown> {
  let input: unknown;
  for (let asked = 0; ; asked++) {
    const next = step.next(input);
    if (asked === death.at) process.kill(process.pid, 'SIGKILL');
    if (next.done === true) return next.value;
    input = yield next.value;
  }
}

export const steps: Record<string, StepProcedure> = Object.fromEntries(
  Object.entries(real).map(([name, step]) => [name, (tx, argument) => mortal(step(tx, argument))] as const),
);

export const procedures: Record<string, Procedure> = Object.fromEntries(
  Object.entries(steps).map(([name, step]) => [
    name,
    (tx: ProcedureTransaction, argument: unknown) => drive(tx, step(tx, argument)),
  ]),
);
