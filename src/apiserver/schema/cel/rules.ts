import type { Environment, ParseResult } from '@marcbachmann/cel-js';
import { Optional } from '@marcbachmann/cel-js';
import { type Failure, failure, locate, maximumFailures, printValue } from '../failure.ts';
import { isObject, own, propertiesOf, schemaAt, stringAt } from '../json-schema.ts';
import { correlator } from '../ratchet.ts';
import type { FieldError, JsonSchema } from '../schema.ts';
import { charge, closeRuleBudget, objectIsSpent, openObjectBudget, openRuleBudget } from './budget.ts';
import { celEnvironment } from './environment.ts';
import { instrument } from './instrument.ts';
import { wrongLiteral } from './literals.ts';
import { checkSelections } from './selections.ts';
import { TypeDeclarations } from './types.ts';
import { weightOf } from './weight.ts';

/** What is wrong with the rules of a schema, as found when compiling them. */
export interface RuleProblem {
  /** Where in the schema the node with the rule is, as segments of a schema path. */
  readonly at: string[];
  readonly index: number;
  readonly field: 'rule' | 'messageExpression' | 'fieldPath' | 'reason' | 'optionalOldSelf';
  readonly value: string;
  readonly message: string;
  /** The rule as it is declared. */
  readonly declared: Record<string, unknown>;
}

/** `settled`: what of `value` is the very same as in `old` is known to be right, but for rules that read both. */
type Evaluate = (value: unknown, old: unknown, out: Failure[], settled?: boolean) => void;

interface Rule {
  readonly evaluate: ParseResult;
  readonly text: string;
  readonly message: string | undefined;
  readonly messageExpression: ParseResult | undefined;
  readonly reason: FieldError['reason'];
  readonly fieldSegments: string[];
  readonly readsOld: boolean;
  readonly optionalOld: boolean;
}

const reasons: Record<string, FieldError['reason']> = {
  FieldValueInvalid: 'FieldValueInvalid',
  FieldValueForbidden: 'FieldValueForbidden',
  FieldValueRequired: 'FieldValueRequired',
  FieldValueDuplicate: 'FieldValueDuplicate',
};

/**
 * Compiles every `x-kubernetes-validations` rule below `schema`. What does not compile is added to `problems`, and also
 * fails every object it would have been asked about, so that a broken rule never admits anything.
 */
export function compileRules(
  schema: JsonSchema,
  problems: RuleProblem[] = [],
): (object: unknown, old: unknown, out: Failure[], settled?: boolean) => void {
  if (!hasRules(schema)) return () => {};
  const environment = celEnvironment();
  const types = new TypeDeclarations(environment);
  types.typeOf(schema, 'Object', true);
  const evaluate = compileNode(schema, { environment, types, problems }, []);
  if (evaluate === undefined) return () => {};
  return (object, old, out, settled) => {
    openObjectBudget();
    evaluate(object, old, out, settled);
  };
}

/** Whether there is any rule below `schema`. */
export function hasRules(schema: JsonSchema): boolean {
  if (Array.isArray(schema['x-kubernetes-validations']) && schema['x-kubernetes-validations'].length > 0) return true;
  return children(schema).some(([, child]) => hasRules(child));
}

/** Whether a rule at or below `schema` may read `oldSelf`. */
function readsOld(schema: JsonSchema): boolean {
  const rules = schema['x-kubernetes-validations'];
  if (Array.isArray(rules) && JSON.stringify(rules).includes('oldSelf')) return true;
  return children(schema).some(([, child]) => readsOld(child));
}

function children(schema: JsonSchema): [string, JsonSchema][] {
  const out: [string, JsonSchema][] = propertiesOf(schema).map(([name, child]) => [`properties[${name}]`, child]);
  for (const key of ['items', 'additionalProperties']) {
    const child = schemaAt(schema, key);
    if (child !== undefined) out.push([key, child]);
  }
  return out;
}

interface Context {
  readonly environment: Environment;
  readonly types: TypeDeclarations;
  readonly problems: RuleProblem[];
}

