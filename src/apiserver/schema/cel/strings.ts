import { type Environment, EvaluationError, Optional } from '@marcbachmann/cel-js';
import { stringFormats } from '../formats.ts';
import { type Regex, regexOf } from '../regex/regex.ts';
import { charge } from './budget.ts';
import { formatText } from './format.ts';

class StringsNamespace {}
class FormatNamespace {}
class Format {
  readonly name: string;
  readonly test: (text: string) => boolean;
  constructor(name: string, test: (text: string) => boolean) {
    this.name = name;
    this.test = test;
  }
}

const sync = { async: false };

/** The strings extension, `find`/`findAll`, and named formats. */
export function registerStrings(environment: Environment): void {
  const add = (signature: string, handler: (...args: never[]) => unknown) =>
    environment.registerFunction(signature, handler, sync);
  add('string.charAt(int): string', (text: string, index: bigint) => {
    const runes = Array.from(text);
    if (index < 0n || index > BigInt(runes.length)) throw new EvaluationError(`index out of range: ${index}`);
    return runes[Number(index)] ?? '';
  });
  add('string.replace(string, string): string', (text: string, from: string, to: string) => text.split(from).join(to));
  add('string.replace(string, string, int): string', (text: string, from: string, to: string, count: bigint) => {
    if (count < 0n) return text.split(from).join(to);
    const parts = text.split(from);
    const limit = Math.min(Number(count), parts.length - 1);
    return [parts.slice(0, limit + 1).join(to), ...parts.slice(limit + 1)].join(from);
  });
  add('string.format(list<dyn>): string', (text: string, args: unknown[]) => formatText(text, args));
  add('string.find(string): string', (text: string, pattern: string) => {
    chargeSearch(text, pattern);
    const found = expression(pattern).find(text);
    return found === undefined ? '' : text.slice(found[0], found[1]);
  });
  add('string.findAll(string): list<string>', (text: string, pattern: string) => {
    chargeSearch(text, pattern);
    return expression(pattern).findAll(text);
  });
  add('string.findAll(string, int): list<string>', (text: string, pattern: string, limit: bigint) => {
    chargeSearch(text, pattern);
    return expression(pattern).findAll(text, Number(limit));
  });
  add('matches(string, string): bool', (text: string, pattern: string) => {
    chargeSearch(text, pattern);
    return expression(pattern).test(text);
  });
  environment.registerType('StringsNamespace', StringsNamespace);
  environment.registerConstant('strings', 'StringsNamespace', new StringsNamespace());
  add('StringsNamespace.quote(string): string', (_: unknown, text: string) => quoted(text));
  registerFormats(environment);
}

const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** In quotes, for a message: what would end the quotes or the line is escaped. */
function quoted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
  return `"${text.replace(/[\x07-\r\\"]/g, (char) => escapes[char]!)}"`;
}

/** Every part of an expression may look at every character. */
function chargeSearch(text: string, pattern: string): void {
  charge((1 + text.length / 10) * Math.max(1, pattern.length / 4));
}

function expression(pattern: string): Regex {
  try {
    return regexOf(pattern);
  } catch (error) {
    throw new EvaluationError((error as Error).message);
  }
}

const label = regexOf('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$');
const subdomain = regexOf('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$');
const label1035 = regexOf('^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$');
const labelValue = regexOf('^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$');
const namePart = regexOf('^([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$');

function isQualifiedName(text: string): boolean {
  const parts = text.split('/');
  const prefix = parts.length === 2 ? parts[0]! : undefined;
  if (parts.length > 2 || (prefix !== undefined && !(prefix.length <= 253 && subdomain.test(prefix)))) return false;
  return namePart.test(parts.at(-1)!);
}

function registerFormats(environment: Environment): void {
  const isLabel = (text: string) => label.test(text);
  const isSubdomain = (text: string) => text.length <= 253 && subdomain.test(text);
  const isLabel1035 = (text: string) => label1035.test(text);
  const prefixOf = (test: (text: string) => boolean) => (text: string) => test(text.replace(/-$/, 'a'));
  const named: Record<string, (text: string) => boolean> = {
    dns1123Label: isLabel,
    dns1123Subdomain: isSubdomain,
    dns1035Label: isLabel1035,
    qualifiedName: isQualifiedName,
    dns1123LabelPrefix: prefixOf(isLabel),
    dns1123SubdomainPrefix: prefixOf(isSubdomain),
    dns1035LabelPrefix: prefixOf(isLabel1035),
    labelValue: (text) => text.length <= 63 && labelValue.test(text),
    uri: stringFormats.get('uri')!,
    uuid: stringFormats.get('uuid')!,
    byte: stringFormats.get('byte')!,
    date: stringFormats.get('date')!,
    datetime: stringFormats.get('datetime')!,
  };
  environment.registerType('FormatNamespace', FormatNamespace);
  environment.registerType('kubernetes.NamedFormat', Format);
  environment.registerConstant('format', 'FormatNamespace', new FormatNamespace());
  for (const [name, test] of Object.entries(named)) {
    const format = new Format(name, test);
    environment.registerFunction(`FormatNamespace.${name}(): kubernetes.NamedFormat`, () => format, sync);
  }
  environment.registerFunction(
    'FormatNamespace.named(string): optional<kubernetes.NamedFormat>',
    (_: unknown, name: string) =>
      Object.hasOwn(named, name) ? Optional.of(new Format(name, named[name]!)) : Optional.none(),
    sync,
  );
  environment.registerFunction(
    'kubernetes.NamedFormat.validate(string): optional<list<string>>',
    (format: Format, text: string) =>
      format.test(text) ? Optional.none() : Optional.of([`must have the format ${format.name}`]),
    sync,
  );
}
