import { describe, expect, it } from 'vitest';
import type { Client, Planes } from '../kube/index.ts';
import { ApiError, type KubeObject, type ResourceType, type Stored } from '../meta/index.ts';
import { carryUp } from './up.ts';

interface Thing extends KubeObject {
  spec?: { size: number };
  status?: { is: string };
}

const Thing: ResourceType<Thing> = {
  group: 'test.example',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
};
const request = { plane: 'cell/x', namespace: 'ns', name: 'a' };

function source(size: number, is: string): Stored<Thing> {
  const metadata = {
    name: 'a',
    namespace: 'ns',
    uid: 's',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  };
  return { apiVersion: 'test.example/v1', kind: 'Thing', metadata, spec: { size }, status: { is } };
}

/** A hub that has one copy at most, and keeps its status with the rest or apart, as a subresource. */
class Hub {
  copy: Stored<Thing> | undefined;
  readonly writes: string[] = [];
  apart: boolean;

  constructor(apart: boolean) {
    this.apart = apart;
  }

  client(): Pick<Client, 'create' | 'update'> {
    return {
      create: async (_, object) => {
        this.writes.push('create');
        const { status, ...rest } = object;
        const held = this.apart ? {} : { status };
        this.copy = { ...rest, ...held, metadata: { ...object.metadata, uid: 'c' } } as Stored<Thing>;
        return this.copy as never;
      },
      update: async (_, object, { subresource } = {}) => {
        this.writes.push(subresource === 'status' ? 'update status' : 'update');
        if (this.copy === undefined || (subresource === 'status' && !this.apart)) {
          throw ApiError.of('NotFound', 'the server could not find the requested resource');
        }
        const { status, ...rest } = object;
        if (subresource === 'status') this.copy = { ...this.copy, status } as Stored<Thing>;
        else this.copy = { ...rest, status: this.apart ? this.copy.status : status } as Stored<Thing>;
        return this.copy as never;
      },
    };
  }

  planes(object: Stored<Thing>): Planes {
    const informer = (get: () => Stored<Thing> | undefined) => () => ({ get, synced: true });
    const cell = { id: 'cell/x', role: 'cell', name: 'x', informer: informer(() => object) };
    const hub = { id: 'hub', role: 'hub', name: 'hub', informer: informer(() => this.copy), client: this.client() };
    this.#hub ??= hub;
    return { get: (id: string) => (id === 'hub' ? this.#hub : cell) } as unknown as Planes;
  }

  /** The same plane each time. */
  #hub: object | undefined;
}

describe('a copy comes with its status', () => {
  const carry = (controller: ReturnType<typeof carryUp>, hub: Hub, object: Stored<Thing>) =>
    controller.reconcile(request, hub.planes(object), new AbortController().signal);
  const shows = ({ copy }: Hub) => [copy?.spec?.size, copy?.status?.is];
  const publish = ({ apiVersion, kind, spec, status }: Stored<Thing>): Thing => ({
    apiVersion,
    kind,
    metadata: { name: 'a', namespace: 'ns' },
    ...(spec === undefined ? {} : { spec }),
    ...(status === undefined ? {} : { status }),
  });

  it.each([
    ['kept with the rest', false, ['create', 'update', 'update']],
    ['apart', true, ['create', 'update status', 'update status', 'update', 'update status']],
  ])('%s', async (_, apart, writes) => {
    const hub = new Hub(apart);
    const controller = carryUp({ type: Thing, publish }, { hub: 'hub' });
    for (const object of [source(1, 'made'), source(1, 'up'), source(2, 'moved')]) {
      await carry(controller, hub, object);
      expect(shows(hub)).toEqual([object.spec?.size, object.status?.is]);
      await carry(controller, hub, object);
    }
    expect(hub.writes).toEqual(writes);
  });

  it('also after a restart, and where the hub has come to keep it otherwise', async () => {
    const hub = new Hub(true);
    await carry(carryUp({ type: Thing, publish }, { hub: 'hub' }), hub, source(1, 'made'));
    const controller = carryUp({ type: Thing, publish }, { hub: 'hub' });
    hub.writes.length = 0;
    await carry(controller, hub, source(1, 'up'));
    expect([shows(hub), hub.writes]).toEqual([
      [1, 'up'],
      ['update', 'update status'],
    ]);
    hub.apart = false;
    await carry(controller, hub, source(1, 'down'));
    await carry(controller, hub, source(1, 'down'));
    expect(shows(hub)).toEqual([1, 'down']);
  });
});
