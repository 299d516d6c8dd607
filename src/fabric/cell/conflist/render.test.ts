import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { resolveEgress } from '../egress/resolve.ts';
import { type Conflist, renderConflist } from './render.ts';
import { plain, ways } from './testing.ts';

/** `plain` was made by a renderer that had never heard of egress, and stays as it is. */
const golden = {
  plain: new URL('./golden/plain/', import.meta.url),
  egress: new URL('./golden/egress/', import.meta.url),
};
const onFile = (folder: URL, file: string) => readFileSync(new URL(`${file}.conflist`, folder), 'utf8');

describe.each(ways)('%s', (_, suffix, inputs) => {
  test.each(plain)('%s: the bytes are those on file', (file, input) => {
    const { shardSIDs } = resolveEgress(inputs);
    const expected = suffix === undefined ? onFile(golden.plain, file) : onFile(golden.egress, `${file}-${suffix}`);
    expect(renderConflist({ ...input, shardSIDs })).toBe(expected);
  });
});

test('every file is of a case', () => {
  const files = plain.map(([file]) => file);
  const suffixes = ways.flatMap(([, suffix]) => suffix ?? []);
  const named = (names: string[]) => names.map((name) => `${name}.conflist`).sort();
  expect(readdirSync(golden.plain).sort()).toEqual(named(files));
  expect(readdirSync(golden.egress).sort()).toEqual(
    named(files.flatMap((file) => suffixes.map((suffix) => `${file}-${suffix}`))),
  );
});

const dual: Conflist = {
  name: 'web-0-eth0',
  mode: 'Netns',
  vpc: 'CN68xCxt',
  attachment: '1da',
  mtu: 1440,
  addresses: [
    { address: 'fd5a:9:2:0:c::/96', gateway: 'fd5a:9:2::1' },
    { address: '10.70.3.9/32', gateway: '10.70.0.1' },
  ],
  shardSIDs: [],
};

/** Worked examples of the contract (fabric-kinds 8), by length and SHA-256: what other renderers write. */
const examples: [string, Conflist, number, string][] = [
  ['8.1', dual, 403, '868affe83b2361c141ad135f7c715932ebabcbfd42eeae21ff41844fdb89a791'],
  [
    '8.2',
    { ...dual, name: 'vm-0-eth0', mode: 'Hypervisor', vpc: '7kQ', attachment: '1b', addresses: [] },
    238,
    '9bfbdbe53bc455dc1afd23e899d1933de0a3bb79a96fdfcb612d042d10cb000b',
  ],
  [
    '8.3',
    {
      ...dual,
      name: 'web-1-eth0',
      attachment: 'aB',
      addresses: dual.addresses.slice(0, 1),
      shardSIDs: ['2001:db8:ff01:a001:e000::', '2001:db8:ff01:a002:e000::'],
    },
    433,
    'a1b6868616bf515e9e5ae7a508168e116ce5311b04a6ba9d949f4f1d6d791287',
  ],
  [
    '8.5',
    { ...dual, addresses: dual.addresses.map(({ address }) => ({ address })) },
    357,
    '19302d4323a4283ee78d06ed29ab06e71c5e822588173c406197ba72451397d1',
  ],
];

test.each(examples)('example %s of the contract', (_, input, length, sha256) => {
  const text = renderConflist(input);
  expect(text).toHaveLength(length);
  expect(hash('sha256', text, 'hex')).toBe(sha256);
});

test('the order of keys is not the order of the input', () => {
  const { shardSIDs, addresses, mtu, attachment, vpc, mode, name } = dual;
  expect(renderConflist({ shardSIDs, addresses, mtu, attachment, vpc, mode, name })).toBe(renderConflist(dual));
});

test('characters that other encoders escape are escaped', () => {
  const text = renderConflist({ ...dual, name: '<a&b>\u2028\u2029' });
  expect(text).toContain('"name":"\\u003ca\\u0026b\\u003e\\u2028\\u2029"');
  expect(JSON.parse(text)).toMatchObject({ name: '<a&b>\u2028\u2029' });
});
