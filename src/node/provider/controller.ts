import { Instance } from '../../api/index.ts';
import { applyStatus, type Clock, type Controller, type EventRecorder, type Plane } from '../../kube/index.ts';
import { Event, findCondition, jsonEqual } from '../../meta/index.ts';
import { decide, providerName } from './decide.ts';

export interface SimulatedProviderDeps {
  clock: Clock;
  /** Events in a plane, under the provider's name. */
  recorder(plane: Plane): EventRecorder;
}

/**
 * An infrastructure provider that runs nothing: the reference of the contract in docs/providers.md. It reads instances
 * and writes `Programmed` and `Available`, once no scheduling gate is left; it never touches a network interface.
 */
export function simulatedProvider(deps: SimulatedProviderDeps): Controller {
  return {
    name: providerName,
    rules: {
      cell: [
        { apiGroups: [Instance.group], resources: ['instances'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: [Instance.group], resources: ['instances/status'], verbs: ['patch'] },
        { apiGroups: [Event.group], resources: ['events'], verbs: ['create', 'patch'] },
      ],
    },

    engage(plane, _planes, watch) {
      if (plane.role === 'cell') watch.on(plane, Instance);
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const instance = plane?.informer(Instance).get(request.namespace, request.name);
      if (plane === undefined || instance === undefined) return undefined;
      const status = decide(instance, deps.clock.now());
      if (status === undefined) return undefined;
      const held = instance.status?.conditions;
      const said = (status.conditions ?? []).every((next) => jsonEqual(next, findCondition(held, next.type)));
      if (said) return undefined;
      await applyStatus(plane.client, Instance, instance, status, providerName);
      if (findCondition(held, 'Programmed')?.status !== 'True') {
        const note = 'Simulated: nothing was started; the instance is marked running';
        deps.recorder(plane).event(instance, { type: 'Normal', reason: 'SimulatedStart', action: 'Start', note });
      }
      return undefined;
    },
  };
}
