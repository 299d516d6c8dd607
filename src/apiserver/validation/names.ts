/** Kubernetes' name rules (apimachinery `api/validate/content`): each answers all that is wrong, in its words. */

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const labelPattern = new RegExp(`^${label}$`);
const subdomainPattern = new RegExp(`^${subdomain}$`);
const qualifiedPart = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const qualifiedPattern = new RegExp(`^${qualifiedPart}$`);
const labelValuePattern = new RegExp(`^(${qualifiedPart})?$`);

const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
  `alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${label}')`;
const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end " +
  `with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomain}')`;
const qualifiedText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
  `character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${qualifiedPart}')`;
const labelValueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
  "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  `'(${qualifiedPart})?')`;

export type NameRule = (name: string) => readonly string[];

const fine: readonly string[] = [];

/** What there is to say of a text of at most `limit` bytes; what they are called depends on who asks. */
function judge(text: string, limit: number, unit: 'bytes' | 'characters', wrongForm?: string): readonly string[] {
  const long = Buffer.byteLength(text) > limit;
  if (!long && wrongForm === undefined) return fine;
  return [...(long ? [`must be no more than ${limit} ${unit}`] : []), ...(wrongForm === undefined ? [] : [wrongForm])];
}

export const dnsLabel: NameRule = (name) => {
  if (labelPattern.test(name)) return judge(name, 63, 'characters');
  return judge(name, 63, 'characters', subdomainPattern.test(name) ? 'must not contain dots' : labelText);
};

export const dnsSubdomain: NameRule = (name) => subdomain253(name, 'characters');

function subdomain253(name: string, unit: 'bytes' | 'characters'): readonly string[] {
  return judge(name, 253, unit, subdomainPattern.test(name) ? undefined : subdomainText);
}

/** RBAC names: whatever fits between two slashes. */
export const pathSegment: NameRule = (name) => {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
};

/** Keys of labels, annotations; finalizers: `[prefix/]name`. */
export const qualifiedName: NameRule = (text) => {
  const parts = text.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${qualifiedPart}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1)!;
  const wrongPrefix = parts.length === 2 ? prefix(parts[0]!) : fine;
  const wrongName = judge(name, 63, 'bytes', qualifiedPattern.test(name) ? undefined : qualifiedText);
  if (wrongPrefix.length === 0 && wrongName.length === 0) return fine;
  const empty = name === '' ? ['must be non-empty'] : [];
  return [
    ...wrongPrefix.map((wrong) => `prefix part ${wrong}`),
    ...[...empty, ...wrongName].map((wrong) => `name part ${wrong}`),
  ];
};

function prefix(text: string): readonly string[] {
  return text === '' ? ['must be non-empty'] : subdomain253(text, 'bytes');
}

export const labelValue: NameRule = (value) =>
  judge(value, 63, 'bytes', labelValuePattern.test(value) ? undefined : labelValueText);
