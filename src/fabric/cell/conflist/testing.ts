import type { EgressInputs } from '../egress/resolve.ts';
import { contextOf, egressTo, parametersOf, shardOf } from '../egress/testing.ts';
import type { Conflist } from './render.ts';

/** The cases whose bytes are kept in `golden/`, by file name. */

const families = {
  dual: [
    { address: 'fd5a:9:2:0:c::/96', gateway: 'fd5a:9:2::1' },
    { address: '10.70.3.9/32', gateway: '10.70.0.1' },
  ],
  ipv6: [{ address: 'fd5a:9:2:0:c::/96', gateway: 'fd5a:9:2::1' }],
  ipv4: [{ address: '10.70.3.9/32', gateway: '10.70.0.1' }],
} as const;

type Plain = Omit<Conflist, 'shardSIDs'>;

function product(): [string, Plain][] {
  const cases: [string, Plain][] = [];
  for (const mode of ['Netns', 'Hypervisor'] as const) {
    for (const [name, addresses] of Object.entries(families)) {
      for (const mtu of [1440, undefined]) {
        const file = [mode.toLowerCase(), name, mtu === undefined ? 'no-mtu' : 'mtu'].join('-');
        cases.push([file, { name: 'web-0-eth0', mode, vpc: 'CN68xCxt', attachment: '1da', mtu, addresses }]);
      }
    }
  }
  return cases;
}

/** Netns and tap, one family and two, with and without MTU: an attachment that knows nothing of egress. */
export const plain: readonly [file: string, input: Plain][] = product();

const parameters = parametersOf('public');
const shards = [1, 2, 3].map((number) => shardOf(`egress-${number}`, { sid: `2001:db8:ff01:a00${number}:e000::` }));
const enabled = contextOf(egressTo('public'));

/** What a network may ask for and get, by the name it has in `golden/egress`; undefined: the bytes are the plain ones. */
export const ways: readonly [what: string, suffix: string | undefined, inputs: EgressInputs][] = [
  ['egress never stated', undefined, { context: contextOf(undefined), parameters, shards }],
  ['Disabled', undefined, { context: contextOf({ ...egressTo('public'), mode: 'Disabled' }), parameters, shards }],
  ['Enabled without a shard', undefined, { context: enabled, parameters, shards: [] }],
  ['Enabled with one shard', '1-shard', { context: enabled, parameters, shards: shards.slice(0, 1) }],
  ['Enabled with three shards', '3-shards', { context: enabled, parameters, shards }],
];
