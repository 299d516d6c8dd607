import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  claimName,
  clusterLabel,
  contextName,
  deploymentName,
  fabricIdentityName,
  hashedName,
  hubNamespaceName,
  instanceName,
  ipClaimName,
  ipClaimNameParts,
  joinName,
  labelValue,
  networkRangeClaimName,
  projectOfClusterLabel,
  subnetName,
  subnetRangeClaimName,
} from './names.ts';

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const sha = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);

describe('names that join parts', () => {
  it('are readable where they fit', () => {
    expect(contextName('default', 'us-central-1')).toBe('default-us-central-1');
    expect(subnetName('default-us-central-1', 'IPv6')).toBe('default-us-central-1-ipv6');
    expect(deploymentName('web', 'us', 'us-central-1')).toBe('web-us-us-central-1');
    expect(instanceName('web-us-us-central-1', 0)).toBe('web-us-us-central-1-0');
    expect(claimName('web-us-us-central-1-0', 'eth0')).toBe('web-us-us-central-1-0-eth0');
    expect(ipClaimName('web-0-eth0', { family: 'IPv6' })).toBe('web-0-eth0-f-ipv6');
    expect(ipClaimName('web-0-eth0', { family: 'IPv4' })).toBe('web-0-eth0-f-ipv4');
    expect(ipClaimName('web-0-eth0', { class: 'public-unicast-ipv4' })).toBe('web-0-eth0-c-public-unicast-ipv4');
    expect(networkRangeClaimName('u1', 'IPv6')).toBe('network-u1');
    expect(networkRangeClaimName('u1', 'IPv4')).toBe('network-u1-ipv4');
    expect(subnetRangeClaimName('u2', 'IPv6')).toBe('networkcontext-u2');
    expect(hubNamespaceName('u3')).toBe('ns-u3');
    expect(fabricIdentityName(42)).toBe('id-42');
  });

  it('are cut and end with a hash over the parts and NUL where they are too long', () => {
    const instance = 'i'.repeat(250);
    const name = claimName(instance, 'eth0');
    expect(name).toBe(`${'i'.repeat(240)}-${sha(`${instance}\0eth0`)}`);
    expect(name).toHaveLength(253);
  });

  it('are made legal, and hashed, where a part is not', () => {
    expect(claimName('web-0', 'Eth_0')).toBe(`web-0-eth-0-${sha('web-0\0Eth_0')}`);
    expect(joinName(['..', '_'])).toBe(sha('..\0_'));
    expect(hashedName(['a.', '.b'])).toMatch(subdomain);
  });

  it('differ, once hashed, for parts whose readable name is the same', () => {
    expect(joinName(['a-b', 'c'])).toBe(joinName(['a', 'b-c']));
    expect(hashedName(['a-b', 'c'])).not.toBe(hashedName(['a', 'b-c']));
    expect(hashedName(ipClaimNameParts('web-0-eth0', { family: 'IPv6' }))).toBe(
      `web-0-eth0-f-ipv6-${sha('web-0-eth0\0f-ipv6')}`,
    );
  });

  it('are legal and short enough whatever the parts', () => {
    const anyText = fc.string({ unit: 'grapheme', maxLength: 200 });
    const awkwardText = fc.string({ unit: fc.constantFrom('a', '0', '.', '-', '_', 'A', '\0'), maxLength: 300 });
    fc.assert(
      fc.property(fc.array(fc.oneof(anyText, awkwardText), { minLength: 1 }), (parts) => {
        for (const maxLength of [253, 63]) {
          for (const name of [joinName(parts, { maxLength }), hashedName(parts, { maxLength })]) {
            expect(name).toMatch(subdomain);
            expect(name.length).toBeLessThanOrEqual(maxLength);
          }
        }
      }),
    );
  });
});

describe('labelValue', () => {
  it('keeps what a label can carry and hashes what it can not', () => {
    expect(labelValue('Web_0.eth0')).toBe('Web_0.eth0');
    expect(labelValue('')).toBe('');
    const long = 'x'.repeat(64);
    expect(labelValue(long)).toBe(`${'x'.repeat(50)}-${sha(long)}`);
    expect(labelValue('a/b')).toBe(`a-b-${sha('a/b')}`);
  });

  it('is a label value whatever the text, and differs for different texts', () => {
    const valid = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), fc.string({ maxLength: 300 }), (a, b) => {
        expect(labelValue(a)).toMatch(valid);
        expect(labelValue(a).length).toBeLessThanOrEqual(63);
        if (a !== b) expect(labelValue(a)).not.toBe(labelValue(b));
      }),
    );
  });
});

describe('the upstream-cluster-name label', () => {
  it('names a project, in its present form and in the older one', () => {
    expect(clusterLabel('alpha')).toBe('cluster-alpha');
    expect(clusterLabel('org/alpha')).toBe('cluster-org_alpha');
    expect(projectOfClusterLabel('cluster-alpha')).toBe('alpha');
    expect(projectOfClusterLabel('cluster-org_alpha')).toBe('org/alpha');
    expect(projectOfClusterLabel('cluster-_alpha')).toBe('alpha');
  });

  it('names no project where it is something else', () => {
    for (const label of [undefined, '', 'alpha', 'cluster-', 'cluster-_', 'cluster']) {
      expect(projectOfClusterLabel(label)).toBeUndefined();
    }
  });
});