function compileNode(schema: JsonSchema, context: Context, at: string[]): Evaluate | undefined {
  const own = compileOwn(schema, context, at);
  const fields = new Map<string, Evaluate>();
  /** Those with a rule that reads the old value. */
  const transitional = new Set<string>();
  for (const [name, property] of propertiesOf(schema)) {
    const field = compileNode(property, context, [...at, `properties[${name}]`]);
    if (field === undefined) continue;
    fields.set(name, field);
    if (readsOld(property)) transitional.add(name);
  }
  const child = (key: string) => {
    const found = schemaAt(schema, key);
    return found === undefined ? undefined : compileNode(found, context, [...at, key]);
  };
  const item = child('items');
  const items = schemaAt(schema, 'items');
  const itemReadsOld = items !== undefined && readsOld(items);
  const other = child('additionalProperties');
  if (own === undefined && fields.size === 0 && item === undefined && other === undefined) return undefined;
  return (value, old, out, settled = false) => {
    if (value === null || value === undefined) return;
    own?.(value, old, out);
    if (Array.isArray(value)) {
      if (item === undefined) return;
      const oldOf = itemReadsOld && old !== undefined ? correlator(schema, old) : () => undefined;
      for (let i = 0; i < value.length && out.length < maximumFailures; i++) {
        const before = out.length;
        item(value[i], oldOf(value[i]), out);
        if (out.length > before) locate(out, before, `[${i}]`);
      }
      return;
    }
    if (typeof value !== 'object') return;
    const object = value as Record<string, unknown>;
    const before = isObject(old) ? old : undefined;
    for (const [name, field] of fields) {
      if (settled && before !== undefined && object[name] === before[name] && !transitional.has(name)) continue;
      descend(object, before, name, field, out);
    }
    if (other === undefined) return;
    for (const name in object) if (!fields.has(name)) descend(object, before, name, other, out);
  };
}

function descend(
  object: Record<string, unknown>,
  old: Record<string, unknown> | undefined,
  name: string,
  evaluate: Evaluate,
  out: Failure[],
): void {
  const value = own(object, name);
  if (value === undefined) return;
  const start = out.length;
  evaluate(value, old === undefined ? undefined : own(old, name), out);
  if (out.length > start) locate(out, start, `.${name}`);
}

function compileOwn(schema: JsonSchema, context: Context, at: string[]): Evaluate | undefined {
  const declared = schema['x-kubernetes-validations'];
  if (!Array.isArray(declared) || declared.length === 0) return undefined;
  const type = context.types.typeOf(schema, 'Object');
  const rules: Rule[] = [];
  const broken: Failure[] = [];
  const problem = (index: number, field: RuleProblem['field'], value: string, message: string) => {
    const one = isObject(declared[index]) ? declared[index] : {};
    context.problems.push({ at, index, field, value, message, declared: one });
    broken.push(
      failure('FieldValueInvalid', 'Invalid value', `${message} evaluating rule: ${value}`, { ratchets: false }),
    );
  };
  for (const [index, rule] of declared.entries()) {
    if (!isObject(rule)) continue;
    const text = typeof rule.rule === 'string' ? rule.rule : '';
    if (type === undefined) {
      problem(index, 'rule', text, 'x-kubernetes-validations needs a type: the value is not visible to rules');
      continue;
    }
    const compiled = compileRule(rule, text, type.name, schema, context.environment, (field, value, message) =>
      problem(index, field, value, message),
    );
    if (compiled !== undefined) rules.push(compiled);
  }
  const wrap = type?.wrap;
  const kind = stringAt(schema, 'type');
  return (value, old, out) => {
    for (const found of broken) out.push({ ...found, segments: [] });
    if (rules.length === 0 || objectIsSpent()) return;
    const variables: Record<string, unknown> = { self: wrap === undefined ? value : wrap(value) };
    let oldSelf: unknown;
    for (const rule of rules) {
      if (rule.readsOld) {
        if (old === undefined || old === null) {
          if (!rule.optionalOld) continue;
        } else oldSelf ??= wrap === undefined ? old : wrap(old);
        variables.oldSelf = rule.optionalOld
          ? oldSelf === undefined
            ? Optional.none()
            : Optional.of(oldSelf)
          : oldSelf;
      }
      const outcome = run(rule.evaluate, variables);
      if (outcome.value === true) continue;
      out.push(refusal(rule, variables, outcome, value, kind));
      if (outcome.exhausted === 'object') return;
    }
  };
}

