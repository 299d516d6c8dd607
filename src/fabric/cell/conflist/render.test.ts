import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { plain } from './matrix.ts';
import { type Conflist, renderConflist } from './render.ts';

const golden = new URL('./golden/plain/', import.meta.url);

test.each(plain)('%s: the bytes are those on file', (file, input) => {
  expect(renderConflist(input)).toBe(readFileSync(new URL(`${file}.conflist`, golden), 'utf8'));
});

test('every file is of a case', () => {
  expect(readdirSync(golden).sort()).toEqual(plain.map(([file]) => `${file}.conflist`).sort());
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
};

/** Worked examples of the contract (fabric-kinds 8), by length and SHA-256: what other renderers write. */
const examples: [string, Conflist, number, string][] = [
  ['8.1', dual, 403, '868affe83b2361c141ad135f7c715932ebabcbfd42eeae21ff41844fdb89a791'],
  [
    '8.2',
    { name: 'vm-0-eth0', mode: 'Hypervisor', vpc: '7kQ', attachment: '1b', mtu: 1440, addresses: [] },
    238,
    '9bfbdbe53bc455dc1afd23e899d1933de0a3bb79a96fdfcb612d042d10cb000b',
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
  const { addresses, mtu, attachment, vpc, mode, name } = dual;
  expect(renderConflist({ addresses, mtu, attachment, vpc, mode, name })).toBe(renderConflist(dual));
});

test('characters that other encoders escape are escaped', () => {
  const text = renderConflist({ ...dual, name: '<a&b>\u2028\u2029' });
  expect(text).toContain('"name":"\\u003ca\\u0026b\\u003e\\u2028\\u2029"');
  expect(JSON.parse(text)).toMatchObject({ name: '<a&b>\u2028\u2029' });
});
