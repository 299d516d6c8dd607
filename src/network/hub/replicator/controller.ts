import { copyNameTaken } from '../../../api/index.ts';
import { lostMark, takenRule, tellTaken } from '../../../federation/index.ts';
import type { Controller, Plane, Planes, Request, Watch } from '../../../kube/index.ts';
import {
  isTerminating,
  jsonEqual,
  type KubeObject,
  Namespace,
  type PolicyRule,
  type ResourceType,
  type Stored,
} from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { hubNamespacesOf, indexRoutes, projectPlaneId, routingOf, targetOf } from '../routing.ts';
import { isSynced, unsyncedRetry } from '../synced.ts';
import { decide, type Located, type Step } from './decide.ts';

const reads = ['get', 'list', 'watch'];

/** What of a kind is not taken from projects as it is, since tenants can write there. */
export interface Guard<T extends KubeObject> {
  readonly rules: Record<'hub' | 'project', readonly PolicyRule[]>;
  /** What `trusted` reads: nothing is carried before it is there. */
  readonly kinds: Record<'hub' | 'project', readonly ResourceType[]>;
  engage(plane: Plane, planes: Planes, watch: Watch): void;
  /** `source` as it may be carried, or undefined where it may not be yet; `told` is what the hub has of it. */
  trusted(source: Stored<T>, told: Stored<T> | undefined, project: Plane, hub: Plane): Stored<T> | undefined;
}

/** Carries one kind from the projects to the hub namespaces that stand for theirs, from where cells pull it. Never status. */
export function replicator<T extends Located>(type: ResourceType<T>, deps: NetworkDeps, guard?: Guard<T>): Controller {
  const name = `network-hub-replicator-${type.plural}`;
  return {
    name,
    rules: {
      project: [
        { apiGroups: [type.group], resources: [type.plural], verbs: reads },
        ...(guard?.rules.project ?? []),
        takenRule,
      ],
      hub: [
        { apiGroups: [type.group], resources: [type.plural], verbs: [...reads, 'create', 'update', 'delete'] },
        { apiGroups: [''], resources: ['namespaces'], verbs: reads },
        ...(guard?.rules.hub ?? []),
        takenRule,
      ],
    },

    engage(plane, planes, watch) {
      if (plane.role === 'project') {
        guard?.engage(plane, planes, watch);
        watch.on(plane, type);
        const hub = planes.get(deps.hub);
        // Copies whose source went while the project was not looked at.
        for (const copy of hub?.informer(type).list() ?? []) {
          for (const request of hub === undefined ? [] : sourceOf(hub, planes, copy)) {
            if (request.plane === plane.id) watch.enqueue(request);
          }
        }
        return;
      }
      if (plane.id !== deps.hub) return;
      indexRoutes(plane);
      guard?.engage(plane, planes, watch);
      watch.on(plane, type, (copy) => sourceOf(plane, planes, copy));
      watch.on(plane, Namespace, (namespace, event) => {
        const { labels, name } = namespace.metadata;
        if (event.type === 'deleted') return [];
        if (event.type === 'updated' && jsonEqual(event.old.metadata.labels, labels)) return [];
        const copies = plane.informer(type).list(name);
        return [...sourcesOf(type, planes, labels), ...copies.flatMap((copy) => sourceOf(plane, planes, copy))];
      });
    },

    async reconcile(request, planes) {
      const project = planes.get(request.plane);
      const hub = planes.get(deps.hub);
      if (project === undefined || hub === undefined || project === hub) return undefined;
      if (!isSynced(hub, [Namespace, type, ...(guard?.kinds.hub ?? [])])) return unsyncedRetry;
      if (!isSynced(project, guard?.kinds.project ?? [])) return unsyncedRetry;
      const cached = project.informer(type).get(request.namespace, request.name);
      const targets = hubNamespacesOf(hub, { project: project.name, namespace: request.namespace }).map(
        (namespace) => ({
          namespace,
          copy: hub.informer(type).get(namespace.metadata.name, request.name),
        }),
      );
      // Absence is believed only from a live read.
      const copied = targets.some(({ copy }) => copy !== undefined);
      const source = cached ?? (copied ? await project.client.get(type, request) : undefined);
      for (const { namespace, copy } of targets) {
        const hubNamespace = namespace.metadata.name;
        const carried = source && guard !== undefined ? guard.trusted(source, copy, project, hub) : source;
        const mark = await lostMark({ client: hub.client, type, copy, source, isMaker: (manager) => manager === name });
        const ending = isTerminating(namespace);
        for (const step of decide({ source: carried, copy, mark, hubNamespace, ending })) {
          if (step.do === 'tell-taken') {
            const about = { object: step.source, plane: project };
            tellTaken({ holder: step.holder, plane: hub, about }, name, copyNameTaken, deps);
          } else await act(step, type, hub);
        }
      }
      return undefined;
    },
  };
}

function sourceOf(hub: Plane, planes: Planes, copy: Located): Request[] {
  const target = targetOf(hub, planes, copy.metadata.namespace ?? '');
  if (target === undefined) return [];
  return [{ plane: target.plane.id, namespace: target.namespace, name: copy.metadata.name }];
}

function sourcesOf<T extends Located>(
  type: ResourceType<T>,
  planes: Planes,
  labels: Record<string, string> | undefined,
): Request[] {
  const routing = routingOf(labels);
  if (routing === undefined || !('to' in routing)) return [];
  const { project, namespace } = routing.to;
  const plane = planes.get(projectPlaneId(project));
  if (plane === undefined) return [];
  const sources = plane.informer(type).list(namespace);
  return sources.map(({ metadata }) => ({ plane: plane.id, namespace, name: metadata.name }));
}

async function act(step: Exclude<Step, { do: 'tell-taken' }>, type: ResourceType, hub: Plane): Promise<void> {
  switch (step.do) {
    case 'create':
      await hub.client.create(type, step.object);
      return;
    case 'update':
      await hub.client.update(type, step.object);
      return;
    case 'delete': {
      const { namespace = '', name, uid } = step.copy.metadata;
      await hub.client.delete(type, { namespace, name }, { preconditions: { uid } });
      return;
    }
  }
}
