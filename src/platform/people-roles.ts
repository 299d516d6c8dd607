import { IPClaim, kindsOf, Network, NetworkPolicy, SubnetClaim, Workload } from '../api/index.ts';
import { aggregatedInto } from '../apiserver/index.ts';
import type { ClusterRole, PolicyRule, ResourceType } from '../meta/index.ts';
import type { PlaneRef } from './planes.ts';

/** What people of a project write. Everything else in it is written by controllers, or set up by who administers it. */
const written: readonly ResourceType[] = [Network, NetworkPolicy, SubnetClaim, Workload, IPClaim];

const reads = ['get', 'list', 'watch'];
const writes = ['create', 'delete', 'deletecollection', 'patch', 'update'];

/** What the kinds of a plane add to the roles people are given: view, edit and admin. */
export function peopleRoles(role: PlaneRef['role']): ClusterRole[] {
  const kinds = kindsOf(role);
  const subresources = kinds.flatMap(({ group, plural, subresources: { status, scale } }) => [
    ...(status ? [{ group, plural: `${plural}/status` }] : []),
    ...(scale === undefined ? [] : [{ group, plural: `${plural}/scale` }]),
  ]);
  const people = kinds.filter((kind) =>
    written.some((each) => each.plural === kind.plural && each.group === kind.group),
  );
  const scales = subresources.filter(({ plural }) => people.some((kind) => plural === `${kind.plural}/scale`));
  const roles = [
    aggregatedInto('view', 'berth:aggregate-to-view', rules([...kinds, ...subresources], reads)),
    aggregatedInto('edit', 'berth:aggregate-to-edit', rules([...people, ...scales], writes)),
    aggregatedInto('admin', 'berth:aggregate-to-admin', rules([...kinds, ...subresources], writes)),
  ];
  return roles.filter((each) => each.rules.length > 0);
}

function rules(resources: readonly { group: string; plural: string }[], verbs: string[]): PolicyRule[] {
  return resources.map(({ group, plural }) => ({ verbs, apiGroups: [group], resources: [plural] }));
}
