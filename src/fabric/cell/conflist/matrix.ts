import type { Conflist } from './render.ts';

/** The cases whose bytes are kept in `golden/plain/`, by file name. */

const families = {
  dual: [
    { address: 'fd5a:9:2:0:c::/96', gateway: 'fd5a:9:2::1' },
    { address: '10.70.3.9/32', gateway: '10.70.0.1' },
  ],
  ipv6: [{ address: 'fd5a:9:2:0:c::/96', gateway: 'fd5a:9:2::1' }],
  ipv4: [{ address: '10.70.3.9/32', gateway: '10.70.0.1' }],
} as const;

function product(): [string, Conflist][] {
  const cases: [string, Conflist][] = [];
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
export const plain: readonly [file: string, input: Conflist][] = product();
