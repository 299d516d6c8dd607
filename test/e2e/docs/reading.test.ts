import { expect, test } from 'vitest';
import { Reading } from './reading.ts';

/** Whether two texts, read from their beginnings, say the same. */
function same(one: string, other: string): boolean {
  return new Reading().read(one) === new Reading().read(other);
}

test('ages, times, ports and the width of columns may differ', () => {
  expect(same('NAME   AGE   READY\nweb    5s    True', 'NAME   AGE     READY\nweb    12m3s   True')).toBe(true);
  expect(same('at 2026-01-02T03:04:05Z', 'at 2027-05-06T07:08:09Z')).toBe(true);
  expect(same('https://127.0.0.1:7443', 'https://127.0.0.1:40123')).toBe(true);
});

test('words, counts and names may not', () => {
  expect(same('web   5s   True', 'web   5s   False')).toBe(false);
  expect(same('2 of 6 instances wait', '3 of 6 instances wait')).toBe(false);
  expect(same('web-0   Bound', 'web-1   Bound')).toBe(false);
});

test('other addresses may be seen, as long as the same ones are the same', () => {
  expect(same('a 10.128.0.2\nb 10.128.0.3\na 10.128.0.2', 'a 10.128.0.7\nb 10.128.0.5\na 10.128.0.7')).toBe(true);
  expect(same('a 10.128.0.2\nb 10.128.0.3\na 10.128.0.2', 'a 10.128.0.7\nb 10.128.0.5\na 10.128.0.5')).toBe(false);
  expect(same('fd20:1000::1:0:0/96, fd20:1000::1:0:0', 'fd20:1000::2:0:0/96, fd20:1000::2:0:0')).toBe(true);
  expect(same('fd20:1000::1:0:0/96, fd20:1000::1:0:0', 'fd20:1000::2:0:0/96, fd20:1000::3:0:0')).toBe(false);
});

test('addresses of another pool, and blocks of another size, are not the same', () => {
  expect(same('10.128.0.2', '198.51.100.2')).toBe(false);
  expect(same('10.128.0.0/20', '10.128.0.0/24')).toBe(false);
});

test('UIDs and hashes are known again', () => {
  const uid = '490dea6a-b7bc-47ff-82d9-d61dd6f5cb05';
  const other = '839e7b52-aebc-43c7-8b70-564cd8276355';
  expect(same(`network-${uid} ${uid}`, `network-${other} ${other}`)).toBe(true);
  expect(same(`network-${uid} ${uid}`, `network-${other} ${uid}`)).toBe(false);
  expect(same('subnet-ipv4-default-6ad2e7b8', 'subnet-ipv4-default-49f8fc83')).toBe(true);
});
