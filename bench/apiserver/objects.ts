import { crdManifest, NetworkInterface } from '../../src/api/index.ts';
import { apiVersionOf } from '../../src/meta/index.ts';

/** What is written and read: a kind of the platform, with its schema, its defaults and its CEL rules. */
export const definition = crdManifest(NetworkInterface);

/** Path of the collection of a namespace. */
export function collectionPath(namespace: string): string {
  const { group, version, plural } = NetworkInterface;
  return `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;
}

const annotations = Object.fromEntries(
  Array.from({ length: 4 }, (_, index) => [
    `example.com/note-${index}`,
    'what somebody wrote about it '.repeat(4).trim(),
  ]),
);

/** The JSON of an object as a client sends it: 1.4 KB. */
export function objectText(namespace: string, name: string, number: number): string {
  const host = number.toString(16).padStart(8, '0');
  return JSON.stringify({
    apiVersion: apiVersionOf(NetworkInterface),
    kind: NetworkInterface.kind,
    metadata: {
      name,
      namespace,
      labels: { 'example.com/workload': `w-${number % 100}`, 'example.com/slot': `${number}` },
      annotations,
    },
    spec: {
      network: { name: 'default' },
      claimRef: { name: `${name}-claim`, uid: `00000000-0000-4000-8000-0000${host}` },
      interfaceName: 'eth0',
      mtu: 1460,
      addresses: [
        {
          family: 'IPv6',
          address: `fd20:1000::${host.slice(0, 4)}:${host.slice(4)}/96`,
          gateway: 'fd20:1000::1',
          primary: true,
        },
        {
          family: 'IPv4',
          address: `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}/24`,
          gateway: '10.0.0.1',
        },
      ],
      externalAddresses: [{ class: 'public-ipv4', family: 'IPv4', address: `198.51.100.${number & 255}` }],
      reclaimPolicy: 'Retain',
    },
  });
}
