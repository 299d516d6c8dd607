import { ApiError, type KubeObject, type Namespace } from '../../meta/index.ts';
import { fieldForbidden, fieldInvalid, fieldRequired, forbidden } from '../errors.ts';
import type { FieldError } from '../schema/schema.ts';
import { dnsLabel } from '../validation/names.ts';
import { ageColumn, boolean, builtin, conditions, list, object, string, stringMap, strings } from './define.ts';

/** Namespaces nobody may delete. */
const immortal = new Set(['default', 'kube-system', 'kube-public']);
const nameLabel = 'kubernetes.io/metadata.name';

function labelName(namespace: KubeObject): void {
  if (namespace.metadata.name === undefined) return;
  namespace.metadata.labels = { ...namespace.metadata.labels, [nameLabel]: namespace.metadata.name };
}

export const namespaces = builtin({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
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
const keyText =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or " +
  "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function validateData(thing: Data, old: Data | undefined): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['data', 'binaryData'] as const) {
    for (const key of Object.keys(thing[field] ?? {})) {
      if (!dataKey.test(key) || key === '.' || key === '..') {
        errors.push(fieldInvalid(`${field}[${key}]`, key, keyText));
      }
      if (field === 'binaryData' && Object.hasOwn(thing.data ?? {}, key)) {
        errors.push(fieldInvalid(`${field}[${key}]`, key, 'duplicate of key present in data'));
      }
    }
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

function checkBase64(map: Record<string, string> | undefined, field: string): void {
  for (const [key, value] of Object.entries(map ?? {})) {
    if (!base64.test(value)) {
      throw ApiError.of('BadRequest', `${field}.${key}: illegal base64 data: bytes are written in standard base64`);
    }
  }
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
    prepareCreate: (object) => checkBase64((object as Data).binaryData, 'binaryData'),
    prepareUpdate: (object) => checkBase64((object as Data).binaryData, 'binaryData'),
    validate: (object, old) => validateData(object, old),
  },
});

/** `stringData` is written, never read: its values go into `data`, encoded. */
function mergeStringData(secret: Data): void {
  checkBase64(secret.data, 'data');
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
    prepareCreate: mergeStringData,
    prepareUpdate: mergeStringData,
    validate(object, old) {
      const errors = validateData(object, old);
      const [type, before] = [(object as Data).type, (old as Data | undefined)?.type];
      if (old !== undefined && type !== before) errors.push(fieldInvalid('type', type, 'field is immutable'));
      if (type === 'kubernetes.io/service-account-token') {
        const account = object.metadata.annotations?.['kubernetes.io/service-account.name'] ?? '';
        if (account === '') {
          errors.push(fieldRequired('metadata.annotations[kubernetes.io/service-account.name]', ''));
        }
      }
      return errors;
    },
    fields: { type: (object) => (object as Data).type ?? '' },
  },
});

const reference = object({
  apiVersion: string,
  kind: string,
  namespace: string,
  name: string,
  uid: string,
  resourceVersion: string,
  fieldPath: string,
});

export const serviceAccounts = builtin({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
  shortNames: ['sa'],
  description: 'ServiceAccount binds together a name, and a principal that can be authenticated and authorized.',
  properties: {
    secrets: list(reference),
    imagePullSecrets: list(object({ name: string })),
    automountServiceAccountToken: boolean,
  },
  columns: [{ name: 'Secrets', type: 'string', jsonPath: '.secrets' }, ageColumn],
  strategy: { cells: { Secrets: (account) => (account as { secrets?: unknown[] }).secrets?.length ?? 0 } },
});
