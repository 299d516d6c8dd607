import { define } from './define.ts';

/** Reasons on the fabric\u2019s kinds, and those the data plane writes on interfaces. */
export const fabricReasons = define({
  IdentifierAllocated: ['nobody', 'The network has its identifier in the data plane.', 'Identifier {vpc} is allocated'],
  AttachmentDefinitionReady: [
    'nobody',
    'The NetworkAttachmentDefinition is in place.',
    'NetworkAttachmentDefinition {name} is in place',
  ],
  AttachmentReady: ['nobody', 'The attachment is prepared: the instance can start.', 'Attachment {name} is prepared'],
  AwaitingNetworkContext: [
    'nobody',
    'The network is not present in this location yet.',
    'Waiting for NetworkContext {context}',
  ],
  AwaitingVPC: ['nobody', 'The network\u2019s VPC is not there yet.', 'Waiting for VPC {vpc}'],
  AwaitingVPCIdentifier: [
    'nobody',
    'The network has no identifier in the data plane yet.',
    'Waiting for the identifier of VPC {vpc}',
  ],
  AwaitingDataPlane: ['nobody', 'The node has not announced the interface yet.', 'Waiting for the data plane'],
  FabricIdentityExhausted: [
    'operator',
    'Every number a network can have in the fabric is taken.',
    'There is no free fabric identity for network {network}',
  ],
  VPCIdentifierExhausted: [
    'operator',
    'Every identifier an attachment can have in the VPC is taken.',
    'VPC {vpc} has no free attachment identifier',
  ],
  AttachmentNameTaken: [
    'operator',
    'An object of the attachment\u2019s name is there and belongs to something else. It is waited for until it is gone.',
    '{kind} {name} belongs to something else',
  ],
  PodOwnerMissing: [
    'platform',
    'A pod that asks for the interfaces of its instance is not controlled by an instance that is there.',
    'The pod is controlled by no Instance[: Instance {instance} is not there, or is another one]',
  ],
  PodInterfaceMissing: [
    'nobody',
    'An interface of the pod\u2019s instance is not bound yet.',
    'Interface {interface} of instance {instance} is not there',
  ],
  PodDefinitionMissing: [
    'nobody',
    'An interface of the pod\u2019s instance has nothing to be attached by yet.',
    'Interface {interface} of instance {instance} has no NetworkAttachmentDefinition',
  ],
  PodIdentifierMissing: [
    'platform',
    'The definition of an interface does not say which attachment it is.',
    'The NetworkAttachmentDefinition of interface {interface} of instance {instance} has no identifiers',
  ],
  EgressShardsChosen: [
    'nobody',
    'Shards carry a network\u2019s traffic to the internet, in the order named.',
    'Internet egress goes by shards {shards}, and is seen as {address}',
  ],
  EgressParametersUnavailable: [
    'operator',
    'The parameters of the egress class can not be read in this cell: make them, or name others in the class.',
    'The egress parameters are not available: {what}',
  ],
  NoEgressShard: [
    'operator',
    'No shard can carry the traffic: one must be selected, have label egress-ipv6 "true" and a SID in its status.',
    'EgressShardParameters {parameters} give no usable shard in namespace {namespace}',
  ],
  EgressAddressUnknown: [
    'operator',
    'The traffic has a way, but nobody can say which address the internet sees.',
    'The source address of internet egress is not known: {why}',
  ],
  VPCIdentifierHeld: [
    'operator',
    'Another VPC of the cell has the number of this network. It gets the number once that one is gone; two of one number would be one network on the wire.',
    'VPC {vpc} is not given identifier {identifier}: {holder} has it',
  ],
  DatapathAttached: ['nobody', 'The shard\u2019s data path is attached.', 'The data path is attached'],
  DatapathNotAttached: [
    'operator',
    'The shard\u2019s data path is not attached (yet, or any more).',
    'The data path is not attached[ on node {node}]',
  ],
  UplinksMissing: [
    'operator',
    'The shard\u2019s data path is not attached on every uplink.',
    'The data path is missing on uplinks {uplinks}',
  ],
  AddressesProgrammed: ['nobody', 'The shard translates with its addresses.', 'The shard translates with {addresses}'],
  AddressUnassigned: ['operator', 'The shard has no address of either family.', 'The shard has no address assigned'],
  ProgrammingFailed: [
    'operator',
    'The data path refused a value; the earlier one stays.',
    'The data path refused {value}',
  ],
  ShardConflict: ['operator', 'More than one shard names the node.', 'Node {node} is named by shards {shards}'],
});