function compileRule(
  rule: Record<string, unknown>,
  text: string,
  type: string,
  schema: JsonSchema,
  environment: Environment,
  problem: (field: RuleProblem['field'], value: string, message: string) => void,
): Rule | undefined {
  const optionalOld = rule.optionalOldSelf === true;
  const scope = environment
    .clone()
    .registerVariable('self', type)
    .registerVariable('oldSelf', optionalOld ? `optional<${type}>` : type);
  const evaluate = compileExpression(scope, text, 'bool', (message) => problem('rule', text, message));
  if (evaluate === undefined) return undefined;
  const expression = typeof rule.messageExpression === 'string' ? rule.messageExpression : undefined;
  const messageExpression =
    expression === undefined
      ? undefined
      : compileExpression(scope, expression, 'string', (message) => problem('messageExpression', expression, message));
  const fieldPath = typeof rule.fieldPath === 'string' ? rule.fieldPath : '';
  const fieldSegments = parseFieldPath(fieldPath);
  if (fieldSegments === undefined) {
    problem('fieldPath', fieldPath, 'fieldPath must be a path of fields such as .spec.x or .spec["a-b"]');
  }
  if (optionalOld && !evaluate.readsOldSelf) {
    problem('optionalOldSelf', 'true', 'may not be set if oldSelf is not used in rule');
  }
  const reason = typeof rule.reason === 'string' ? rule.reason : 'FieldValueInvalid';
  if (!Object.hasOwn(reasons, reason))
    problem('reason', reason, `supported reasons: ${Object.keys(reasons).join(', ')}`);
  return {
    evaluate: evaluate.program,
    text: text.trim(),
    message: typeof rule.message === 'string' && rule.message !== '' ? rule.message.trim() : undefined,
    // What may not be there a message cannot speak of.
    messageExpression: optionalOld && messageExpression?.readsOldSelf === true ? undefined : messageExpression?.program,
    reason: reasons[reason] ?? 'FieldValueInvalid',
    fieldSegments: segmentsIn(schema, fieldSegments ?? []).toReversed(),
    readsOld: evaluate.readsOldSelf || (messageExpression?.readsOldSelf ?? false),
    optionalOld,
  };
}

const maximumExpression = 20_000;

function compileExpression(scope: Environment, text: string, result: string, problem: (message: string) => void) {
  if (text.trim() === '') {
    problem('must be a non-empty CEL expression');
    return undefined;
  }
  if (text.length > maximumExpression) {
    problem(`must not be longer than ${maximumExpression} characters`);
    return undefined;
  }
  try {
    const program = scope.parse(text);
    checkSelections(program.ast);
    const checked = program.check();
    if (!checked.valid) {
      problem(`compilation failed: ${checked.error === undefined ? 'unknown' : summaryOf(checked.error)}`);
      return undefined;
    }
    if (checked.type !== result && checked.type !== 'dyn') {
      problem(`must evaluate to a ${result}, found ${checked.type}`);
      return undefined;
    }
    const wrong = wrongLiteral(program.ast, scope);
    if (wrong !== undefined) {
      problem(`compilation failed: ${wrong}`);
      return undefined;
    }
    return { program, ...instrument(program.ast) };
  } catch (error) {
    problem(`compilation failed: ${summaryOf(error)}`);
    return undefined;
  }
}

function summaryOf(error: unknown): string {
  const summary = (error as { summary?: unknown }).summary;
  return typeof summary === 'string' ? summary : String((error as Error).message ?? error);
}

interface Outcome {
  value: unknown;
  error?: string;
  exhausted?: 'rule' | 'object';
}

function run(program: ParseResult, variables: Record<string, unknown>): Outcome {
  openRuleBudget();
  const outcome: Outcome = { value: undefined };
  try {
    charge(weightOf(program.ast));
    outcome.value = program(variables);
  } catch (error) {
    outcome.error = summaryOf(error);
  }
  const exhausted = closeRuleBudget();
  if (exhausted === undefined) return outcome;
  // A `||` may have swallowed the refusal to go on: what it answered then means nothing.
  return { value: undefined, exhausted };
}

