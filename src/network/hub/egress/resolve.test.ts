import { describe, expect, it } from 'vitest';
import type { InternetEgressClass, Network } from '../../../api/index.ts';
import { type Classes, classNameOf, resolveEgress } from './resolve.ts';

type Wish = NonNullable<NonNullable<Network['spec']['egress']>['internet']>;

const parametersRef = { group: 'cloud.datumapis.com', kind: 'EgressShardParameters', name: 'shards' };
const marked = { 'networking.datumapis.com/is-default-class': 'true' };

function egressClass(name: string, spec: object = {}, metadata: object = {}): InternetEgressClass {
  return {
    apiVersion: 'networking.datumapis.com/v1alpha',
    kind: 'InternetEgressClass',
    metadata: { name, ...metadata },
    spec: { controllerName: 'networking.datumapis.com/cell-egress', sharing: 'Shared', reach: ['IPv6'], ...spec },
  };
}

function classes(...all: InternetEgressClass[]): Classes {
  return {
    get: (name) => all.find(({ metadata }) => metadata.name === name),
    defaults: all.filter(({ metadata }) => metadata.annotations !== undefined),
  };
}

function network(wish?: Partial<Wish>): Network {
  const egress = wish === undefined ? {} : { egress: { internet: wish } };
  return {
    metadata: { name: 'net' },
    spec: { ipam: { mode: 'Auto' }, ipFamilies: ['IPv6'], mtu: 1460, ...egress },
  } as never;
}

const gold = egressClass('gold', { sharing: 'Dedicated', parametersRef });
const standard = egressClass('standard', {}, { annotations: marked });

describe('a network\u2019s wish for the internet', () => {
  it.each<[string, Partial<Wish> | undefined]>([
    ['that is not there', undefined],
    ['that is empty', {}],
    ['that is to be off', { mode: 'Disabled' }],
    ['that is to be off, with a class', { mode: 'Disabled', class: 'gold', reach: ['IPv6'] }],
  ])('%s comes to Disabled and nothing more', (_, wish) => {
    expect(resolveEgress(network(wish), classes(gold, standard))).toEqual({ intent: { mode: 'Disabled' } });
    expect(classNameOf(network(wish))).toBeUndefined();
  });

  it('takes the class it names', () => {
    expect(resolveEgress(network({ mode: 'Enabled', class: 'gold' }), classes(gold, standard))).toEqual({
      intent: { mode: 'Enabled', reach: ['IPv6'], className: 'gold', sharing: 'Dedicated', parametersRef },
    });
  });

  it('takes the default class where it names none, and says which that was', () => {
    expect(resolveEgress(network({ mode: 'Enabled' }), classes(gold, standard))).toEqual({
      intent: { mode: 'Enabled', reach: ['IPv6'], className: 'standard', sharing: 'Shared' },
    });
  });

  it('reaches what it and its class both say', () => {
    const both = egressClass('both', { reach: ['IPv4', 'IPv6'] });
    const wish = (reach?: Wish['reach']) => network({ mode: 'Enabled', class: 'both', ...(reach ? { reach } : {}) });
    expect(resolveEgress(wish(), classes(both))).toMatchObject({ intent: { reach: ['IPv4', 'IPv6'] } });
    expect(resolveEgress(wish(['IPv6']), classes(both))).toMatchObject({ intent: { reach: ['IPv6'] } });
  });

  const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  it.each<[string, Partial<Wish>, InternetEgressClass[], string]>([
    ['a class that is not there', { class: 'gold' }, [standard], 'there is no InternetEgressClass gold'],
    ['a class that is going', { class: 'old' }, [egressClass('old', {}, going)], 'there is no InternetEgressClass old'],
    [
      'no class, and none is the default',
      {},
      [gold],
      'no InternetEgressClass is the default: name one in spec.egress.internet.class',
    ],
    [
      'no class, and two are the default',
      {},
      [standard, egressClass('another', {}, { annotations: marked })],
      '2 InternetEgressClasses are the default (another, standard): name one in spec.egress.internet.class',
    ],
    [
      'no class, and the default one is going',
      {},
      [egressClass('old', {}, { annotations: marked, ...going })],
      'no InternetEgressClass is the default: name one in spec.egress.internet.class',
    ],
    [
      'a family its class does not reach',
      { class: 'gold', reach: ['IPv4'] },
      [gold],
      'InternetEgressClass gold reaches IPv6, not IPv4',
    ],
  ])('for %s is refused, with the reason', (_, wish, all, refused) => {
    expect(resolveEgress(network({ mode: 'Enabled', ...wish }), classes(...all))).toEqual({ refused });
  });
});
