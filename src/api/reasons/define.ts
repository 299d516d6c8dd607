/**
 * Who must act for the object to get on. `tenant`: who wrote it. `operator`: who runs the platform. `platform`: it
 * is the software's own fault or its surroundings', and is tried again. `nobody`: all is well, or it passes by itself.
 */
export type Actor = 'tenant' | 'operator' | 'platform' | 'nobody';

/** Who must act, what it means (for the documentation), and the template of the message. */
export type ReasonEntry = readonly [actor: Actor, description: string, template: string];

/** Keeps the literal types of the templates, from which the parameters of a message are known. */
export function define<const T extends Record<string, ReasonEntry>>(reasons: T): T {
  return reasons;
}

/** Names of the parameters a template has: `{name}`. */
type Names<T extends string> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;

/** A template without its optional parts: `[…{name}…]`. */
type Fixed<T extends string> = T extends `${infer Before}[${string}]${infer After}` ? `${Before}${Fixed<After>}` : T;

export type ParamValue = string | number;

/** The parameters of a template: required, but for those only in optional parts. */
export type Params<T extends string> = { [K in Names<Fixed<T>>]: ParamValue } & {
  [K in Exclude<Names<T>, Names<Fixed<T>>>]?: ParamValue | undefined;
} & {
  /** Text of the cause, as another component told it. Comes after a colon. */
  detail?: string | undefined;
};
