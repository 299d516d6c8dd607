import { NetworkContext, reasonMessage, Subnet, SubnetClaim } from '../../../api/index.ts';
import { type Controller, mergeStatus, type Request } from '../../../kube/index.ts';
import {
  apiVersionOf,
  controllerReference,
  findCondition,
  isTerminating,
  type Stored,
  withCondition,
} from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { cityPrefixLength } from './subnet.ts';

const reads = ['get', 'list', 'watch'];
const byContext = 'legacy/context';
const { group } = SubnetClaim;

/** SubnetClaims, as they were (C.19): each has the Subnet of its name, which goes with its context. */
export function legacySubnetClaimController(deps: NetworkDeps): Controller {
  return {
    name: 'network-project-subnetclaim',
    rules: {
      project: [
        { apiGroups: [group], resources: ['subnetclaims', 'networkcontexts'], verbs: reads },
        { apiGroups: [group], resources: ['subnetclaims/status'], verbs: ['patch'] },
        { apiGroups: [group], resources: ['subnets'], verbs: [...reads, 'create'] },
        { apiGroups: [group], resources: ['networkcontexts/finalizers'], verbs: ['update'] },
      ],
    },

    engage(plane, _planes, watch) {
      watch.on(plane, SubnetClaim);
      const claims = plane.informer(SubnetClaim);
      claims.addIndex(byContext, ({ metadata, spec }) => [
        `${metadata.namespace ?? ''}/${spec?.networkContext.name ?? ''}`,
      ]);
      watch.on(plane, Subnet);
      watch.on(plane, NetworkContext, ({ metadata }): Request[] =>
        claims
          .byIndex(byContext, `${metadata.namespace ?? ''}/${metadata.name}`)
          .map((claim) => ({ plane: plane.id, namespace: metadata.namespace ?? '', name: claim.metadata.name })),
      );
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const claim = plane?.informer(SubnetClaim).get(request.namespace, request.name);
      if (plane === undefined || claim?.spec === undefined || isTerminating(claim)) return undefined;
      const context = plane.informer(NetworkContext).get(request.namespace, claim.spec.networkContext.name);
      let subnet = plane.informer(Subnet).get(request.namespace, request.name);
      if (subnet === undefined && context !== undefined && !isTerminating(context)) {
        subnet = await plane.client.create(Subnet, subnetOf(claim.spec, claim, context));
      }
      await mergeStatus(plane.client, SubnetClaim, claim, claimStatus(claim, subnet, deps.clock.now()));
      return undefined;
    },
  };
}

function subnetOf(
  { startAddress = '', prefixLength = cityPrefixLength, ...spec }: NonNullable<SubnetClaim['spec']>,
  { metadata }: Stored<SubnetClaim>,
  context: Stored<NetworkContext>,
): Subnet {
  return {
    apiVersion: apiVersionOf(Subnet),
    kind: Subnet.kind,
    metadata: {
      name: metadata.name,
      namespace: metadata.namespace ?? '',
      ownerReferences: [controllerReference(context)],
    },
    spec: { ...spec, startAddress, prefixLength },
  };
}

/** Pure. What a claim says of its Subnet, and why not where there is none yet. */
export function claimStatus(
  claim: Stored<SubnetClaim>,
  subnet: Stored<Subnet> | undefined,
  now: number,
): NonNullable<SubnetClaim['status']> {
  const { name, generation: observedGeneration = 1 } = claim.metadata;
  const ready = findCondition(subnet?.status?.conditions, 'Ready')?.status === 'True';
  const reason = ready ? 'SubnetReady' : 'SubnetNotReady';
  const said = {
    type: 'Ready',
    status: ready ? 'True' : 'False',
    reason,
    message: reasonMessage(reason, { subnet: name }),
    observedGeneration,
  } as const;
  const conditions = withCondition(claim.status?.conditions, said, now);
  const { startAddress, prefixLength } = subnet?.status ?? {};
  return {
    ...(subnet === undefined ? {} : { subnetRef: { name } }),
    ...(startAddress === undefined ? {} : { startAddress }),
    ...(prefixLength === undefined ? {} : { prefixLength }),
    conditions,
  };
}
