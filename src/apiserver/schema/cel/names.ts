/** Words CEL keeps for itself; a field so named can always be written `__namespace__` in a rule. */
const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/**
 * The name a rule uses for a property, or undefined where no rule can name it: not an identifier once escaped, or one
 * that JavaScript objects carry themselves (`constructor`).
 * Source: k8s.io/apiserver/pkg/cel/escaping.go.
 */
export function escapeName(name: string): string | undefined {
  if (name === 'constructor' || name === '__proto__') return undefined;
  if (reserved.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}

/** How a rule may select a property, the name that always works first; nothing where no rule can name it. Reserved words may stand as they are. */
export function selectorsOf(name: string): readonly string[] {
  const escaped = escapeName(name);
  if (escaped === undefined) return [];
  return reserved.has(name) ? [escaped, name] : [escaped];
}
