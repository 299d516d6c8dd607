import { describe, expect, it } from 'vitest';
import type { InternetEgressClass, NetworkContext } from '../../../api/index.ts';
import { trustedSpec } from './trusted.ts';

type Spec = NonNullable<NetworkContext['spec']>;

const base: Spec = { network: { name: 'net' }, location: { name: 'loc' }, mtu: 1460 };
const parametersRef = { group: 'cloud.datumapis.com', kind: 'EgressShardParameters', name: 'gold' };
const forged = { ...parametersRef, name: 'theirs' };
const egressClass = {
  metadata: { name: 'gold' },
  spec: { sharing: 'Dedicated', reach: ['IPv6'], parametersRef },
} as unknown as InternetEgressClass;
const enabled = (rest: object): Spec => ({
  ...base,
  egress: { internet: { mode: 'Enabled', reach: ['IPv6'], className: 'gold', ...rest } },
});
const nothing = { identity: undefined, egressClass: undefined };

describe('what cells are told of a context a tenant can write', () => {
  it('is the network\u2019s own number, whatever the context says', () => {
    expect(trustedSpec({ ...base, fabricIdentity: 7 }, undefined, { ...nothing, identity: 3 })).toEqual({
      ...base,
      fabricIdentity: 3,
    });
  });

  it('is no number while the network has none', () => {
    expect(trustedSpec({ ...base, fabricIdentity: 7 }, base, nothing)).toEqual(base);
  });

  it('stays the number that was told before', () => {
    const told = { ...base, fabricIdentity: 3 };
    expect(trustedSpec({ ...base, fabricIdentity: 7 }, told, nothing)).toEqual(told);
  });

  it('is the class\u2019s own sharing and parameters', () => {
    const spec = enabled({ sharing: 'Shared', parametersRef: forged });
    expect(trustedSpec(spec, undefined, { ...nothing, egressClass })).toEqual(
      enabled({ sharing: 'Dedicated', parametersRef }),
    );
  });

  it('stays what was told of a class that is gone, and is nothing of one there never was', () => {
    const spec = enabled({ sharing: 'Shared', parametersRef: forged });
    const told = enabled({ sharing: 'Dedicated', parametersRef });
    expect(trustedSpec(spec, told, nothing)).toEqual(told);
    expect(trustedSpec(spec, undefined, nothing)).toEqual(enabled({}));
    const toldOfAnother = enabled({ className: 'silver', sharing: 'Dedicated', parametersRef });
    expect(trustedSpec(spec, toldOfAnother, nothing)).toEqual(enabled({}));
  });

  it('is no parameters where egress is disabled or nothing is said', () => {
    const disabled: Spec = {
      ...base,
      egress: { internet: { mode: 'Disabled', className: 'gold', parametersRef: forged } },
    };
    expect(trustedSpec(disabled, undefined, { ...nothing, egressClass }).egress).toEqual({
      internet: { mode: 'Disabled', className: 'gold' },
    });
    expect(trustedSpec(base, undefined, { ...nothing, egressClass })).toEqual(base);
  });
});
