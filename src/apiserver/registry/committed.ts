import type { CustomResourceDefinition, KubeObject } from '../../meta/index.ts';
import type { Call } from './call.ts';

/** After a write is durable: what the plane serves follows its CRDs at once. */
export function committed(call: Call, object: KubeObject, revision: number): void {
  if (call.served.storage === 'apiextensions.k8s.io/customresourcedefinitions') {
    const definition = object as CustomResourceDefinition;
    call.plane.define(definition, revision);
    if (definition.metadata.deletionTimestamp !== undefined) call.server.definitionDeleted(call, definition);
  }
}

export function removed(call: Call, name: string): void {
  if (call.served.storage === 'apiextensions.k8s.io/customresourcedefinitions') call.plane.undefine(name);
}
