/** RFC 3339 at whole seconds, as Kubernetes writes `metav1.Time`. `milliseconds` is time since the Unix epoch. */
export function formatTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** RFC 3339 with microseconds, as Kubernetes writes `metav1.MicroTime` (Leases, Events). */
export function formatMicroTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 23)}000Z`;
}

/** Milliseconds since the Unix epoch of an RFC 3339 text, or undefined where it is not one. */
export function parseTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Date.parse(text);
  return Number.isNaN(value) ? undefined : value;
}

/** Milliseconds, rounded up, of a duration as Go writes it (`36h`, `1h30m`, `0.5s`), or undefined where it is not one. */
export function parseDuration(text: string | undefined): number | undefined {
  if (text === undefined || !/^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/.test(text)) return undefined;
  const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  let sum = 0;
  for (const [, count, , unit] of text.matchAll(/([0-9]+(\.[0-9]+)?)(ms|s|m|h)/g)) {
    sum += Number(count) * units[unit as keyof typeof units];
  }
  return Number.isFinite(sum) ? Math.ceil(sum) : undefined;
}

/** The `Date` that libraries ask for. `milliseconds` is time since the Unix epoch. */
export function dateOf(milliseconds: number): Date {
  return new Date(milliseconds);
}
