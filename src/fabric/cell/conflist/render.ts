import type { AttachmentMode } from '../../../api/index.ts';

/** What a node is told about one attachment. */
export interface Conflist {
  /** Name of the attachment, which is the definition's too. */
  name: string;
  mode: AttachmentMode;
  /** Identifiers as they are published: base 62, unpadded. */
  vpc: string;
  attachment: string;
  /** Bytes; absent where the interface states none. */
  mtu?: number | undefined;
  /** In the interface's order, its texts unchanged. */
  addresses: readonly { address: string; gateway?: string | undefined }[];
  /** The way to the internet, in order of preference; none: no way, and no word of it. */
  shardSIDs: readonly string[];
}

const cniVersion = '1.0.0';
/** Where node software keeps its objects: the same everywhere. */
const namespace = 'galactic-system';
const masters: Readonly<Record<AttachmentMode, string>> = { Netns: 'galactic-veth', Hypervisor: 'galactic-tap' };

/**
 * Pure. The CNI configuration list of an attachment (reference B.2 and fabric-kinds 8): compact JSON, keys in one fixed
 * order, what is not stated left out. The same input gives the same bytes, so that comparing texts is comparing meaning.
 */
export function renderConflist({ name, mode, vpc, attachment, mtu, addresses, shardSIDs }: Conflist): string {
  const ids = { vpc, vpcattachment: attachment, namespace };
  const master = {
    type: masters[mode],
    ...ids,
    ...(mtu === undefined ? {} : { mtu }),
    ...(addresses.length === 0 ? {} : { ipam: { type: 'galactic-ipam', addresses: addresses.map(addressOf) } }),
  };
  const bgp = { type: 'galactic-bgp', ...ids, ...(shardSIDs.length === 0 ? {} : { egress: { shardSIDs } }) };
  return encode({ cniVersion, name, plugins: [master, bgp] });
}

function addressOf({ address, gateway }: Conflist['addresses'][number]) {
  return gateway === undefined ? { address } : { address, gateway };
}

/** JSON as the other renderer's encoder writes it: a few more characters are escaped. */
function encode(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
