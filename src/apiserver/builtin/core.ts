import type { KubeObject, Namespace } from '../../meta/index.ts';
import { badRequest, fieldForbidden, fieldInvalid, fieldRequired, forbidden } from '../errors.ts';
import { decodeText } from '../http/body.ts';
import type { FieldError } from '../schema/schema.ts';
import { refuse, standardFinalizers } from '../validation/metadata.ts';
import { dnsLabel, qualifiedName } from '../validation/names.ts';
import { ageColumn, boolean, builtin, conditions, list, object, string, stringMap, strings } from './define.ts';

/** Namespaces nobody may delete. */
const immortal = new Set(['default', 'kube-system', 'kube-public']);
const nameLabel = 'kubernetes.io/metadata.name';

function labelName(namespace: KubeObject): void {
  if (namespace.metadata.name === undefined) return;
  namespace.metadata.labels = { ...namespace.metadata.labels, [nameLabel]: namespace.metadata.name };
}

function validateNamespace(namespace: Namespace): FieldError[] {
  const errors: FieldError[] = [];
  for (const finalizer of namespace.spec?.finalizers ?? []) {
    const wrong = qualifiedName(finalizer);
    refuse('spec.finalizers', finalizer, wrong, errors);
    if (wrong.length > 0 || finalizer.includes('/') || standardFinalizers.has(finalizer)) continue;
    const why = 'name is neither a standard finalizer name nor is it fully qualified';
    errors.push(fieldInvalid('spec.finalizers', finalizer, why));
  }
  const { phase } = namespace.status ?? {};
  const ending = namespace.metadata.deletionTimestamp !== undefined;
  if (!ending && phase !== undefined && phase !== 'Active') {
    const why = "may only be 'Active' if `deletionTimestamp` is empty";
    errors.push(fieldInvalid('status.Phase', phase, why));
  }
  return errors;
}

export const namespaces = builtin({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  // Not all at once.
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  namespaced: false,
  shortNames: ['ns'],
  status: true,
  description: 'Namespace provides a scope for Names.',
  properties: {
    spec: object({ finalizers: strings }),
    status: object({ phase: string, conditions }),
  },
  columns: [{ name: 'Status', type: 'string', jsonPath: '.status.phase' }, ageColumn],
  strategy: {
    nameRule: dnsLabel,
    zero: { spec: {}, status: {} },
    omitEmpty: ['spec.finalizers[]', 'status.conditions[]'],
    // The finalizer that every namespace has is the server's.
    owned: (namespace) => {
      const said = ((namespace as Namespace).spec?.finalizers ?? []).filter((finalizer) => finalizer !== 'kubernetes');
      return { ...namespace, spec: said.length === 0 ? {} : { finalizers: said } };
    },
    validate: (namespace) => validateNamespace(namespace as Namespace),
    extraSubresources: ['finalize'],
    prepareCreate(namespace) {
      const finalizers = new Set((namespace as Namespace).spec?.finalizers ?? []);
      namespace.spec = { finalizers: [...finalizers.add('kubernetes')] };
      namespace.status = { phase: 'Active' };
      labelName(namespace);
    },
    prepareUpdate(namespace, old, subresource) {
      if (subresource === 'finalize') namespace.status = old.status;
      else namespace.spec = old.spec;
      labelName(namespace);
    },
    refuseDelete(namespace) {
      const { name } = namespace.metadata;
      return immortal.has(name)
        ? forbidden({ group: '', plural: 'namespaces' }, name, 'this namespace may not be deleted')
        : undefined;
    },
    prepareDelete(namespace) {
      delete namespace.metadata.deletionGracePeriodSeconds;
      namespace.status = { ...(namespace.status as object), phase: 'Terminating' };
    },
    holdsDeletion: (namespace) => ((namespace as Namespace).spec?.finalizers ?? []).length > 0,
    fields: { 'status.phase': (namespace) => (namespace as Namespace).status?.phase ?? '' },
  },
});

interface Data extends KubeObject {
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  binaryData?: Record<string, string>;
  immutable?: boolean;
  type?: string;
}

function countData({ data, binaryData }: Data): number {
  return Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length;
}

const dataKey = /^[-._a-zA-Z0-9]{1,253}$/;
const dataLimitBytes = 1024 * 1024;
const keyText =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or " +
  "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function base64Bytes(text: string): number {
  return Buffer.byteLength(text, 'base64');
}

/** `encoded`: the values of `data` are base64. */
function validateData(thing: Data, old: Data | undefined, encoded: boolean): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['data', 'binaryData'] as const) {
    for (const key of Object.keys(thing[field] ?? {})) {
      if (!dataKey.test(key) || key === '.' || key === '..') {
        errors.push(fieldInvalid(`${field}[${key}]`, key, keyText));
      }
      if (field === 'data' && Object.hasOwn(thing.binaryData ?? {}, key)) {
        errors.push(fieldInvalid(`${field}[${key}]`, key, 'duplicate of key present in binaryData'));
      }
    }
  }
  let size = 0;
  for (const value of Object.values(thing.data ?? {})) size += encoded ? base64Bytes(value) : Buffer.byteLength(value);
  for (const value of Object.values(thing.binaryData ?? {})) size += base64Bytes(value);
  if (size > dataLimitBytes) {
    const message = `Too long: may not be more than ${dataLimitBytes} bytes`;
    errors.push({ reason: 'FieldValueTooLong', field: encoded ? 'data' : '[]', message });
  }
  if (old?.immutable === true) {
    if (thing.immutable !== true)
      errors.push(fieldForbidden('immutable', 'field is immutable when `immutable` is set'));
    if (JSON.stringify([thing.data, thing.binaryData]) !== JSON.stringify([old.data, old.binaryData])) {
      errors.push(fieldForbidden('data', 'field is immutable when `immutable` is set'));
    }
  }
  return errors;
}

