import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Json, Session } from './harness/session.ts';

/** The CRDs both servers serve. */

export const group = 'conformance.test';
export const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const core = '/api/v1';

const condition = {
  type: 'object',
  required: ['type', 'status'],
  properties: {
    type: { type: 'string' },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: { type: 'string', default: 'Unset' },
    message: { type: 'string' },
  },
};

/** Something of everything a structural schema can say. */
const gadgetSpec = {
  type: 'object',
  required: ['color'],
  properties: {
    color: { type: 'string', description: 'Color of the gadget.', enum: ['red', 'green', 'blue'], default: 'red' },
    replicas: { type: 'integer', format: 'int32', minimum: 0, maximum: 10, default: 1 },
    ratio: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
    even: { type: 'integer', multipleOf: 2 },
    big: { type: 'integer', format: 'int64' },
    code: { type: 'string', pattern: '^[a-z]{2,4}$', minLength: 2, maxLength: 4 },
    when: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    address: { type: 'string', format: 'ipv4' },
    prefix: { type: 'string', format: 'cidr' },
    site: { type: 'string', format: 'uri' },
    mail: { type: 'string', format: 'email' },
    key: { type: 'string', format: 'uuid' },
    bytes: { type: 'string', format: 'byte' },
    on: { type: 'boolean', default: false },
    maybe: { type: 'string', nullable: true },
    port: { 'x-kubernetes-int-or-string': true },
    fixed: {
      type: 'string',
      maxLength: 20,
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed is fixed' }],
    },
    size: {
      type: 'object',
      default: { width: 3, height: 4 },
      properties: {
        width: { type: 'integer', default: 3 },
        height: { type: 'integer', default: 4 },
      },
      'x-kubernetes-validations': [
        {
          rule: 'self.width <= self.height',
          messageExpression: "self.width > 5 ? 'far too wide' : 'too wide'",
          reason: 'FieldValueForbidden',
          fieldPath: '.width',
        },
      ],
    },
    once: {
      type: 'string',
      maxLength: 10,
      'x-kubernetes-validations': [
        {
          rule: "oldSelf.hasValue() ? self == oldSelf.value() : self.startsWith('a')",
          optionalOldSelf: true,
          message: 'starts with a, then stays',
        },
      ],
    },
    tags: {
      type: 'array',
      maxItems: 4,
      items: { type: 'string', maxLength: 20 },
      'x-kubernetes-list-type': 'set',
    },
    ports: {
      type: 'array',
      maxItems: 8,
      items: {
        type: 'object',
        required: ['name', 'protocol'],
        properties: {
          name: { type: 'string', maxLength: 20 },
          protocol: { type: 'string', default: 'TCP', maxLength: 5 },
          number: { type: 'integer', minimum: 1, maximum: 65535 },
        },
        'x-kubernetes-validations': [{ rule: "self.name != 'bad'", message: 'bad is no name' }],
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name', 'protocol'],
    },
    steps: { type: 'array', minItems: 1, items: { type: 'integer' }, 'x-kubernetes-list-type': 'atomic' },
    plain: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } } },
    labels: { type: 'object', maxProperties: 3, additionalProperties: { type: 'string', maxLength: 5 } },
    anything: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { known: { type: 'string' } },
    },
    whole: {
      type: 'object',
      'x-kubernetes-map-type': 'atomic',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
    },
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
    choice: {
      type: 'object',
      properties: { left: { type: 'string' }, right: { type: 'string' } },
      oneOf: [{ required: ['left'] }, { required: ['right'] }],
    },
  },
  'x-kubernetes-validations': [
    {
      rule: "!(has(self.code) && self.code == 'no') || self.replicas == 0",
      message: 'code no needs replicas 0',
    },
  ],
};

export const gadgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gadgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: {
      plural: 'gadgets',
      singular: 'gadget',
      kind: 'Gadget',
      listKind: 'GadgetList',
      shortNames: ['gd'],
      categories: ['all', 'tools'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
        selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.replicas' }],
        additionalPrinterColumns: [
          { name: 'Color', type: 'string', jsonPath: '.spec.color', description: 'Its color.' },
          { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas', priority: 1 },
          { name: 'When', type: 'date', jsonPath: '.spec.when' },
          { name: 'Ready', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
          { name: 'Tags', type: 'string', jsonPath: '.spec.tags' },
          { name: 'On', type: 'boolean', jsonPath: '.spec.on' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'Gadget is for comparison.',
            required: ['spec'],
            properties: {
              apiVersion: { type: 'string' },
              kind: { type: 'string' },
              metadata: { type: 'object' },
              spec: gadgetSpec,
              status: {
                type: 'object',
                properties: {
                  replicas: { type: 'integer' },
                  selector: { type: 'string' },
                  phase: { type: 'string', maxLength: 10 },
                  observedGeneration: { type: 'integer', format: 'int64' },
                  conditions: {
                    type: 'array',
                    items: condition,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

/** Cluster-scoped, two versions, a deprecated one, no status subresource, no structure to speak of. */
export const bagDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `bags.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural: 'bags', kind: 'Bag' },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        deprecated: true,
        deprecationWarning: 'bags of v1beta1 are old: use v1',
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

const ownFolder = new URL('../../deploy/crds/', import.meta.url);

/** Names of all CRDs this project installs. */
export async function ownDefinitions(): Promise<string[]> {
  return (await readdir(ownFolder)).sort().map((file) => file.replace(/\.yaml$/, ''));
}

/** One of the CRDs this project installs. */
export async function ownDefinition(name: string): Promise<Json> {
  return parse(await readFile(new URL(`${name}.yaml`, ownFolder), 'utf8'));
}

/** Resolves once a CRD made just now is served. */
export async function served(api: Session, definition: Json): Promise<void> {
  const { group: itsGroup, names, versions } = definition.spec;
  await api.until(
    `${crds}/${definition.metadata.name}`,
    ({ body }) => body.status?.conditions?.some((c: Json) => c.type === 'Established' && c.status === 'True') === true,
  );
  for (const version of versions) {
    if (version.served)
      await api.until(`/apis/${itsGroup}/${version.name}/${names.plural}`, ({ status }) => status === 200);
  }
}

/** Makes a namespace, unrecorded; answers the path of the gadgets in it. */
export async function gadgetsIn(api: Session, namespace: string): Promise<string> {
  await makeNamespace(api, namespace);
  return `/apis/${group}/v1/namespaces/${namespace}/gadgets`;
}

export async function makeNamespace(api: Session, name: string): Promise<string> {
  await api.quiet('POST', `${core}/namespaces`, { body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } });
  return `${core}/namespaces/${name}`;
}

export function gadget(name: string, spec: object = {}, metadata: object = {}): Json {
  return { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name, ...metadata }, spec };
}

export function configMap(name: string, data: Record<string, string> = { a: '1' }, metadata: object = {}): Json {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data };
}
