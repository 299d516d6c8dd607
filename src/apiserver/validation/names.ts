/** Kubernetes' name rules (apimachinery `util/validation`): each answers what is wrong, in its words, or undefined. */

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
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
  `character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${qualifiedPart}')`;
const labelValueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
  "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  `'(${qualifiedPart})?')`;

export type NameRule = (name: string) => string | undefined;

export const dnsLabel: NameRule = (name) => {
  if (name.length > 63) return 'must be no more than 63 characters';
  if (labelPattern.test(name)) return undefined;
  return subdomainPattern.test(name) ? 'must not contain dots' : labelText;
};

export const dnsSubdomain: NameRule = (name) => {
  if (name.length > 253) return 'must be no more than 253 characters';
  return subdomainPattern.test(name) ? undefined : subdomainText;
};

/** RBAC names: whatever fits between two slashes. */
export const pathSegment: NameRule = (name) => {
  if (name === '.' || name === '..') return `may not be '${name}'`;
  for (const part of ['/', '%']) if (name.includes(part)) return `may not contain '${part}'`;
  return undefined;
};

/** Keys of labels, annotations; finalizers: `[prefix/]name`. */
export const qualifiedName: NameRule = (text) => {
  const parts = text.split('/');
  if (parts.length > 2) {
    return `a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${qualifiedPart}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
  }
  const name = parts.at(-1)!;
  if (parts.length === 2) {
    const prefix = parts[0]!;
    if (prefix === '') return 'prefix part must be non-empty';
    const wrong = dnsSubdomain(prefix);
    if (wrong !== undefined) return `prefix part ${wrong}`;
  }
  if (name === '') return 'name part must be non-empty';
  if (name.length > 63) return 'name part must be no more than 63 bytes';
  return qualifiedPattern.test(name) ? undefined : qualifiedText;
};

export const labelValue: NameRule = (value) => {
  if (value.length > 63) return 'must be no more than 63 bytes';
  return labelValuePattern.test(value) ? undefined : labelValueText;
};
