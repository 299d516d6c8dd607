import { type DataPlane, NetworkInterface, VPCAttachment } from '../../api/index.ts';
import type { Plane, Watch } from '../../kube/index.ts';
import {
  CustomResourceDefinition,
  type KubeObject,
  type PolicyRule,
  type ResourceType,
  type Stored,
} from '../../meta/index.ts';
import { saysOtherwise } from './attachment.ts';
import { reads } from './cell.ts';

const byAttachment = 'network/attachment';
const byAttachmentKind = 'network/attachment-kind';
const byKind = 'network/defined-kind';

/**
 * The objects a data plane attaches interfaces by, of whatever kind `attachmentRef` names. Berth\u2019s own kind is known; those
 * of an external data plane are found by their definitions, and read once an interface names one.
 */
export class Attachments {
  readonly #dataPlane: DataPlane;
  /** Kinds that are read, by plane and then by `kindKey`. */
  readonly #read = new Map<string, Map<string, ResourceType>>();

  constructor(dataPlane: DataPlane) {
    this.#dataPlane = dataPlane;
  }

  /** Rights that reading takes. Those to read another\u2019s kind are for who brings the kind to give. */
  get rules(): PolicyRule[] {
    if (this.#dataPlane === 'none') return [];
    const own = { apiGroups: [VPCAttachment.group], resources: [VPCAttachment.plural], verbs: reads };
    if (this.#dataPlane === 'fabric') return [own];
    const { group, plural } = CustomResourceDefinition;
    return [own, { apiGroups: [group], resources: [plural], verbs: reads }];
  }

  /** `changed` hears of every interface whose attachment says something else of egress than before. */
  follow(plane: Plane, watch: Watch, changed: (networkInterface: Stored<NetworkInterface>) => void): void {
    if (this.#dataPlane === 'none') return;
    const interfaces = plane.informer(NetworkInterface);
    interfaces.addIndex(byAttachment, ({ metadata, status }) => {
      const ref = status?.attachmentRef;
      return ref === undefined ? [] : [`${kindKey(ref.apiGroup, ref.kind)}/${metadata.namespace}/${ref.name}`];
    });
    this.#read.set(plane.id, new Map());
    plane.signal.addEventListener('abort', () => this.#read.delete(plane.id));
    // Not among what the first reconcile waits for: a kind nobody may read must not hold up every claim.
    const read = (type: ResourceType) => {
      const key = kindKey(type.group, type.kind);
      if (this.#read.get(plane.id)?.has(key) !== false) return;
      this.#read.get(plane.id)?.set(key, type);
      const stop = plane.informer(type).onEvent((event) => {
        if (event.type === 'updated' && !saysOtherwise(event.old, event.object)) return;
        const { namespace, name } = event.object.metadata;
        for (const each of interfaces.byIndex(byAttachment, `${key}/${namespace}/${name}`)) changed(each);
      });
      plane.signal.addEventListener('abort', stop);
    };
    read(VPCAttachment);
    if (this.#dataPlane === 'external') discover(plane, watch, read);
  }

  /** What an interface\u2019s `attachmentRef` names. */
  of(plane: Plane, networkInterface: Stored<NetworkInterface> | undefined): KubeObject | undefined {
    const ref = networkInterface?.status?.attachmentRef;
    if (ref === undefined) return undefined;
    const type = this.#read.get(plane.id)?.get(kindKey(ref.apiGroup, ref.kind));
    return type === undefined
      ? undefined
      : plane.informer(type).get(networkInterface?.metadata.namespace ?? '', ref.name);
  }
}

/** Tells `read` of each kind that is both named by an interface and defined. */
function discover(plane: Plane, watch: Watch, read: (type: ResourceType) => void): void {
  const interfaces = plane.informer(NetworkInterface);
  const definitions = plane.informer(CustomResourceDefinition);
  interfaces.addIndex(byAttachmentKind, ({ status }) => {
    const ref = status?.attachmentRef;
    return ref === undefined ? [] : [kindKey(ref.apiGroup, ref.kind)];
  });
  definitions.addIndex(byKind, ({ spec }) => (spec === undefined ? [] : [kindKey(spec.group, spec.names.kind)]));
  watch.on(plane, NetworkInterface, ({ status }) => {
    const ref = status?.attachmentRef;
    if (ref === undefined) return [];
    for (const each of definitions.byIndex(byKind, kindKey(ref.apiGroup, ref.kind))) readServed(each, read);
    return [];
  });
  watch.on(plane, CustomResourceDefinition, (definition, event) => {
    const { spec } = definition;
    if (spec === undefined || event.type === 'deleted') return [];
    const named = interfaces.byIndex(byAttachmentKind, kindKey(spec.group, spec.names.kind));
    if (named.length > 0) readServed(definition, read);
    return [];
  });
}

function readServed({ spec }: CustomResourceDefinition, read: (type: ResourceType) => void): void {
  const version =
    spec?.versions.find(({ storage, served }) => storage && served) ?? spec?.versions.find((v) => v.served);
  // What attaches an interface is in the interface\u2019s namespace.
  if (spec === undefined || version === undefined || spec.scope !== 'Namespaced') return;
  const { kind, plural } = spec.names;
  read({ group: spec.group, version: version.name, kind, plural, namespaced: true });
}

function kindKey(group: string, kind: string): string {
  return `${kind}.${group}`;
}
