import { type InstanceSpec, joinName } from '../../api/index.ts';
import { ConfigMap, type ResourceType, Secret } from '../../meta/index.ts';

/** What a template takes from ConfigMaps and Secrets of its project: it is carried to the cells as companions. */
export interface DataReference {
  kind: 'ConfigMap' | 'Secret';
  name: string;
  /** Every place that names it does without. */
  optional: boolean;
}

/** The kinds of companions. */
export const companionKinds: readonly ResourceType[] = [ConfigMap, Secret];

export function typeOf(kind: DataReference['kind']): ResourceType<ConfigMap | Secret> {
  return kind === 'ConfigMap' ? ConfigMap : Secret;
}

/** Every ConfigMap and Secret a template names, each once, in order. */
export function dataReferences({ runtime, volumes = [] }: InstanceSpec): DataReference[] {
  const found = new Map<string, DataReference>();
  const add = (kind: DataReference['kind'], name: string | undefined, optional = false): void => {
    if (name === undefined || name === '') return;
    const key = `${kind}/${name}`;
    found.set(key, { kind, name, optional: optional && (found.get(key)?.optional ?? true) });
  };
  for (const { env = [], envFrom = [] } of runtime.sandbox?.containers ?? []) {
    for (const { valueFrom } of env) {
      add('ConfigMap', valueFrom?.configMapKeyRef?.name, valueFrom?.configMapKeyRef?.optional);
      add('Secret', valueFrom?.secretKeyRef?.name, valueFrom?.secretKeyRef?.optional);
    }
    for (const { configMapRef, secretRef } of envFrom) {
      add('ConfigMap', configMapRef?.name, configMapRef?.optional);
      add('Secret', secretRef?.name, secretRef?.optional);
    }
  }
  for (const { configMap, secret } of volumes) {
    add('ConfigMap', configMap?.name, configMap?.optional);
    add('Secret', secret?.secretName, secret?.optional);
  }
  for (const { name } of runtime.sandbox?.imagePullSecrets ?? []) add('Secret', name);
  return [...found.keys()].sort().map((key) => found.get(key)!);
}

/** Name of what a deployment references, in the hub namespace and in the cell: one for each deployment that does. */
export function companionName(deployment: string, { kind, name }: DataReference): string {
  return joinName([deployment, kind.toLowerCase(), name]);
}
