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

/** The `Date` that libraries ask for. `milliseconds` is time since the Unix epoch. */
export function dateOf(milliseconds: number): Date {
  return new Date(milliseconds);
}