/** Throws 400. */
function checkBase64(kind: string, map: Record<string, string> | undefined): void {
  for (const value of Object.values(map ?? {})) {
    if (base64.test(value)) continue;
    const why = `illegal base64 data at input byte ${firstOddByte(value)}`;
    throw badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${why}`);
  }
}

/** Where Go's decoder stops: at what is no digit, or at the end of what is too short. */
function firstOddByte(text: string): number {
  const digits = /^[A-Za-z0-9+/]*/.exec(text)![0].length;
  return digits === text.length ? digits - (digits % 4) : digits;
}

export const configMaps = builtin({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
  shortNames: ['cm'],
  description: 'ConfigMap holds configuration data for pods to consume.',
  properties: { data: stringMap, binaryData: stringMap, immutable: boolean },
  columns: [{ name: 'Data', type: 'string', jsonPath: '.data' }, ageColumn],
  strategy: {
    cells: { Data: (object) => countData(object) },
    omitEmpty: ['data', 'binaryData'],
    prepareCreate: (object) => checkBase64('ConfigMap', (object as Data).binaryData),
    prepareUpdate: (object) => checkBase64('ConfigMap', (object as Data).binaryData),
    validate: (object, old) => validateData(object, old, false),
  },
});

/** `stringData` is written, never read: its values go into `data`, encoded. */
function mergeStringData(secret: Data): void {
  checkBase64('Secret', secret.data);
  if (secret.stringData !== undefined) {
    const data = { ...secret.data };
    secret.data = data;
    for (const [key, value] of Object.entries(secret.stringData)) {
      Object.defineProperty(data, key, {
        value: Buffer.from(value).toString('base64'),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    delete secret.stringData;
  }
  secret.type ??= 'Opaque';
}

const neededKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

/** What the well-known types of Secret must hold. */
function validateType({ type = '', data = {}, metadata }: Data): FieldError[] {
  if (type === 'kubernetes.io/service-account-token') {
    const account = metadata.annotations?.['kubernetes.io/service-account.name'] ?? '';
    return account === '' ? [fieldRequired('metadata.annotations[kubernetes.io/service-account.name]', '')] : [];
  }
  if (type === 'kubernetes.io/basic-auth') {
    // Either may be missing, not both.
    const keys = ['username', 'password'];
    return keys.some((key) => Object.hasOwn(data, key)) ? [] : keys.map((key) => fieldRequired(`data[${key}]`, ''));
  }
  const needed = Object.hasOwn(neededKeys, type) ? neededKeys[type]! : [];
  const missing = needed.filter((key) => !Object.hasOwn(data, key) || (key === 'ssh-privatekey' && data[key] === ''));
  const errors = missing.map((key) => fieldRequired(`data[${key}]`, ''));
  if (type.startsWith('kubernetes.io/docker') && errors.length === 0) errors.push(...validateDocker(needed[0]!, data));
  return errors;
}

function validateDocker(key: string, data: Record<string, string>): FieldError[] {
  try {
    decodeText(Buffer.from(data[key]!, 'base64').toString('utf8'), 'json', false);
    return [];
  } catch (error) {
    const { message } = error as Error;
    return [fieldInvalid(`data[${key}]`, '<secret contents redacted>', message)];
  }
}

export const secrets = builtin({
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
  description: 'Secret holds secret data of a certain type.',
  properties: { data: stringMap, stringData: stringMap, immutable: boolean, type: string },
  columns: [
    { name: 'Type', type: 'string', jsonPath: '.type' },
    { name: 'Data', type: 'string', jsonPath: '.data' },
    ageColumn,
  ],
  strategy: {
    // Never the values: a table is what people have on their screens.
    cells: { Data: (object) => countData(object) },
    omitEmpty: ['data'],
    prepareCreate: mergeStringData,
    prepareUpdate: mergeStringData,
    validate(object, old) {
      const errors = validateData(object, old, true);
      const [type, before] = [(object as Data).type, (old as Data | undefined)?.type];
      if (old !== undefined && type !== before) errors.push(fieldInvalid('type', type, 'field is immutable'));
      errors.push(...validateType(object as Data));
      return errors;
    },
    fields: { type: (object) => (object as Data).type ?? '' },
  },
});

const reference = {
  'x-kubernetes-map-type': 'atomic',
  ...object({
    apiVersion: string,
    kind: string,
    namespace: string,
    name: string,
    uid: string,
    resourceVersion: string,
    fieldPath: string,
  }),
};

export const serviceAccounts = builtin({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
  shortNames: ['sa'],
  description: 'ServiceAccount binds together a name, and a principal that can be authenticated and authorized.',
  properties: {
    secrets: { ...list(reference), 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
    imagePullSecrets: list(object({ name: string })),
    automountServiceAccountToken: boolean,
  },
  columns: [{ name: 'Secrets', type: 'string', jsonPath: '.secrets' }, ageColumn],
  strategy: {
    answersDeleted: true,
    omitEmpty: ['secrets[]', 'imagePullSecrets[]'],
    asked: { token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' } },
    cells: { Secrets: (account) => (account as { secrets?: unknown[] }).secrets?.length ?? 0 },
  },
});
