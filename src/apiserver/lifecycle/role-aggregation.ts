import type { Client } from '../../kube/index.ts';
import { ClusterRole, jsonEqual, type PolicyRule, type Stored, selects } from '../../meta/index.ts';
import type { Follower } from './follow.ts';
import type { LifecyclePlane } from './plane.ts';
import { type LifecycleOptions, PlaneWorkers } from './workers.ts';

/** As on Kubernetes: its name as a service account in kube-system, and as the manager of the rules it applies. */
const account = 'clusterrole-aggregation-controller';
const resource = 'rbac.authorization.k8s.io/clusterroles';

/**
 * Fills ClusterRoles that have an aggregation rule with the rules of those it selects, in every plane. All of a plane are
 * looked at together: a role taken in may itself take others in, and each write is a change that is followed.
 */
export class RoleAggregator {
  readonly workers: PlaneWorkers<Client>;

  constructor(options: LifecycleOptions) {
    this.workers = new PlaneWorkers<Client>(options, {
      concurrency: 1,
      about: (request) => `aggregation of cluster roles in ${request.plane}`,
      do: aggregate,
    });
  }

  open(plane: LifecyclePlane): Follower {
    this.workers.open(plane.id, plane.client(account));
    const look = (): void => this.workers.queue.add({ plane: plane.id, namespace: '', name: '' });
    return {
      loaded: () => {},
      listed: look,
      changed: (event) => {
        if (event.key.resource === resource) look();
      },
    };
  }
}

async function aggregate(client: Client): Promise<void> {
  const { items } = await client.list(ClusterRole);
  for (const role of items) {
    const rules = aggregatedRules(role, items);
    if (rules === undefined || jsonEqual(rules, role.rules ?? [])) continue;
    const body = { apiVersion: role.apiVersion, kind: role.kind, metadata: { name: role.metadata.name }, rules };
    const key = { namespace: '', name: role.metadata.name };
    await client.patch(ClusterRole, key, { type: 'apply', body, fieldManager: account, force: true });
  }
}

/** The rules `role` collects from `all`, in order of name, each once; undefined where it collects none by itself. */
export function aggregatedRules(
  role: Stored<ClusterRole>,
  all: readonly Stored<ClusterRole>[],
): PolicyRule[] | undefined {
  const selectors = role.aggregationRule?.clusterRoleSelectors;
  if (selectors === undefined) return undefined;
  const rules: PolicyRule[] = [];
  const chosen = all
    .filter(({ metadata }) => metadata.name !== role.metadata.name)
    .filter(({ metadata }) => selectors.some((selector) => selects(selector, metadata.labels ?? {})))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  for (const rule of chosen.flatMap((each) => each.rules ?? [])) {
    if (!rules.some((known) => jsonEqual(known, rule))) rules.push(rule);
  }
  return rules;
}
