import { computeAnnotations, type Reason, reasonMessage, type WorkloadDeployment } from '../../api/index.ts';
import type { Plane, Watch } from '../../kube/index.ts';
import type { Stored } from '../../meta/index.ts';
import { companionKinds, dataReferences } from '../shared/data.ts';
import { type Told, toldBy } from '../shared/told.ts';

/** Whether what a deployment's template references has come to the cell, or why not; undefined where it references nothing. */
export type DataState = 'there' | Told | undefined;

/** Looks for the companions the hub said would come. Their presence is what is waited for, and nothing in them. */
export function dataState(plane: Plane, deployment: Stored<WorkloadDeployment>): DataState {
  const { metadata, spec } = deployment;
  if (spec === undefined || dataReferences(spec.template.spec).length === 0) return undefined;
  const expected = namesIn(metadata.annotations?.[computeAnnotations.expectedReferencedData]);
  const error = toldBy(deployment, computeAnnotations.referencedDataError);
  if (error !== undefined) return error;
  if (expected === undefined) return said('Resolving');
  const here = (name: string) =>
    companionKinds.some((type) => plane.informer(type).get(metadata.namespace ?? '', name) !== undefined);
  return expected.every(here) ? 'there' : said('AwaitingPropagation');
}

function said(reason: Extract<Reason, 'Resolving' | 'AwaitingPropagation'>): Told {
  return { reason, message: reasonMessage(reason) };
}

function namesIn(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Calls `changed` with the name of a deployment one of whose companions came or went. */
export function watchCompanions(
  plane: Plane,
  watch: Watch,
  changed: (namespace: string, deployment: string) => ReturnType<NonNullable<Parameters<Watch['on']>[2]>>,
): void {
  for (const type of companionKinds) {
    watch.on(plane, type, ({ metadata }, event) => {
      const of = metadata.annotations?.[computeAnnotations.referencedDataOf];
      return of === undefined || event.type === 'updated' ? [] : changed(metadata.namespace ?? '', of);
    });
  }
}

/** What a cell's controllers need to look for companions. */
export const companionsRule = {
  apiGroups: [''],
  resources: ['configmaps', 'secrets'],
  verbs: ['get', 'list', 'watch'],
};
