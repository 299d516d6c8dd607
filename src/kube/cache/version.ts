const decimal = /^(0|[1-9][0-9]*)$/;

/**
 * Compares two resourceVersions of one kind in one plane: negative, zero or positive; undefined where they cannot be
 * compared. Servers promise decimal numbers of any length that rise (KEP-5504); anything else is opaque.
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!decimal.test(a) || !decimal.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}