function refusal(
  rule: Rule,
  variables: Record<string, unknown>,
  outcome: Outcome,
  value: unknown,
  kind: string | undefined,
): Failure {
  const options = { ratchets: !rule.readsOld };
  const bad = kind === 'object' || kind === 'array' ? 'Invalid value' : `Invalid value: ${printValue(value)}`;
  const named = rule.message ?? rule.text;
  if (outcome.exhausted === 'object') {
    const detail = 'validation failed due to running out of cost budget, no further validation rules will be run';
    return failure('FieldValueInvalid', bad, detail, options);
  }
  if (outcome.exhausted === 'rule') {
    const detail = `'${named}': no further validation rules will be run due to call cost exceeds limit for rule: ${named}`;
    return failure('FieldValueInvalid', bad, detail, options);
  }
  if (outcome.value !== false) {
    // What the value is instead of the value.
    const unjudged = `Invalid value: ${printValue(kind ?? '')}`;
    const detail = `${inKubernetesWords(outcome.error ?? 'no result')} evaluating rule: ${named}`;
    return failure('FieldValueInvalid', unjudged, detail, options);
  }
  const detail = rule.reason === 'FieldValueDuplicate' ? '' : messageOf(rule, variables);
  const body =
    rule.reason === 'FieldValueForbidden'
      ? 'Forbidden'
      : rule.reason === 'FieldValueRequired'
        ? 'Required value'
        : rule.reason === 'FieldValueDuplicate'
          ? bad.replace('Invalid value', 'Duplicate value')
          : bad;
  return failure(rule.reason, body, detail, {
    ...options,
    segments: [...rule.fieldSegments],
    ownerDepth: rule.fieldSegments.length,
  });
}

function messageOf(rule: Rule, variables: Record<string, unknown>): string {
  if (rule.messageExpression !== undefined) {
    const { value } = run(rule.messageExpression, variables);
    if (typeof value === 'string' && value.trim() !== '' && !value.includes('\n') && value.length <= 5 * 1024)
      return value;
  }
  return rule.message ?? `failed rule: ${rule.text}`;
}

/** What cel-js says where cel-go says it in other words. */
const words: readonly (readonly [RegExp, string])[] = [
  [/^modulo by zero$/i, 'modulus by zero'],
  [/^integer overflow.*$/i, 'integer overflow'],
  [/^no such key: index out of bounds, index (-?\d+) >= size \d+$/i, 'index out of bounds: $1'],
  [/^optional value is not present$/i, 'optional.none() dereference'],
  [/^No such key/, 'no such key'],
  [/^Division by zero$/, 'division by zero'],
];

function inKubernetesWords(text: string): string {
  const [pattern, instead] = words.find(([known]) => known.test(text)) ?? [/^[A-Z](?=[a-z])/, ''];
  return instead === '' ? text.replace(pattern, (first) => first.toLowerCase()) : text.replace(pattern, instead);
}

/** Segments of a field path as an error writes them: keys of maps in brackets. */
function segmentsIn(schema: JsonSchema, segments: readonly string[]): string[] {
  let at: JsonSchema | undefined = schema;
  return segments.map((segment) => {
    const name = segment.slice(1);
    const values: JsonSchema | undefined = at === undefined ? undefined : schemaAt(at, 'additionalProperties');
    at = values ?? propertiesOf(at ?? {}).find(([known]) => known === name)?.[1];
    return values === undefined ? segment : `[${name}]`;
  });
}

/** `.spec.a["b-c"]` or `spec.a` as segments, outermost first; undefined where it is no such path. */
export function parseFieldPath(text: string): string[] | undefined {
  const segments: string[] = [];
  let rest = text;
  while (rest !== '') {
    const match =
      /^\.?([A-Za-z_][A-Za-z0-9_-]*)/.exec(rest) ?? /^\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/.exec(rest);
    if (match === null) return undefined;
    segments.push(`.${(match[1] ?? match[2] ?? match[3] ?? '').replace(/\\(.)/g, '$1')}`);
    rest = rest.slice(match[0].length);
  }
  return segments;
}
