import { computeReasons } from './compute.ts';
import type { Actor, Params, ParamValue, ReasonEntry } from './define.ts';
import { fabricReasons } from './fabric.ts';
import { ipamReasons } from './ipam.ts';
import { networkingReasons } from './networking.ts';

export type { Actor } from './define.ts';

/**
 * The one table of reasons: every word a condition, an event or a refusal of Berth has as its reason. Conditions, the
 * command line and the documentation read it.
 */
const table = { ...networkingReasons, ...computeReasons, ...fabricReasons, ...ipamReasons };
type Table = typeof table;

export type Reason = keyof Table;
export type ReasonParams<R extends Reason> = Params<Table[R][2]>;

export interface ReasonInfo {
  code: Reason;
  actor: Actor;
  description: string;
  template: string;
  /** `reasons.md#addresspoolexhausted`, in docs/. */
  anchor: string;
}

/** The groups of the table, as the documentation shows them. */
export const reasonGroups: readonly { title: string; codes: readonly Reason[] }[] = [
  { title: 'Networks, claims and interfaces', codes: keys(networkingReasons) },
  { title: 'Workloads and instances', codes: keys(computeReasons) },
  { title: 'Fabric', codes: keys(fabricReasons) },
  { title: 'IPAM', codes: keys(ipamReasons) },
];

function keys<T extends object>(part: T): (keyof T)[] {
  return Object.keys(part) as (keyof T)[];
}

export function isReason(code: string): code is Reason {
  return Object.hasOwn(table, code);
}

export function reasonInfo(code: Reason): ReasonInfo {
  const [actor, description, template] = table[code] as ReasonEntry;
  return { code, actor, description, template, anchor: `reasons.md#${code.toLowerCase()}` };
}

/**
 * The message that goes with a reason: its template filled in, optional parts only where their parameters are given,
 * then `detail`, then the place in the documentation: `… (see reasons.md#addresspoolexhausted)`.
 */
export function reasonMessage<R extends Reason>(
  code: R,
  ...[params]: Record<never, never> extends ReasonParams<R> ? [ReasonParams<R>?] : [ReasonParams<R>]
): string {
  const { template, anchor } = reasonInfo(code);
  const values = (params ?? {}) as Record<string, ParamValue | undefined>;
  const detail = values.detail;
  const said = render(template, values);
  return `${said}${detail === undefined || detail === '' ? '' : `: ${detail}`} (see ${anchor})`;
}

const optionalPart = /\[([^\]]*)\]/g;
const parameter = /\{(\w+)\}/g;

function render(template: string, values: Record<string, ParamValue | undefined>): string {
  const given = (name: string) => Object.hasOwn(values, name) && values[name] !== undefined && values[name] !== '';
  return template
    .replace(optionalPart, (_, part: string) =>
      [...part.matchAll(parameter)].every(([, name]) => given(name as string)) ? part : '',
    )
    .replace(parameter, (_, name: string) => (given(name) ? String(values[name]) : '(unknown)'));
}
