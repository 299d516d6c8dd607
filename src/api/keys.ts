/** Labels, annotations, finalizers and topology keys: every key that Berth reads or writes, once. */

const networking = 'networking.datumapis.com';
const compute = 'compute.datumapis.com';
const ipam = 'ipam.miloapis.com';

/** Keys by which a place is described. The location is also the label by which objects find their cell. */
export const topologyKeys = {
  location: 'topology.datum.net/location',
  cityCode: 'topology.datum.net/city-code',
  region: 'topology.datum.net/region',
} as const;

/** Labels on the hub's and the cells' namespaces that say which project namespace they stand for. Both, or neither. */
export const upstreamLabels = {
  /** `cluster-<project>`: see `clusterLabel`. */
  clusterName: 'meta.datumapis.com/upstream-cluster-name',
  namespace: 'meta.datumapis.com/upstream-namespace',
} as const;

export const networkingLabels = {
  network: `${networking}/network`,
  location: `${networking}/location`,
  networkUID: `${networking}/network-uid`,
  /** "true" on the copies of an interface. */
  interfaceProjection: `${networking}/network-interface-projection`,
  /** On a copy: name of the claim that holds the interface. */
  heldBy: `${networking}/held-by`,
  /** On a copy: namespace of the interface in its cell. */
  sourceNamespace: `${networking}/source-namespace`,
  /** On a ServingLocation: who published it. */
  publishedBy: `${networking}/published-by`,
} as const;

/** Value of `networkingLabels.publishedBy` on what is published from a Location. */
export const locationPublisherName = 'location-publisher';

/** Labels of an IPClaim that say whom it is for. IPAM keeps indexes of them. */
export const identityLabels = {
  /** UID of the cell's `kube-system` namespace. */
  cellUID: `${networking}/cell-uid`,
  interfaceNamespace: `${networking}/interface-namespace`,
  /** `labelValue` of the name; the annotation of the same key has the whole name. */
  interfaceName: `${networking}/interface-name`,
  /** UID of the claim that holds the interface: a release must match it. */
  holderUID: `${networking}/holder-uid`,
} as const;

export const networkingAnnotations = {
  /** On an interface: name of the claim whose name its IPClaims carry. */
  allocationClaim: `${networking}/allocation-claim`,
  /** On an interface: where its addresses were allocated, recorded with the first of them and used to release them. */
  recordedProject: `${networking}/recorded-project`,
  recordedProjectNamespace: `${networking}/recorded-project-namespace`,
  recordedLocation: `${networking}/recorded-location`,
  /** On an interface nobody holds, with a retention lease: since when. RFC 3339. */
  unheldSince: `${networking}/unheld-since`,
  /** On the hub's copy of an interface its tenant gives back: UID of the interface. */
  returnRequested: `${networking}/return-requested`,
  /** On an IPClaim: name of the interface, where the label of the same key only carries a hash of it. */
  interfaceName: `${networking}/interface-name`,
  /** On a NetworkContext on the hub and in cells: names of the Subnets its ranges are published as, separated by commas. */
  subnets: `${networking}/subnets`,
  /** On a NetworkContext: since when nothing needs it. RFC 3339. */
  unclaimedSince: `${networking}/unclaimed-since`,
  /** On a ServingLocation that is to go. */
  removalBlocked: `${networking}/removal-blocked`,
  removalOverride: `${networking}/removal-override`,
  /** "true" on the InternetEgressClass that networks use by default. */
  isDefaultClass: `${networking}/is-default-class`,
} as const;

/** Starts the annotations of a cell's `kube-system` namespace that name the projects the cell has ever allocated in. */
export const allocatedProjectPrefix = `allocated.${networking}/`;

export const networkingFinalizers = {
  claimRelease: `${networking}/networkinterfaceclaim-release`,
  interfaceRelease: `${networking}/networkinterface-release`,
  /** On the project's copy of an interface: deleting it gives the interface back. */
  interfaceReturn: `${networking}/interface-return`,
  /** On a cell's copy of a context. */
  contextInUse: `${networking}/networkcontext-in-use`,
  contextSubnetRelease: `${networking}/networkcontext-subnet-release`,
  network: `${networking}/network-controller`,
  networkPrefixRelease: `${networking}/network-prefix-release`,
} as const;

/** Labels that start so travel from a claim to its interface and on to the copies. */
export const computeLabelPrefix = `${compute}/`;

