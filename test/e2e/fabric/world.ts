import { InternetEgressClass, Network } from '../../../src/api/index.ts';
import type { Client } from '../../../src/kube/index.ts';
import { apiVersionOf, type Stored } from '../../../src/meta/index.ts';

/** What operators and tenants do about the internet. */

export type Wish = NonNullable<NonNullable<Network['spec']['egress']>['internet']>;

const isDefault = { 'networking.datumapis.com/is-default-class': 'true' };

/** A class whose parameters are of its own name. */
export function egressClass(
  name: string,
  { sharing = 'Shared', marked = false }: { sharing?: 'Shared' | 'Dedicated'; marked?: boolean } = {},
): InternetEgressClass {
  return {
    apiVersion: apiVersionOf(InternetEgressClass),
    kind: InternetEgressClass.kind,
    metadata: { name, annotations: marked ? isDefault : {} },
    spec: { sharing, reach: ['IPv6'], parametersRef: parametersRef(name) } as InternetEgressClass['spec'],
  };
}

export function parametersRef(name: string) {
  return { group: 'cloud.datumapis.com', kind: 'EgressShardParameters', name };
}

export function markDefault(hub: Client, name: string, marked: boolean): Promise<Stored<InternetEgressClass>> {
  const annotations = marked ? isDefault : { 'networking.datumapis.com/is-default-class': null };
  const body = { metadata: { annotations } };
  return hub.patch(InternetEgressClass, { namespace: '', name }, { type: 'merge', body });
}

export function editClass(
  hub: Client,
  name: string,
  spec: Partial<InternetEgressClass['spec']>,
): Promise<Stored<InternetEgressClass>> {
  return hub.patch(InternetEgressClass, { namespace: '', name }, { type: 'merge', body: { spec } });
}

/** What a network wants of the internet from now on; nothing at all where undefined. */
export function wish(project: Client, network: string, internet: Partial<Wish> | undefined): Promise<Stored<Network>> {
  const key = { namespace: 'default', name: network };
  const body = { spec: { egress: null } };
  if (internet === undefined) return project.patch(Network, key, { type: 'merge', body });
  const value = { internet };
  return project.patch(Network, key, { type: 'json', body: [{ op: 'add', path: '/spec/egress', value }] });
}
