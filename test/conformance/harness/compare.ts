import type { Entry, Json } from './session.ts';

/** One place where two answers are not the same. Undefined: not there. */
export interface Difference {
  /** `status`, `headers.warning`, `body.metadata.name`, `body.resources[pods].verbs`. */
  path: string;
  kubernetes: Json;
  berth: Json;
}

export function compare(kubernetes: Entry, berth: Entry): Difference[] {
  const differences: Difference[] = [];
  const add = (path: string, left: Json, right: Json): void => {
    differences.push({ path, kubernetes: left, berth: right });
  };
  if (kubernetes.title !== berth.title) add('request', kubernetes.title, berth.title);
  diff('status', kubernetes.answer.status, berth.answer.status, add);
  diff('headers', kubernetes.answer.headers, berth.answer.headers, add);
  diff('body', kubernetes.answer.body, berth.answer.body, add);
  return differences;
}

type Add = (path: string, left: Json, right: Json) => void;

function diff(path: string, left: Json, right: Json, add: Add): void {
  if (left === right) return;
  if (Array.isArray(left) && Array.isArray(right)) {
    diffLists(path, left, right, add);
    return;
  }
  if (!isRecord(left) || !isRecord(right)) {
    add(path, left, right);
    return;
  }
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    diff(`${path}.${key}`, left[key], right[key], add);
  }
}

function isRecord(value: Json): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const keys: readonly ((item: Json) => Json)[] = [
  (item) => item.name,
  (item) => item.metadata?.name,
  (item) => item.resource,
  (item) => item.groupVersion,
  (item) => (item.manager === undefined ? undefined : `${item.manager} ${item.operation} ${item.subresource ?? ''}`),
  (item) => (item.manager === undefined ? undefined : `${item.manager} ${item.operation} ${item.apiVersion}`),
];

/** Lists of named things by name, where all have one of their own; and then their order, as one more difference. */
function diffLists(path: string, left: Json[], right: Json[], add: Add): void {
  const named = keys.find((key) => unique(left, key) && unique(right, key));
  if (named === undefined || (left.length === 0 && right.length === 0)) {
    for (let index = 0; index < Math.max(left.length, right.length); index++) {
      diff(`${path}[${index}]`, left[index], right[index], add);
    }
    return;
  }
  const [before, after] = [left.map(named), right.map(named)] as [string[], string[]];
  for (const name of new Set([...before, ...after])) {
    diff(`${path}[${name}]`, left[before.indexOf(name)], right[after.indexOf(name)], add);
  }
  const common = (names: string[], others: string[]): string => names.filter((name) => others.includes(name)).join(' ');
  // The entries of managers are in the order of their times.
  if (!path.endsWith('managedFields')) diff(`${path}<order>`, common(before, after), common(after, before), add);
}

function unique(items: Json[], key: (item: Json) => Json): boolean {
  const names = items.map((item) => (isRecord(item) ? key(item) : undefined));
  return names.every((name) => typeof name === 'string') && new Set(names).size === names.length;
}
