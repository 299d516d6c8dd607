import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { regexOf } from '../regex/regex.ts';
import { formatText } from './format.ts';

/**
 * What kube-apiserver finds wrong with a rule before any object is there, and cel-js would find when one is, or never:
 * constants that cannot be converted, lists and maps of several types, keys of another type (cel-go's validators).
 */

interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly checkedType?: { kind: string; name: string; keyType?: { name: string } };
}

const conversions = new Set(['timestamp', 'duration', 'int', 'uint', 'double', 'bool', 'bytes']);

/** The first thing wrong with a checked expression; undefined where there is none. */
export function wrongLiteral(root: ASTNode, environment: Environment): string | undefined {
  const seen = new Set<unknown>();
  const exempt = new Set<Node>();
  const visit = (value: unknown): string | undefined => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return undefined;
    seen.add(value);
    const wrong = isNode(value) ? judge(value, environment, exempt) : undefined;
    if (wrong !== undefined) return wrong;
    const children = isNode(value)
      ? [value.args, (value as { meta?: { alternate?: unknown; macro?: unknown } }).meta?.alternate, macroOf(value)]
      : Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype
        ? Object.values(value)
        : [];
    for (const child of children) {
      const found = visit(child);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return visit(root);
}

function macroOf(node: object): unknown {
  return (node as { meta?: { macro?: unknown } }).meta?.macro;
}

function isNode(value: object): value is Node {
  return 'op' in value && 'args' in value;
}

function judge(node: Node, environment: Environment, exempt: Set<Node>): string | undefined {
  switch (node.op) {
    case 'call': {
      const [name, args] = node.args as [string, Node[]];
      const [only] = args;
      if (!conversions.has(name) || args.length !== 1 || only?.op !== 'value') return undefined;
      return convertible(name, only.args, environment);
    }
    case 'rcall':
      return judgeMethod(node.args as [string, Node, Node[]], exempt);
    case 'list':
      return exempt.has(node) ? undefined : uniform(node.args as Node[]);
    case 'map': {
      const entries = node.args as [Node, Node][];
      return uniform(entries.map(([key]) => key)) ?? uniform(entries.map(([, value]) => value));
    }
    case '[]': {
      const [map, key] = node.args as [Node, Node];
      const wanted = map.checkedType?.kind === 'map' ? map.checkedType.keyType?.name : undefined;
      const given = key.checkedType?.name;
      if (wanted === undefined || given === undefined || [wanted, given].includes('dyn') || wanted === given)
        return undefined;
      return `found no matching overload for '_[_]' applied to '(${map.checkedType?.name}, ${given})'`;
    }
    default:
      return undefined;
  }
}

function judgeMethod([name, receiver, args]: [string, Node, Node[]], exempt: Set<Node>): string | undefined {
  // A macro that Kubernetes does not have.
  if (name === 'bind' && receiver.op === 'id' && receiver.args === 'cel') return "undeclared reference to 'cel'";
  const [first] = args;
  if (name === 'matches' && first?.op === 'value' && typeof first.args === 'string') {
    return failing(() => regexOf(first.args as string)) ? 'invalid matches argument' : undefined;
  }
  if (name !== 'format' || first === undefined) return undefined;
  // What is formatted may be of several types.
  exempt.add(first);
  if (receiver.op !== 'value') return undefined;
  const values = constantsOf(first);
  return values === undefined ? undefined : failing(() => formatText(String(receiver.args), values));
}

/** What a list of constants holds; undefined for any other. */
function constantsOf(list: Node): unknown[] | undefined {
  if (list.op === 'value') return Array.isArray(list.args) ? list.args : undefined;
  const items = list.op === 'list' ? (list.args as Node[]) : undefined;
  return items?.every((item) => item.op === 'value') ? items.map((item) => item.args) : undefined;
}

function convertible(name: string, value: unknown, environment: Environment): string | undefined {
  const text =
    typeof value === 'string'
      ? JSON.stringify(value)
      : typeof value === 'number' && Number.isInteger(value)
        ? `${value.toExponential()}`
        : String(value);
  const wrong = failing(() => environment.evaluate(`${name}(${text})`));
  return wrong === undefined || (name !== 'timestamp' && name !== 'duration') ? wrong : `invalid ${name} argument`;
}

/** Why it throws, where it does. */
function failing(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return String((error as Error).message).split('\n')[0];
  }
}

function uniform(items: readonly Node[]): string | undefined {
  const types = items.map((item) => item.checkedType?.name ?? 'dyn');
  const [first] = types;
  const other = types.find(
    (type) => type !== first && !/dyn|null|optional|<[A-Z]|\b(list|map)$/.test(`${type} ${first}`),
  );
  return other === undefined ? undefined : `expected type '${first}' but found '${other}'`;
}
