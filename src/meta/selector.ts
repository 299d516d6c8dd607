/** metav1.LabelSelector. */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] }[];
}

/** Whether `labels` meet every requirement. An unknown operator is met by nothing. */
export function selects(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const has = (key: string): boolean => Object.hasOwn(labels, key);
  const equal = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => has(key) && labels[key] === value);
  return (
    equal &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      switch (operator) {
        case 'In':
          return has(key) && values.includes(labels[key] as string);
        case 'NotIn':
          return !has(key) || !values.includes(labels[key] as string);
        case 'Exists':
          return has(key);
        case 'DoesNotExist':
          return !has(key);
        default:
          return false;
      }
    })
  );
}