export const computeLabels = {
  workloadUID: `${compute}/workload-uid`,
  workloadName: `${compute}/workload-name`,
  deploymentUID: `${compute}/workload-deployment-uid`,
  deploymentName: `${compute}/workload-deployment-name`,
  placementName: `${compute}/placement-name`,
  /** Ordinal of the slot, as decimal text. */
  instanceIndex: `${compute}/instance-index`,
  location: `${compute}/location`,
  runtimeClass: `${compute}/runtime-class`,
  referencedData: `${compute}/referenced-data`,
  serviceName: 'services.miloapis.com/service-name',
} as const;

/** Value of `computeLabels.serviceName` on deployments and instances. */
export const computeServiceName = compute;

export const computeAnnotations = {
  sshKeys: `${compute}/ssh-keys`,
  expectedReferencedData: `${compute}/expected-referenced-data`,
  referencedDataError: `${compute}/referenced-data-error`,
  /** On a companion (what a template references, carried to the cell): the deployment it is for, and its name there. */
  referencedDataOf: `${compute}/referenced-data-of`,
  referencedDataSource: `${compute}/referenced-data-source`,
  referencedDataGateStart: `${compute}/referenced-data-gate-start`,
  /** Of a template: changing it replaces the instances. */
  restartedAt: `${compute}/restartedAt`,
  /** On a project's deployment: the hub namespace its copy is in. */
  federationNamespace: `${compute}/federation-namespace`,
  suspended: `${compute}/suspended`,
  /** On the hub's copy of a deployment, and the cell's: why its binding is refused, as JSON {reason, message}. */
  networkRefusal: `${compute}/network-refusal`,
} as const;

export const computeFinalizers = {
  workload: `${compute}/workload-controller`,
  federator: `${compute}/federator`,
  /** On a claim whose slot has an instance. */
  slotInUse: `${compute}/slot-in-use`,
} as const;

export const schedulingGates = { network: 'Network', quota: 'Quota', referencedData: 'ReferencedData' } as const;

export const ipamLabels = {
  /** On a pool made for a class: name of the class. */
  provisionedBy: `${ipam}/provisioned-by`,
  provisionedFor: `${ipam}/provisioned-for`,
  scopeDigest: `${ipam}/scope-digest`,
} as const;

export const ipamAnnotations = {
  /** "true" on the class of a family that claims get by default. */
  isDefaultClass: `${ipam}/is-default-class`,
} as const;

/** Roles of an IPClaim's scope. `project` is IPAM's own. */
export const scopeRoles = { network: 'network', location: 'location', project: 'project' } as const;

export const fabricLabels = {
  /** On a NetworkAttachmentDefinition: identifiers in base 62; the record of the attachment's. */
  vpc: 'cloud.datumapis.com/vpc',
  vpcAttachment: 'cloud.datumapis.com/vpc-attachment',
  egressPool: 'network.datumapis.com/egress-pool',
  egressCell: 'network.datumapis.com/egress-cell',
  /** "true" on a shard that has an address of the family. */
  egressIPv6: 'network.datumapis.com/egress-ipv6',
  egressIPv4: 'network.datumapis.com/egress-ipv4',
  /** "true" on pods that are to get the interfaces of their instance. */
  injectInterfaces: 'networking.datumapis.com/inject-interfaces',
} as const;

export const fabricAnnotations = {
  hostInterface: 'k8s.v1.cni.cncf.io/host-interface',
  /** On a VPC: no identifier of an attachment beyond this one has been handed out, as decimal text. They go round. */
  attachmentsUntil: 'cloud.datumapis.com/attachments-until',
  /** On a pod: the network it has instead of the cluster’s, and those beside it. */
  defaultNetwork: 'v1.multus-cni.io/default-network',
  networks: 'k8s.v1.cni.cncf.io/networks',
  /** On a pod: the definitions of its instance’s interfaces, in order. */
  injectedInterfaces: 'networking.datumapis.com/injected-interfaces',
  noAddressing: 'galactic.datum.net/no-addressing',
  /** On the hub's `kube-system`: up to which number fabric identities have been handed out. */
  identitiesReserved: 'cloud.datumapis.com/fabric-identities-reserved',
} as const;

export const fabricFinalizers = { vpc: 'cloud.datumapis.com/finalizer' } as const;
