import {
  computeAnnotations,
  computeLabels,
  copyNameTaken,
  labelValue,
  reasonMessage,
  type WorkloadDeployment,
} from '../../../api/index.ts';
import { copyOf, isInTheWay, sourceUid, sourceUidOf, updateOf } from '../../../federation/index.ts';
import { type ConfigMap, controllerReference, isTerminating, type Secret, type Stored } from '../../../meta/index.ts';
import { companionName, type DataReference } from '../../shared/data.ts';
import { type Told, toldText } from '../../shared/told.ts';

type Source = ConfigMap | Secret;

/** What a template references, in the project and on the hub. */
export interface Data {
  references: readonly (DataReference & {
    source: Stored<Source> | undefined;
    /** What nobody carried has the name of the companion. */
    taken?: Stored<Source> | undefined;
  })[];
  /** On the hub, what is or was carried for the deployment. */
  companions: readonly Stored<Source>[];
}

export type CompanionStep =
  | { do: 'create-companion' | 'update-companion'; object: Source }
  | { do: 'delete-companion'; companion: Stored<Source> }
  | { do: 'tell-taken'; holder: Stored<Source> };

/** What a ConfigMap or Secret may hold (Kubernetes: MaxSecretSize). */
const mostBytes = 1024 * 1024;

/** Pure. What a cell is told to expect, and why something will not come. */
export function dataAnnotations(
  deployment: string,
  data: Data | undefined,
  hub: { id: string },
): Record<string, string | undefined> {
  const { expectedReferencedData, referencedDataError } = computeAnnotations;
  if (data === undefined || data.references.length === 0) {
    return { [expectedReferencedData]: undefined, [referencedDataError]: undefined };
  }
  const expected = data.references.filter(({ optional, source }) => !optional || source !== undefined);
  const error = data.references.map((each) => refusalOf(each, hub)).find((each) => each !== undefined);
  return {
    [expectedReferencedData]: JSON.stringify(expected.map((each) => companionName(deployment, each))),
    [referencedDataError]: error === undefined ? undefined : toldText(error),
  };
}

function refusalOf(
  { kind, name, optional, source, taken }: Data['references'][number],
  hub: { id: string },
): Told | undefined {
  if (source === undefined) {
    return optional
      ? undefined
      : { reason: 'SourceNotFound', message: reasonMessage('SourceNotFound', { kind, name }) };
  }
  if (taken !== undefined && isInTheWay(undefined, taken)) return copyNameTaken(taken, hub);
  return isTooLarge(source)
    ? { reason: 'SourceTooLarge', message: reasonMessage('SourceTooLarge', { kind, name }) }
    : undefined;
}

function isTooLarge(source: Source): boolean {
  const { data = {}, binaryData = {} } = source as ConfigMap;
  const entries = [...Object.entries(data), ...Object.entries(binaryData)];
  return entries.reduce((sum, [key, value]) => sum + key.length + Buffer.byteLength(value), 0) > mostBytes;
}

/** Pure. A companion for each source that is there, owned by the hub's deployment; one that is gone stays: it may be in use. */
export function companionSteps(copy: Stored<WorkloadDeployment>, { references, companions }: Data): CompanionStep[] {
  const steps: CompanionStep[] = [];
  const kept = new Set<string>();
  for (const reference of references) {
    const { kind, source, taken } = reference;
    const name = companionName(copy.metadata.name, reference);
    kept.add(`${kind}/${name}`);
    if (source === undefined || isTooLarge(source)) continue;
    if (taken !== undefined) {
      if (isInTheWay(undefined, taken)) steps.push({ do: 'tell-taken', holder: taken });
      continue;
    }
    const wanted = companionOf(copy, reference, source);
    const held = companions.find((each) => each.kind === kind && each.metadata.name === name);
    if (held === undefined) steps.push({ do: 'create-companion', object: wanted });
    else if (isTerminating(held)) continue;
    // Another source under the name may be of another type, which a Secret can not change.
    else if (sourceUidOf(held) !== source.metadata.uid) steps.push({ do: 'delete-companion', companion: held });
    else {
      const object = updateOf(wanted, held);
      if (object !== undefined) steps.push({ do: 'update-companion', object: object as Source });
    }
  }
  for (const companion of companions) {
    const isKept = kept.has(`${companion.kind}/${companion.metadata.name}`) || isTerminating(companion);
    if (!isKept) steps.push({ do: 'delete-companion', companion });
  }
  return steps;
}

function companionOf(copy: Stored<WorkloadDeployment>, reference: DataReference, source: Stored<Source>): Source {
  // A companion follows its source, which may be made anew; people's labels and annotations mean nothing there.
  const { immutable: _, ...body } = copyOf(source) as Source;
  return {
    ...body,
    metadata: {
      name: companionName(copy.metadata.name, reference),
      namespace: copy.metadata.namespace ?? '',
      labels: {
        [computeLabels.referencedData]: 'true',
        [computeLabels.location]: labelValue(copy.spec?.locationRef.name ?? ''),
      },
      annotations: {
        [sourceUid]: source.metadata.uid,
        [computeAnnotations.referencedDataOf]: copy.metadata.name,
        [computeAnnotations.referencedDataSource]: reference.name,
      },
      ownerReferences: [controllerReference(copy, false)],
    },
  };
}
