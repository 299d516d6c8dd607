import { badRequest } from './errors.ts';
import { integerOf, type LabelRequirement, parseLabelRequirements } from './label-requirements.ts';

export type LabelMatcher = (labels: Readonly<Record<string, string>>) => boolean;

const has = (labels: Readonly<Record<string, string>>, key: string): boolean => Object.hasOwn(labels, key);

/**
 * Compiles a label selector (`a=b,c!=d,e in (f,g),h notin (i),j,!k,l>5`). Answers undefined for one that selects
 * everything; throws 400 with what could not be parsed.
 */
export function parseLabelSelector(text: string): LabelMatcher | undefined {
  const matchers = parseLabelRequirements(text).map(matcherOf);
  if (matchers.length < 2) return matchers[0];
  return (labels) => matchers.every((matches) => matches(labels));
}

/** The labels a selector asks to be equal to something: each selected object has all of them. Throws 400. */
export function labelEqualities(text: string): Map<string, string> {
  const equal = new Map<string, string>();
  for (const { key, operator, values } of parseLabelRequirements(text)) {
    if (operator === '=' || operator === '==') equal.set(key, values[0]!);
  }
  return equal;
}

function matcherOf({ key, operator, values }: LabelRequirement): LabelMatcher {
  switch (operator) {
    case 'exists':
      return (labels) => has(labels, key);
    case '!':
      return (labels) => !has(labels, key);
    case '<':
    case '>':
      return compareNumbers(key, operator, integerOf(values[0]!)!);
    case 'notin':
    case '!=':
      return (labels) => !has(labels, key) || !values.includes(labels[key]!);
    default:
      return (labels) => has(labels, key) && values.includes(labels[key]!);
  }
}

function compareNumbers(key: string, operator: '<' | '>', bound: bigint): LabelMatcher {
  return (labels) => {
    const value = has(labels, key) ? integerOf(labels[key]!) : undefined;
    return value !== undefined && (operator === '<' ? value < bound : value > bound);
  };
}

export interface FieldRequirement {
  field: string;
  equals: boolean;
  value: string;
}

/** Parses a field selector (`metadata.name=a,spec.x!=b`); `\` escapes `\`, `,` and `=` in values. Throws 400. */
export function parseFieldSelector(text: string): FieldRequirement[] {
  const requirements: FieldRequirement[] = [];
  // In order, so that of several wrong parts the same one is told of as elsewhere.
  for (const part of splitEscaped(text).sort()) {
    if (part === '') continue;
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(part);
    if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    requirements.push({ field: match[1]!, equals: match[2] !== '!=', value: unescapeValue(match[3]!) });
  }
  return requirements;
}

function splitEscaped(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '\\') index++;
    else if (text[index] === ',') {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

function unescapeValue(value: string): string {
  return value.replace(/\\([\s\S]?)|[,=]/gu, (found, escaped?: string) => {
    if (escaped === undefined) {
      throw badRequest(`invalid field selector: unescaped character in value: ${found.codePointAt(0)}`);
    }
    if (escaped !== '\\' && escaped !== ',' && escaped !== '=') {
      throw badRequest(`invalid field selector: invalid escape sequence: ${found}`);
    }
    return escaped;
  });
}
