import {
  Location,
  labelValue,
  NetworkBinding,
  NetworkContext,
  NetworkInterface,
  networkingAnnotations,
  networkingLabels,
  ServingLocation,
  topologyKeys,
  WorkloadDeployment,
} from '../../../api/index.ts';
import type { Controller, Plane, Request } from '../../../kube/index.ts';
import { isTerminating, type KubeObject, type ResourceType } from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { decide, type Step } from './decide.ts';

/** As upstream names it, so that a hub both have written to has one owner of these fields. */
const fieldManager = 'network-services-operator-location-publisher';
const byLocation = 'location/label';
const reads = ['get', 'list', 'watch'];
const name = 'network-hub-location';

/** What keeps a location served, and how each says where it is. */
const holding: readonly { type: ResourceType<KubeObject>; label: (object: KubeObject) => string | undefined }[] = [
  {
    type: WorkloadDeployment as ResourceType<KubeObject>,
    label: ({ metadata }) => metadata.labels?.[topologyKeys.location],
  },
  {
    type: NetworkInterface as ResourceType<KubeObject>,
    label: ({ metadata }) => metadata.labels?.[networkingLabels.location],
  },
  {
    type: NetworkContext as ResourceType<KubeObject>,
    label: ({ metadata }) => metadata.labels?.[networkingLabels.location],
  },
  {
    type: NetworkBinding as ResourceType<KubeObject>,
    label: (binding) => labelValue((binding as NetworkBinding).spec.location.name),
  },
];

/** Tells cells, through their agents, which location they serve (C.18). */
export function locationPublisher(deps: NetworkDeps): Controller {
  return {
    name,
    rules: {
      hub: [
        { apiGroups: [Location.group], resources: ['locations'], verbs: reads },
        {
          apiGroups: [ServingLocation.group],
          resources: ['servinglocations'],
          verbs: [...reads, 'create', 'patch', 'delete'],
        },
        ...holding.map(({ type }) => ({ apiGroups: [type.group], resources: [type.plural], verbs: reads })),
        { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      ],
    },

    engage(plane, _planes, watch) {
      if (plane.id !== deps.hub) return;
      watch.on(plane, Location);
      watch.on(plane, ServingLocation);
      for (const { type, label } of holding) {
        plane.informer(type).addIndex(byLocation, (object) => {
          const location = label(object);
          return location === undefined ? [] : [location];
        });
        // The last of them to go lets a location that waits for it go.
        watch.on(plane, type, (object, event) => (event.type === 'deleted' ? waiting(plane, label(object)) : []));
      }
    },

    async reconcile(request, planes) {
      const hub = planes.get(request.plane);
      if (hub === undefined) return undefined;
      await publish(hub, request.name, deps);
      return undefined;
    },
  };

  function waiting(hub: Plane, label: string | undefined): Request[] {
    if (label === undefined) return [];
    return hub
      .informer(ServingLocation)
      .list()
      .filter(
        ({ metadata }) =>
          labelValue(metadata.name) === label &&
          metadata.annotations?.[networkingAnnotations.removalBlocked] !== undefined,
      )
      .map(({ metadata }) => ({ plane: hub.id, namespace: '', name: metadata.name }));
  }
}

async function publish(hub: Plane, location: string, deps: NetworkDeps): Promise<void> {
  const key = { namespace: '', name: location };
  const serving = hub.informer(ServingLocation).get('', location);
  const cached = hub.informer(Location).get('', location);
  // Absence is believed only from a live read.
  const source = cached ?? (serving === undefined ? undefined : await hub.client.get(Location, key));
  const going = serving !== undefined && (source === undefined || isTerminating(source));
  const holders = going ? await holdersOf(hub, location) : '';
  for (const step of decide({ location: source, serving, holders, now: deps.clock.now() })) await act(step, hub, deps);
}

/** From the caches while they name any; from live lists before nothing is believed to be there. */
async function holdersOf(hub: Plane, location: string): Promise<string> {
  const label = labelValue(location);
  const cached = holding.map(({ type }) => ({ type, count: hub.informer(type).byIndex(byLocation, label).length }));
  if (cached.some(({ count }) => count > 0)) return inWords(cached);
  const live = await Promise.all(
    holding.map(async ({ type, label: labelOf }) => {
      const { items } = await hub.client.list(type);
      return { type, count: items.filter((object) => labelOf(object) === label).length };
    }),
  );
  return inWords(live);
}

function inWords(counts: readonly { type: ResourceType; count: number }[]): string {
  return counts
    .filter(({ count }) => count > 0)
    .map(({ type, count }) => `${count} ${type.kind}${count === 1 ? '' : 's'}`)
    .join(', ');
}

async function act(step: Step, hub: Plane, deps: NetworkDeps): Promise<void> {
  switch (step.do) {
    case 'publish': {
      const key = { namespace: '', name: step.object.metadata.name };
      await hub.client.patch(ServingLocation, key, { type: 'apply', body: step.object, fieldManager, force: true });
      return;
    }
    case 'warn': {
      const { location, reason, note } = step;
      deps.recorder(hub, name).event(location, { type: 'Warning', reason, action: 'Publish', note });
      return;
    }
    case 'annotate': {
      const { name: serving, resourceVersion } = step.serving.metadata;
      const annotations = { [networkingAnnotations.removalBlocked]: step.blocked };
      const body = { metadata: { resourceVersion, annotations } };
      await hub.client.patch(ServingLocation, { namespace: '', name: serving }, { type: 'merge', body });
      return;
    }
    case 'withdraw': {
      const { name: serving, uid } = step.serving.metadata;
      if (step.forced)
        deps.log.warn({ location: serving }, 'the location is withdrawn because it was asked to be by force');
      await hub.client.delete(ServingLocation, { namespace: '', name: serving }, { preconditions: { uid } });
      return;
    }
  }
}
