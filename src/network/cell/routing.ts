import {
  networkingAnnotations,
  projectOfClusterLabel,
  type Reason,
  reasonMessage,
  upstreamLabels,
} from '../../api/index.ts';
import type { KubeObject } from '../../meta/index.ts';

/** Where the addresses of an interface are allocated. */
export interface Routing {
  project: string;
  /** Namespace in the project. */
  namespace: string;
  location: string;
}

/** Why something is not done, as a condition says it. */
export interface Refused {
  reason: Reason;
  message: string;
  /** Objects of IPAM whose change could end the refusal: `ippools/<name>`. */
  dependsOn?: readonly string[];
}

const { recordedProject, recordedProjectNamespace, recordedLocation } = networkingAnnotations;

/** The routing recorded on a claim or an interface with its first allocation, which outlives every label (F7). */
export function recordOf(object: KubeObject | undefined): Routing | undefined {
  const annotations = object?.metadata.annotations;
  const project = annotations?.[recordedProject];
  const namespace = annotations?.[recordedProjectNamespace];
  const location = annotations?.[recordedLocation];
  if (!project || !namespace || !location) return undefined;
  return { project, namespace, location };
}

export function recordAnnotations({ project, namespace, location }: Routing): Record<string, string> {
  return { [recordedProject]: project, [recordedProjectNamespace]: namespace, [recordedLocation]: location };
}

/** The location a cell serves: the name of the one ServingLocation that has reached it (C.1). Never guessed. */
export function locationOf(servingLocations: readonly string[]): { location: string } | Refused {
  const [location, ...others] = [...servingLocations].sort();
  if (location === undefined) return { reason: 'NoLocationIdentity', message: reasonMessage('NoLocationIdentity') };
  if (others.length === 0) return { location };
  const message = reasonMessage('AmbiguousLocationIdentity', {
    count: servingLocations.length,
    locations: [location, ...others].join(', '),
  });
  return { reason: 'AmbiguousLocationIdentity', message };
}

/** The project namespace a cell namespace stands for, by its two upstream labels (C.2). Both, or no answer. */
export function projectOf(
  namespace: string,
  labels: Readonly<Record<string, string>> | undefined,
): { project: string; namespace: string } | Refused {
  const refuse = (label: string): Refused => ({
    reason: 'ProjectUnresolved',
    message: reasonMessage('ProjectUnresolved', { namespace, label }),
  });
  const project = projectOfClusterLabel(labels?.[upstreamLabels.clusterName]);
  if (project === undefined) return refuse(upstreamLabels.clusterName);
  const upstream = labels?.[upstreamLabels.namespace];
  return upstream ? { project, namespace: upstream } : refuse(upstreamLabels.namespace);
}

export function isRefused(answer: object): answer is Refused {
  return 'reason' in answer;
}
