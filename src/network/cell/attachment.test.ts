import { expect, test } from 'vitest';
import { VPCAttachment } from '../../api/index.ts';
import { apiVersionOf, type KubeObject } from '../../meta/index.ts';
import { egressSaid, saysOtherwise } from './attachment.ts';
import { interfaceOf } from './claim/testing.ts';

const attachmentRef = { apiGroup: 'cloud.datumapis.com', kind: 'VPCAttachment', name: 'nic' };
const networkInterface = interfaceOf({ status: { attachmentRef } });
const shared = { family: 'IPv6', address: '2001:db8:f00d:1::100', stability: 'None' };
const translated = { family: 'IPv4', address: '192.0.2.1', stability: 'Network' };

function attachmentSaying(status: unknown, name = 'nic'): KubeObject {
  return {
    apiVersion: apiVersionOf(VPCAttachment),
    kind: 'VPCAttachment',
    metadata: { name, namespace: 'ns' },
    status,
  };
}

const of = (sourceAddresses: unknown) =>
  egressSaid(networkInterface, attachmentSaying({ egress: { internet: { sourceAddresses } } }));

test('what an attachment says of egress is said by family, whichever order it came in', () => {
  expect(of([shared, translated])).toEqual({ egress: { internet: { sourceAddresses: [translated, shared] } } });
});

test('its condition comes along', () => {
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'AttachmentDefinitionReady', message: 'in place' },
    { type: 'InternetEgressReady', status: 'False', reason: 'Unavailable', message: 'not available', extra: 1 },
  ];
  expect(egressSaid(networkInterface, attachmentSaying({ conditions }))).toEqual({
    ready: { status: 'False', reason: 'Unavailable', message: 'not available' },
  });
});

test.each([
  ['a family twice', [shared, { ...shared, address: '2001:db8::1' }]],
  ['a field missing', [{ family: 'IPv6', address: '2001:db8::1' }]],
  ['another stability', [{ ...shared, stability: 'Forever' }]],
  ['another family', [{ ...shared, family: 'IPv5' }]],
  ['an address too long', [{ ...shared, address: 'f'.repeat(40) }]],
  ['no address', [{ ...shared, address: '' }]],
  ['an empty list', []],
  ['no list', 'IPv6'],
  ['no object', [null]],
])('%s: nothing is said', (_, sourceAddresses) => {
  expect(of(sourceAddresses)).toEqual({});
});

test('an attachment of another name or kind than the interface names says nothing', () => {
  const status = { egress: { internet: { sourceAddresses: [shared] } } };
  expect(egressSaid(networkInterface, attachmentSaying(status, 'another'))).toEqual({});
  expect(egressSaid(networkInterface, { ...attachmentSaying(status), kind: 'Other' })).toEqual({});
  expect(egressSaid(networkInterface, { ...attachmentSaying(status), apiVersion: 'cloud.example.com/v1' })).toEqual({});
  expect(egressSaid(interfaceOf(), attachmentSaying(status))).toEqual({});
  expect(egressSaid(networkInterface, undefined)).toEqual({});
});

test('only what is said of egress makes somebody look again', () => {
  const before = attachmentSaying({ node: 'node-a', conditions: [] });
  expect(saysOtherwise(before, attachmentSaying({ node: 'node-b', conditions: [] }))).toBe(false);
  expect(saysOtherwise(before, attachmentSaying({ node: 'node-a', egress: {} }))).toBe(true);
});
