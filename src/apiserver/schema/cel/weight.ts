const weights = new WeakMap<object, number>();

/** Operations that take about as long as one step of the budget. */
const perStep = 20;

/** What evaluating an expression once costs, whatever its data: a rule can be 20,000 characters long. */
export function weightOf(expression: unknown): number {
  if (typeof expression !== 'object' || expression === null) return 1;
  let weight = weights.get(expression);
  if (weight === undefined) {
    weight = 1 + Math.floor(operations(expression, new Set()) / perStep);
    weights.set(expression, weight);
  }
  return weight;
}

function operations(value: unknown, seen: Set<unknown>): number {
  if (typeof value !== 'object' || value === null || seen.has(value)) return 0;
  seen.add(value);
  if (!('op' in value && 'args' in value)) {
    const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
    return isPlain ? Object.values(value).reduce((sum: number, item) => sum + operations(item, seen), 0) : 0;
  }
  const { args, meta } = value as { args: unknown; meta?: { alternate?: unknown; macro?: unknown } };
  return 1 + operations(args, seen) + operations(meta?.alternate, seen) + operations(meta?.macro, seen);
}
