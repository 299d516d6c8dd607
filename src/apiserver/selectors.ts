import { badRequest } from './errors.ts';
import { labelValue, qualifiedName } from './validation/names.ts';

export type LabelMatcher = (labels: Readonly<Record<string, string>>) => boolean;

const has = (labels: Readonly<Record<string, string>>, key: string): boolean => Object.hasOwn(labels, key);

/**
 * Compiles a label selector (`a=b,c!=d,e in (f,g),h notin (i),j,!k,l>5`). Answers undefined for one that selects
 * everything; throws 400 with what could not be parsed.
 */
export function parseLabelSelector(text: string): LabelMatcher | undefined {
  if (text.trim() === '') return undefined;
  const requirements = splitRequirements(text).map((part) => parseRequirement(part.trim(), text));
  if (requirements.length === 1) return requirements[0];
  return (labels) => requirements.every((matches) => matches(labels));
}

/** The labels a selector asks to be equal to something: each selected object has all of them. The selector was parsed before. */
export function labelEqualities(text: string): Map<string, string> {
  const equal = new Map<string, string>();
  if (text.trim() === '') return equal;
  for (const part of splitRequirements(text)) {
    const [, key, operator, value] = comparePattern.exec(part.trim()) ?? [];
    if (key !== undefined && (operator === '=' || operator === '==')) equal.set(key, value!.trim());
  }
  return equal;
}

function splitRequirements(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === ',' && depth === 0) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
    if (depth < 0 || depth > 1) throw badRequest(`unable to parse requirement: unbalanced parentheses in '${text}'`);
  }
  if (depth !== 0) throw badRequest(`unable to parse requirement: unbalanced parentheses in '${text}'`);
  parts.push(text.slice(start));
  return parts;
}

const setPattern = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const comparePattern = /^([^=!<>\s]+)\s*(==|=|!=|<|>)\s*(.*)$/;

function parseRequirement(part: string, whole: string): LabelMatcher {
  const set = setPattern.exec(part);
  if (set !== null) {
    const key = checkedKey(set[1]!);
    const values = new Set(set[3]!.split(',').map((value) => checkedValue(key, value.trim())));
    return set[2] === 'in'
      ? (labels) => has(labels, key) && values.has(labels[key]!)
      : (labels) => !has(labels, key) || !values.has(labels[key]!);
  }
  const compare = comparePattern.exec(part);
  if (compare !== null) {
    const key = checkedKey(compare[1]!);
    const operator = compare[2]!;
    const value = checkedValue(key, compare[3]!.trim());
    if (operator === '!=') return (labels) => !has(labels, key) || labels[key] !== value;
    if (operator === '<' || operator === '>') return compareNumbers(key, operator, value);
    return (labels) => has(labels, key) && labels[key] === value;
  }
  if (part.startsWith('!')) {
    const key = checkedKey(part.slice(1).trim());
    return (labels) => !has(labels, key);
  }
  if (part === '' || /[\s()]/.test(part)) {
    throw badRequest(`unable to parse requirement: found '${part}' in '${whole}', expected: identifier`);
  }
  const key = checkedKey(part);
  return (labels) => has(labels, key);
}

function compareNumbers(key: string, operator: '<' | '>', text: string): LabelMatcher {
  if (!/^-?\d+$/.test(text)) {
    throw badRequest(
      `values[0][${key}]: Invalid value: "${text}": for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  }
  const bound = BigInt(text);
  return (labels) => {
    if (!has(labels, key) || !/^-?\d+$/.test(labels[key]!)) return false;
    const value = BigInt(labels[key]!);
    return operator === '<' ? value < bound : value > bound;
  };
}

function checkedKey(key: string): string {
  const wrong = qualifiedName(key);
  if (wrong !== undefined) throw badRequest(`unable to parse requirement: key: Invalid value: "${key}": ${wrong}`);
  return key;
}

function checkedValue(key: string, value: string): string {
  const wrong = labelValue(value);
  if (wrong !== undefined) {
    throw badRequest(`unable to parse requirement: values[0][${key}]: Invalid value: "${value}": ${wrong}`);
  }
  return value;
}

export interface FieldRequirement {
  field: string;
  equals: boolean;
  value: string;
}

/** Parses a field selector (`metadata.name=a,spec.x!=b`); `\` escapes `\`, `,` and `=`. Throws 400. */
export function parseFieldSelector(text: string): FieldRequirement[] {
  const requirements: FieldRequirement[] = [];
  for (const part of splitEscaped(text)) {
    if (part === '') continue;
    const match = /^((?:[^=!\\]|\\.)*)(!=|==|=)([\s\S]*)$/.exec(part);
    if (match === null) {
      throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    }
    requirements.push({ field: match[1]!.trim(), equals: match[2] !== '!=', value: unescapeValue(match[3]!, text) });
  }
  return requirements;
}

function splitEscaped(text: string): string[] {
  const parts: string[] = [];
  let current = '';
  for (let index = 0; index < text.length; index++) {
    const char = text[index]!;
    if (char === '\\' && index + 1 < text.length) {
      current += char + text[++index];
    } else if (char === ',') {
      parts.push(current);
      current = '';
    } else {
      current += char;
    }
  }
  parts.push(current);
  return parts;
}

function unescapeValue(value: string, whole: string): string {
  let result = '';
  for (let index = 0; index < value.length; index++) {
    const char = value[index]!;
    if (char === '\\') {
      const next = value[++index];
      if (next !== '\\' && next !== ',' && next !== '=') {
        throw badRequest(`invalid selector: '${whole}'; invalid escape sequence: \\${next ?? ''}`);
      }
      result += next;
    } else if (char === '=') {
      throw badRequest(`invalid selector: '${whole}'; can't understand '${value}'`);
    } else {
      result += char;
    }
  }
  return result;
}
