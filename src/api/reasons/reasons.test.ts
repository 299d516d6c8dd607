import { describe, expect, it } from 'vitest';
import { isReason, reasonGroups, reasonInfo, reasonMessage } from './index.ts';

const codes = reasonGroups.flatMap((group) => group.codes);

describe('the table of reasons', () => {
  it('names each reason once, in a form a condition can carry', () => {
    expect(new Set(codes).size).toBe(codes.length);
    for (const code of codes) expect(code).toMatch(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/);
  });

  it('has templates whose parts are well formed, and descriptions that are sentences', () => {
    for (const code of codes) {
      const { template, description } = reasonInfo(code);
      expect(template.replace(/\[[^[\]]*\{\w+\}[^[\]]*\]/g, '').replace(/\{\w+\}/g, ''), code).not.toMatch(/[[\]{}]/);
      expect(description, code).toMatch(/^[A-Z\u2019].*\.$/);
    }
  });

  it('tells reasons from other words', () => {
    expect(isReason('AddressPoolExhausted')).toBe(true);
    expect(isReason('toString')).toBe(false);
    expect(isReason('__proto__')).toBe(false);
  });

  it.each([
    [
      'IPAMAllocated',
      ['Allocated', 'ProjectNamespaceNotFound', 'RangeOccupied', 'RangeUnsupported', 'AllocationFailed'],
    ],
    [
      'NetworkBinding',
      ['NetworkNotFound', 'LocationNotAvailable', 'NetworkContextNotReady', 'NetworkContextTerminating'],
    ],
    [
      'claims',
      ['NotBound', 'NotAllocated', 'NotPrepared', 'NotProgrammed', 'SubnetGatewayUnusable', 'NetworkMismatch'],
    ],
    ['instances', ['SchedulingGatesPresent', 'ImageUnavailable', 'QuotaNoBudget', 'PendingProgramming', 'Stopping']],
    ['the data plane', ['AwaitingVPC', 'AttachmentReady', 'DatapathAttached', 'ShardConflict', 'IdentifierAllocated']],
    ['IPAM', ['Exhausted', 'AllocationRetained', 'ClaimExists', 'ClassNotFound', 'NoDefaultClass', 'NoProjectScope']],
    ['ours', ['Expiring', 'InterfaceHeld', 'NetworkReferenceInvalid', 'DependsOn']],
  ])('has the reasons of %s', (_, expected) => {
    for (const code of expected) expect(isReason(code), code).toBe(true);
  });
});

describe('reasonMessage', () => {
  it('fills in what is known and ends with its place in the documentation', () => {
    expect(
      reasonMessage('AddressPoolExhausted', { class: 'public-unicast-ipv4', pool: 'public', location: 'us-central-1' }),
    ).toBe(
      'No free address of class public-unicast-ipv4 in pool public in location us-central-1 (see reasons.md#addresspoolexhausted)',
    );
    expect(reasonMessage('AddressPoolExhausted')).toBe('No free address (see reasons.md#addresspoolexhausted)');
  });

  it('adds the cause another component told', () => {
    expect(reasonMessage('AllocationFailed', { request: 'the IPv6 address', detail: 'connect ECONNREFUSED' })).toBe(
      'IPAM could not serve the IPv6 address: connect ECONNREFUSED (see reasons.md#allocationfailed)',
    );
  });

  it('never reads a value as a template', () => {
    expect(reasonMessage('NetworkNotFound', { network: '{namespace}[x]$&', namespace: 'default' })).toBe(
      'Network {namespace}[x]$& does not exist in namespace default (see reasons.md#networknotfound)',
    );
  });

  it('asks for the parameters of its template', () => {
    // @ts-expect-error: network is missing
    expect(reasonMessage('NetworkNotFound', {})).toContain('(unknown)');
    // @ts-expect-error: there is no such reason
    expect(() => reasonMessage('NoSuchReason')).toThrow();
  });
});
