import { computeAnnotations, WorkloadDeployment } from '../../../api/index.ts';
import { lostMark, sourceUidOf } from '../../../federation/index.ts';
import type { Plane, Request, Watch } from '../../../kube/index.ts';
import { type KubeObject, Namespace, type ResourceType, type Stored } from '../../../meta/index.ts';
import { companionKinds, companionName, type DataReference, dataReferences, typeOf } from '../../shared/data.ts';
import type { Data } from './data.ts';
import { keyOf } from './decide.ts';

const byDeployment = 'compute/companion';

function companionKeys({ metadata }: KubeObject): string[] {
  const of = metadata.annotations?.[computeAnnotations.referencedDataOf];
  return of === undefined ? [] : [`${metadata.namespace ?? ''}/${of}`];
}

/** What was carried for a deployment wakes it, and so does what is in the way of that. */
export function watchCompanions(
  hub: Plane,
  watch: Watch,
  sourceOf: (namespace: Stored<Namespace> | undefined, deployment: string) => Request[],
): void {
  for (const type of companionKinds) {
    hub.informer(type).addIndex(byDeployment, companionKeys);
    watch.on(hub, type, ({ metadata }) => {
      const of = metadata.annotations?.[computeAnnotations.referencedDataOf];
      const namespace = hub.informer(Namespace).get('', metadata.namespace ?? '');
      if (of !== undefined) return sourceOf(namespace, of);
      // What is in the way, or has lost its marks, is known by its name alone.
      return hub
        .informer(WorkloadDeployment)
        .list(metadata.namespace)
        .filter((copy) => companionNames(copy, type).includes(metadata.name))
        .flatMap((copy) => sourceOf(namespace, copy.metadata.name));
    });
  }
}

/** What a template references wakes the deployments that do. */
export function watchSources(plane: Plane, watch: Watch): void {
  for (const type of companionKinds) {
    watch.on(plane, type, ({ metadata }) =>
      plane
        .informer(WorkloadDeployment)
        .list(metadata.namespace)
        .filter(({ spec }) => referencesOf(spec).some(({ kind, name }) => kind === type.kind && name === metadata.name))
        .map((deployment) => ({ plane: plane.id, ...keyOf(deployment) })),
    );
  }
}

function referencesOf(spec: WorkloadDeployment['spec']): DataReference[] {
  return spec === undefined ? [] : dataReferences(spec.template.spec);
}

/** What a deployment of the hub references of a kind, by the names of the companions. */
function companionNames({ metadata, spec }: Stored<WorkloadDeployment>, { kind }: ResourceType): string[] {
  const references = referencesOf(spec).filter((reference) => reference.kind === kind);
  return references.map((reference) => companionName(metadata.name, reference));
}

/** What a deployment of a project references, in the project and on the hub. */
export async function observeData(
  deployment: Stored<WorkloadDeployment>,
  hubNamespace: string,
  project: Plane,
  hub: Plane,
  isMaker: (manager: string) => boolean,
): Promise<Data> {
  const { namespace = '', name } = deployment.metadata;
  const companions = companionKinds.flatMap((type) =>
    hub.informer(type).byIndex(byDeployment, `${hubNamespace}/${name}`),
  );
  const references: Data['references'][number][] = [];
  for (const reference of referencesOf(deployment.spec)) {
    const type = typeOf(reference.kind);
    const source = project.informer(type).get(namespace, reference.name);
    const held = hub.informer(type).get(hubNamespace, companionName(name, reference));
    if (held === undefined || companions.includes(held)) {
      references.push({ ...reference, source });
      continue;
    }
    const of = sourceUidOf(held) ?? (await lostMark({ client: hub.client, type, copy: held, source, isMaker }));
    if (of !== undefined) companions.push(held);
    references.push({ ...reference, source, taken: of === undefined ? held : undefined });
  }
  return { references, companions };
}
