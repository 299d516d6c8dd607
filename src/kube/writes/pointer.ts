/** A JSON pointer (RFC 6901) to what is under `segments`: `~` and `/` within one are escaped. */
export function jsonPointer(...segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
