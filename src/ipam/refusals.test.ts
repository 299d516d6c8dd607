import { beforeEach, expect, test } from 'vitest';
import { isReason } from '../api/index.ts';
import { apiVersion, type IPAllocation, type IPClaim } from './objects.ts';
import { refusalOf, TestIpam } from './testing.ts';
import { brief, expected, type Requests, refusals, setUp } from './testing-refusals.ts';

let ipam: TestIpam;
let requests: Requests;

beforeEach(async () => {
  ipam = new TestIpam(60);
  requests = {
    create: (plural, object) => ipam.create('alpha', plural, object),
    delete: (plural, name, namespace) => ipam.delete('alpha', plural, name, namespace),
    allocations: async () => ipam.list<IPAllocation>('alpha', 'ipallocations'),
  };
  await setUp(requests);
});

const names = Object.keys(expected) as (keyof typeof expected)[];

test.each(names)('%s is refused, says why and what would help, and changes nothing', async (name) => {
  const before = ipam.snapshot();
  expect(brief(await refusalOf(refusals(requests)[name]()))).toEqual(expected[name]);
  expect(ipam.snapshot()).toBe(before);
});

test('a request without a project is refused, and changes nothing', async () => {
  const before = ipam.snapshot();
  const metadata = { name: 'new', namespace: 'default' };
  const claim: IPClaim = { apiVersion, kind: 'IPClaim', metadata, spec: { className: 'plain' } };
  expect(brief(await refusalOf(ipam.create(undefined, 'ipclaims', claim)))).toEqual([
    '400 BadRequest',
    '/',
    'NoProjectScope',
    'the request carries no project; send it through the path of a project',
  ]);
  expect(ipam.snapshot()).toBe(before);
});

test('every cause of ours is in the table of reasons', () => {
  const causes = Object.values(expected).flatMap(([, , list]) => list.split(', ').map((cause) => cause.split(' ')[0]!));
  const ours = new Set([...causes, 'NoProjectScope'].filter((cause) => cause !== '' && !cause.startsWith('Field')));
  expect(ours).toEqual(new Set([...ours].filter(isReason)));
  expect([...ours].sort()).toEqual([
    'AddressInUse',
    'AllocationRetained',
    'ClaimExists',
    'ClassNotFound',
    'DependsOn',
    'Exhausted',
    'NoDefaultClass',
    'NoOfferingPool',
    'NoProjectScope',
    'PrefixLengthRejected',
    'ScopeRolesMissing',
  ]);
});
