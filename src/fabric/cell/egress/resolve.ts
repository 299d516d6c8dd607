import { IpAddress } from '../../../address/index.ts';
import {
  type EgressShard,
  EgressShardParameters,
  fabricLabels,
  type NetworkContext,
  reasonMessage,
  type VPCAttachment,
} from '../../../api/index.ts';
import { type Condition, selects } from '../../../meta/index.ts';
import { type Finding, found } from './finding.ts';

/** Everything the way out of a VPC in a cell depends on. Nothing of any attachment: its siblings share the routes (F53). */
export interface EgressInputs {
  context: NetworkContext | undefined;
  /** What the context's `parametersRef` names, where that is ours to read. */
  parameters: EgressShardParameters | undefined;
  /** Shards of the namespace the parameters name, in any order. */
  shards: readonly EgressShard[];
}

export type SourceAddress = NonNullable<
  NonNullable<NonNullable<NonNullable<VPCAttachment['status']>['egress']>['internet']>['sourceAddresses']
>[number];

/** The way out: the conflist's part and the status' part, which therefore agree. */
export interface Egress {
  /** In order of preference; none: no way out. */
  shardSIDs: readonly string[];
  /** What the internet sees, where that can be stated. */
  sourceAddress?: SourceAddress;
  /** InternetEgressReady, where egress is asked for and is ours to give. Names no shard and no parameters. */
  ready?: Pick<Condition, 'status' | 'reason' | 'message'>;
  /** The same for operators, who see what is behind it. */
  finding?: Finding;
}

type Intent = NonNullable<NonNullable<NonNullable<NetworkContext['spec']>['egress']>['internet']>;
type Reference = NonNullable<Intent['parametersRef']>;

const none: Egress = { shardSIDs: [] };
const stabilities = { Shared: 'None', Dedicated: 'Network' } as const;

/** Whether a class' parameters are of our kind. Others are somebody else's, who serves the class in this cell (C.2). */
export function isOurs({ group, kind }: Pick<Reference, 'group' | 'kind'>): boolean {
  return group === EgressShardParameters.group && kind === EgressShardParameters.kind;
}

/** Name of the EgressShardParameters a context's egress is given by; undefined where it asks for none of ours. */
export function parametersNameOf(context: NetworkContext | undefined): string | undefined {
  const { mode, parametersRef } = context?.spec?.egress?.internet ?? {};
  return mode === 'Enabled' && parametersRef !== undefined && isOurs(parametersRef) ? parametersRef.name : undefined;
}

/** Pure. The shards of a VPC in a cell (G1 of reference C.2), and what can be said about them. */
export function resolveEgress({ context, parameters, shards }: EgressInputs): Egress {
  const intent = context?.spec?.egress?.internet;
  // Not stated is not Disabled, and neither is Enabled (F54): only Enabled gives a way out.
  if (intent?.mode !== 'Enabled') return none;
  // Of the families there are, IPv6 is the one that is offered; nothing is assumed about one that is not.
  if (intent.reach !== undefined && !intent.reach.includes('IPv6')) return none;
  const { parametersRef } = intent;
  const location = context?.spec?.location.name;
  if (parametersRef === undefined) {
    return unavailable(location, noParameters(describeClass(intent)));
  }
  if (!isOurs(parametersRef)) return none;
  const { name } = parametersRef;
  const kind = EgressShardParameters.kind;
  if (parameters === undefined) {
    return unavailable(location, noParameters(`${kind} ${name} does not exist`));
  }
  if (parameters.spec === undefined) {
    return unavailable(location, noParameters(`${kind} ${name} has no spec`));
  }
  const { shardNamespace: namespace, shardSelector } = parameters.spec;
  const selected = shards
    .filter(({ metadata }) => metadata.namespace === namespace && selects(shardSelector, metadata.labels ?? {}))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const eligible = selected.filter(({ metadata }) => metadata.labels?.[fabricLabels.egressIPv6] === 'true');
  const used = distinct(eligible);
  const [preferred] = used;
  if (preferred === undefined) {
    const detail = whyNone(selected, eligible);
    const note = reasonMessage('NoEgressShard', { parameters: name, namespace, detail });
    return unavailable(location, found('NoEgressShard', note));
  }
  return withAddress(used, preferred, intent, location);
}

function withAddress(
  used: readonly EgressShard[],
  preferred: EgressShard,
  { sharing }: Intent,
  location: string | undefined,
): Egress {
  const shardSIDs = used.map(({ status }) => status?.shardSID ?? '');
  const address = addressOf(preferred.status?.shardAddressIPv6);
  if (address === undefined || sharing === undefined) {
    const shard = preferred.metadata.name;
    const why = address === undefined ? `shard ${shard} has no IPv6 address` : 'its class says nothing of sharing';
    return {
      shardSIDs,
      ready: {
        status: 'False',
        reason: 'AddressUnavailable',
        message: reasonMessage('AddressUnavailable', { location }),
      },
      finding: found('EgressAddressUnknown', reasonMessage('EgressAddressUnknown', { why })),
    };
  }
  const shards = used.map(({ metadata }) => metadata.name).join(', ');
  return {
    shardSIDs,
    sourceAddress: { family: 'IPv6', address, stability: stabilities[sharing] },
    ready: { status: 'True', reason: 'Ready', message: reasonMessage('Ready', { name: 'Internet egress' }) },
    finding: found('EgressShardsChosen', reasonMessage('EgressShardsChosen', { shards, address })),
  };
}

function unavailable(location: string | undefined, finding: Finding): Egress {
  const message = reasonMessage('Unavailable', { location });
  return { shardSIDs: [], ready: { status: 'False', reason: 'Unavailable', message }, finding };
}

function noParameters(what: string): Finding {
  return found('EgressParametersUnavailable', reasonMessage('EgressParametersUnavailable', { what }));
}

/** Shards with a segment, each segment once: the first of a name stands for it. */
function distinct(shards: readonly EgressShard[]): EgressShard[] {
  const seen = new Set<string>();
  return shards.filter(({ status }) => {
    const segment = addressOf(status?.shardSID);
    if (segment === undefined || seen.has(segment)) return false;
    seen.add(segment);
    return true;
  });
}

/** The address of a text, in the one form addresses are told in; undefined where it leads nowhere. */
function addressOf(text: string | undefined): string | undefined {
  const address = IpAddress.tryParse(text ?? '');
  return address === undefined || address.family !== 6 || address.value === 0n ? undefined : address.toString();
}

function describeClass({ className }: Intent): string {
  return className === undefined ? 'the egress class names none' : `egress class ${className} names none`;
}

const mostNamed = 5;

function whyNone(selected: readonly EgressShard[], eligible: readonly EgressShard[]): string {
  if (selected.length === 0) return 'its selector matches no shard';
  const lacking = selected.filter((shard) => !eligible.includes(shard));
  return [
    ...(eligible.length === 0 ? [] : [`${names(eligible)} without a SID`]),
    ...(lacking.length === 0 ? [] : [`${names(lacking)} without label ${fabricLabels.egressIPv6}="true"`]),
  ].join('; ');
}

function names(shards: readonly EgressShard[]): string {
  const more = shards.length > mostNamed ? ` and ${shards.length - mostNamed} more` : '';
  const shown = shards.slice(0, mostNamed).map(({ metadata }) => metadata.name);
  return `${shown.join(', ')}${more}`;
}
