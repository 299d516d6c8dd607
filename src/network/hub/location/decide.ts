import {
  type Location,
  locationPublisherName,
  networkingAnnotations,
  networkingLabels,
  reasonMessage,
  ServingLocation,
  topologyKeys,
} from '../../../api/index.ts';
import { apiVersionOf, formatTime, isTerminating, type Stored } from '../../../meta/index.ts';

export interface Snapshot {
  location: Stored<Location> | undefined;
  serving: Stored<ServingLocation> | undefined;
  /** What is in the location, as text: `2 WorkloadDeployments, 1 NetworkInterface`; empty where nothing is. */
  holders: string;
  now: number;
}

export type Step =
  /** Server-side apply. */
  | { do: 'publish'; object: ServingLocation }
  | { do: 'warn'; location: Stored<Location>; reason: 'MissingCityCode' | 'ForeignFieldManager'; note: string }
  | { do: 'annotate'; serving: Stored<ServingLocation>; blocked: string | null }
  | { do: 'withdraw'; serving: Stored<ServingLocation>; forced: boolean };

/** Pure. What a cell is told it serves: as long as the Location is there, and then as long as anything is there. */
export function decide({ location, serving, holders, now }: Snapshot): Step[] {
  if (location === undefined || isTerminating(location)) return withdrawn(serving, holders);
  const topology: Record<string, string> = location.spec?.topology ?? {};
  if ((topology[topologyKeys.cityCode] ?? '') === '') {
    const note = reasonMessage('MissingCityCode', { location: location.metadata.name });
    return [{ do: 'warn', location, reason: 'MissingCityCode', note }];
  }
  const steps: Step[] = [];
  if (!isPublished(location, topology, serving)) {
    steps.push({ do: 'publish', object: published(location, topology, now) });
  } else {
    const foreign = Object.keys(serving?.spec?.topology ?? {}).filter((key) => !Object.hasOwn(topology, key));
    if (foreign.length > 0) {
      const note = reasonMessage('ForeignFieldManager', {
        name: location.metadata.name,
        fields: foreign.sort().join(', '),
      });
      steps.push({ do: 'warn', location, reason: 'ForeignFieldManager', note });
    }
  }
  if (serving !== undefined && blockedOf(serving) !== undefined) steps.push({ do: 'annotate', serving, blocked: null });
  return steps;
}

function blockedOf({ metadata }: ServingLocation): string | undefined {
  return metadata.annotations?.[networkingAnnotations.removalBlocked];
}

/** Whether the copy says what would be published: then its version and time of publication stay as they are. */
function isPublished(
  location: Stored<Location>,
  topology: Record<string, string>,
  serving: Stored<ServingLocation> | undefined,
): boolean {
  if (serving === undefined || serving.metadata.labels?.[networkingLabels.publishedBy] !== locationPublisherName)
    return false;
  const held: Record<string, string> = serving.spec?.topology ?? {};
  return (
    serving.spec?.source?.generation === (location.metadata.generation ?? 1) &&
    Object.entries(topology).every(([key, value]) => held[key] === value)
  );
}

function published(location: Stored<Location>, topology: Record<string, string>, now: number): ServingLocation {
  return {
    apiVersion: apiVersionOf(ServingLocation),
    kind: ServingLocation.kind,
    metadata: { name: location.metadata.name, labels: { [networkingLabels.publishedBy]: locationPublisherName } },
    spec: {
      topology,
      source: { generation: location.metadata.generation ?? 1, publishedAt: formatTime(now) },
    },
  };
}

/** Only what was published here is ever withdrawn. Without it a cell does not know where it is. */
function withdrawn(serving: Stored<ServingLocation> | undefined, holders: string): Step[] {
  if (serving === undefined || isTerminating(serving)) return [];
  if (serving.metadata.labels?.[networkingLabels.publishedBy] !== locationPublisherName) return [];
  const forced = serving.metadata.annotations?.[networkingAnnotations.removalOverride] === 'true';
  if (holders === '' || forced) return [{ do: 'withdraw', serving, forced }];
  const message = reasonMessage('ClustersStillServing', { location: serving.metadata.name, holders });
  const blocked = `ClustersStillServing: ${message}`;
  return blockedOf(serving) === blocked ? [] : [{ do: 'annotate', serving, blocked }];
}
