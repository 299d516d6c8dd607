import type { Condition, KubeObject, ResourceType } from './object.ts';
import type { PolicyRule } from './rbac.ts';
import type { LabelSelector } from './selector.ts';

/** The built-in kinds that rooms read or write: only the fields they use. */

export type Namespace = KubeObject<
  { finalizers?: string[] },
  { phase?: 'Active' | 'Terminating'; conditions?: Condition[] }
>;
export const Namespace: ResourceType<Namespace> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  immutable?: boolean;
}
export const ConfigMap: ResourceType<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

export interface Secret extends KubeObject {
  type?: string;
  /** Values in base64. */
  data?: Record<string, string>;
  immutable?: boolean;
}
export const Secret: ResourceType<Secret> = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
};

export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
}

/** events.k8s.io/v1. */
export interface Event extends KubeObject {
  eventTime: string;
  reportingController: string;
  reportingInstance: string;
  action: string;
  reason: string;
  type: 'Normal' | 'Warning';
  note?: string;
  regarding?: ObjectReference;
  related?: ObjectReference;
  series?: { count: number; lastObservedTime: string };
}
export const Event: ResourceType<Event> = {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};

export type Lease = KubeObject<{
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}>;
export const Lease: ResourceType<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

export interface ClusterRole extends KubeObject {
  rules: PolicyRule[];
  /** Its rules are those of every ClusterRole one of the selectors selects. */
  aggregationRule?: { clusterRoleSelectors?: LabelSelector[] };
}
export const ClusterRole: ResourceType<ClusterRole> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
};

export interface RoleRef {
  apiGroup: string;
  kind: 'ClusterRole' | 'Role';
  name: string;
}

export interface Subject {
  kind: 'User' | 'Group' | 'ServiceAccount';
  apiGroup?: string;
  name: string;
  namespace?: string;
}

export interface ClusterRoleBinding extends KubeObject {
  roleRef: RoleRef;
  subjects?: Subject[];
}
export const ClusterRoleBinding: ResourceType<ClusterRoleBinding> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
};

export type CustomResourceDefinition = KubeObject<{
  group: string;
  scope: 'Namespaced' | 'Cluster';
  names: {
    plural: string;
    singular?: string;
    kind: string;
    listKind?: string;
    shortNames?: string[];
    categories?: string[];
  };
  versions: {
    name: string;
    served: boolean;
    storage: boolean;
    schema?: { openAPIV3Schema?: Record<string, unknown> };
    subresources?: {
      status?: Record<string, never>;
      scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
    };
    additionalPrinterColumns?: {
      name: string;
      type: string;
      jsonPath: string;
      format?: string;
      priority?: number;
      description?: string;
    }[];
    selectableFields?: { jsonPath: string }[];
  }[];
  conversion?: { strategy: string };
  preserveUnknownFields?: boolean;
}>;
export const CustomResourceDefinition: ResourceType<CustomResourceDefinition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
