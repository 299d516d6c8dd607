import {
  NetworkAttachmentDefinition,
  NetworkContext,
  NetworkInterface,
  VPC,
  VPCAttachment,
} from '../../../api/index.ts';
import type { Plane, Request, Watch } from '../../../kube/index.ts';
import { findCondition, type KubeObject, type ResourceType, type Stored } from '../../../meta/index.ts';
import { inNamespace, requestOf } from '../cell.ts';
import { followEgress, hasChanged, observeEgress } from '../egress/follow.ts';
import { resolveEgress } from '../egress/resolve.ts';
import { indexIdentifiers } from './identifiers.ts';
import type { Snapshot } from './snapshot.ts';

const byContext = 'fabric/context';
const byVpcName = 'fabric/vpc-name';
const byWaiting = 'fabric/waiting-for-identifier';

/** Everything that can change the decision about an attachment looks at that one again; a VPC's way out, at all of it. */
export function watchAttachments(plane: Plane, watch: Watch): void {
  const interfaces = plane.informer(NetworkInterface);
  const attachments = plane.informer(VPCAttachment);
  indexIdentifiers(plane);
  interfaces.addIndex(byContext, (object) => {
    const name = object.status?.networkContextRef?.name;
    return name === undefined ? [] : [inNamespace(object, name)];
  });
  attachments.addIndex(byVpcName, (attachment) => [inNamespace(attachment, attachment.spec.vpc.name)]);

  /** A context, its VPC and what is attached to it go by one name. */
  const ofVpc = (key: string): Request[] => {
    const found = new Map<string, Request>();
    for (const each of [...interfaces.byIndex(byContext, key), ...attachments.byIndex(byVpcName, key)]) {
      found.set(each.metadata.name, requestOf(plane, each));
    }
    return [...found.values()];
  };

  watch.on(plane, NetworkInterface);
  watch.on(plane, VPCAttachment);
  watch.on(plane, NetworkAttachmentDefinition);
  followEgress(plane, watch, (context) => ofVpc(inNamespace(context, context.metadata.name)));
  watch.on(plane, VPC, (vpc, event) =>
    hasChanged(event, ({ metadata, status }) => [
      metadata.uid,
      metadata.ownerReferences,
      metadata.deletionTimestamp,
      status?.vpc,
    ])
      ? ofVpc(inNamespace(vpc, vpc.metadata.name))
      : [],
  );
  // An identifier has come free, once neither object has it: whoever found none looks again.
  interfaces.addIndex(byWaiting, (object) => (isExhausted(object) ? [object.metadata.namespace ?? ''] : []));
  const waiting = ({ metadata }: KubeObject): Request[] =>
    interfaces.byIndex(byWaiting, metadata.namespace ?? '').map((object) => requestOf(plane, object));
  for (const type of [NetworkAttachmentDefinition, VPCAttachment] as ResourceType[]) {
    watch.on(plane, type, (object, event) => (event.type === 'deleted' ? waiting(object) : []));
  }
}

function isExhausted({ status }: Stored<NetworkInterface>): boolean {
  return findCondition(status?.conditions, 'Prepared')?.reason === 'VPCIdentifierExhausted';
}

/** One read of the caches, without a pause in which they could move on. */
export function observe(plane: Plane, networkInterface: Stored<NetworkInterface>, now: number): Snapshot {
  const { namespace = '', name } = networkInterface.metadata;
  const attachment = plane.informer(VPCAttachment).get(namespace, name);
  const contextName = networkInterface.status?.networkContextRef?.name ?? attachment?.spec.vpc.name;
  const context = contextName === undefined ? undefined : plane.informer(NetworkContext).get(namespace, contextName);
  return {
    networkInterface,
    contextName,
    context,
    vpc: contextName === undefined ? undefined : plane.informer(VPC).get(namespace, contextName),
    attachment,
    definition: plane.informer(NetworkAttachmentDefinition).get(namespace, name),
    egress: resolveEgress(observeEgress(plane, context)),
    now,
  };
}
