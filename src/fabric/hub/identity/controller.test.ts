import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Network, NetworkFabricIdentity } from '../../../api/index.ts';
import type { Environment } from '../../../apiserver/testing/index.ts';
import { apiVersionOf, Event, type Stored } from '../../../meta/index.ts';
import { openHub } from '../testing.ts';
import { identityController } from './controller.ts';
import { identityOf } from './decide.ts';

/** Five numbers, two of them reserved at a time. */
let environment: Environment;
beforeEach(async () => {
  environment = await openHub((deps) => identityController(deps, { largest: 5, blockSize: 2 }));
});
afterEach(() => environment.close());

const key = (name: string) => ({ namespace: 'default', name });

function make(name: string): Promise<Stored<Network>> {
  const spec = { ipam: { mode: 'Auto' } } as Network['spec'];
  return environment.project().create(Network, {
    apiVersion: apiVersionOf(Network),
    kind: 'Network',
    metadata: key(name),
    spec,
  });
}

async function held(): Promise<Record<string, number>> {
  const { items } = await environment.hub.list(NetworkFabricIdentity);
  return Object.fromEntries(items.map(({ spec }) => [spec.networkRef?.name ?? spec.networkUID, spec.identity]));
}

function numberOf(name: string, seconds?: number): Promise<number> {
  return environment.until(`a number for ${name}`, async () => (await held())[name], seconds);
}

async function remove(name: string): Promise<void> {
  await environment.project().delete(Network, key(name));
  await environment.until(`the number of ${name} free`, async () => (await held())[name] === undefined);
}

describe('numbers of networks', () => {
  it('that came free are used again after all others', async () => {
    const given: number[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
      await make(name);
      given.push(await numberOf(name));
      await remove(name);
    }
    expect(given).toEqual([1, 2, 3, 4, 5, 1, 2]);
  });

  it('of which there is none left: the network waits, its people are told, and it gets the next one that is free', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await make(name);
    await environment.until('five numbers', async () => Object.keys(await held()).length === 5);
    await make('late');
    const event = await environment.until('an Event', async () => {
      const { items } = await environment.project().list(Event, { namespace: 'default' });
      return items.find(({ regarding }) => regarding?.name === 'late');
    });
    expect(event).toMatchObject({ type: 'Warning', reason: 'FabricIdentityExhausted' });
    expect(event.note).toContain('There is no free fabric identity for network late');
    expect(Object.keys(await held()).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
    const free = await numberOf('c');
    await remove('c');
    expect(await numberOf('late')).toBe(free);
  });

  it('held by objects made by hand are left to them', async () => {
    const place = { project: 'alpha', namespace: 'default', name: 'elsewhere' };
    const { networkRef: _, ...spec } = identityOf(1, place, 'of-nobody-here').spec;
    await environment.hub.create(NetworkFabricIdentity, { ...identityOf(1, place, 'of-nobody-here'), spec });
    await make('a');
    expect(await numberOf('a')).toBe(2);
    expect((await held())['of-nobody-here']).toBe(1);
  });

  it('are refused under another\u2019s name, or none, or 0, or one that is too large', async () => {
    const place = { project: 'alpha', namespace: 'default', name: 'a' };
    const named = (number: number, name: string) => {
      const object = identityOf(number, place, 'uid');
      return environment.hub.create(NetworkFabricIdentity, { ...object, metadata: { name } });
    };
    for (const name of ['id-8', 'id-07', 'id-7x', '7', 'xid-7']) {
      await expect(named(7, name), name).rejects.toThrow('the name must be id-<spec.identity>');
    }
    for (const number of [0, 4294967296]) await expect(named(number, `id-${number}`)).rejects.toThrow('spec.identity');
    await named(4294967295, 'id-4294967295');
    const body = { spec: { networkUID: 'another' } };
    const edit = environment.hub.patch(
      NetworkFabricIdentity,
      { namespace: '', name: 'id-4294967295' },
      { type: 'merge', body },
    );
    await expect(edit).rejects.toThrow('spec is immutable');
  });
});
