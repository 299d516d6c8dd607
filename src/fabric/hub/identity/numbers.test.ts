import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fabricAnnotations } from '../../../api/index.ts';
import { adminIdentity, planePath } from '../../../apiserver/index.ts';
import { TestServer } from '../../../apiserver/testing/index.ts';
import { type Client, createClient, planeRef, type Transport, VirtualClock } from '../../../kube/index.ts';
import { Namespace } from '../../../meta/index.ts';
import { type Held, Numbers } from './numbers.ts';

const key = { namespace: '', name: 'kube-system' };
let hub: Hub;

/** A hub, and the writes made on it. */
class Hub {
  readonly patches: string[] = [];
  readonly client: Client;
  readonly close: () => Promise<void>;

  private constructor(server: TestServer) {
    const transport = server.api.transport(adminIdentity);
    const counted: Transport = {
      request: (request) => {
        if (request.method === 'PATCH') this.patches.push(request.path);
        return transport.request(request);
      },
      close: () => transport.close(),
    };
    this.client = createClient({ transport: counted, basePath: planePath(planeRef('hub')), clock: server.clock });
    this.close = () => server.close();
  }

  static async open(): Promise<Hub> {
    const server = await TestServer.open({ clock: new VirtualClock() });
    await server.openPlane(planeRef('hub'));
    return new Hub(server);
  }

  async reserve(text: string): Promise<void> {
    const annotations = { [fabricAnnotations.identitiesReserved]: text };
    await this.client.patch(Namespace, key, { type: 'merge', body: { metadata: { annotations } } });
  }

  async reserved(): Promise<string | undefined> {
    const namespace = await this.client.get(Namespace, key);
    return namespace?.metadata.annotations?.[fabricAnnotations.identitiesReserved];
  }
}

beforeEach(async () => {
  hub = await Hub.open();
});
afterEach(() => hub.close());

const nobody: Held = { has: () => false, count: () => 0 };
const holding = (...held: number[]) => ({ has: (number: number) => held.includes(number), count: () => held.length });

async function take(numbers: Numbers, count: number, held = nobody): Promise<(number | undefined)[]> {
  const taken: (number | undefined)[] = [];
  for (let index = 0; index < count; index++) taken.push(await numbers.take(hub.client, held));
  return taken;
}

describe('numbers', () => {
  it('come in order, each once, and are written down before they are handed out', async () => {
    expect(await take(new Numbers({ blockSize: 4 }), 6)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await hub.reserved()).toBe('8');
  });

  it('asked for at once are all different', async () => {
    const numbers = new Numbers({ blockSize: 8 });
    const taken = await Promise.all(Array.from({ length: 20 }, () => numbers.take(hub.client, nobody)));
    expect(new Set(taken).size).toBe(20);
    expect(hub.patches).toHaveLength(3);
  });

  it('go on after those a process that ended had reserved: a freed one is not soon used again', async () => {
    expect(await take(new Numbers({ blockSize: 4 }), 2)).toEqual([1, 2]);
    expect(await take(new Numbers({ blockSize: 4 }), 2)).toEqual([5, 6]);
  });

  it('are never given to two processes at once', async () => {
    const [one, other] = [new Numbers({ blockSize: 2 }), new Numbers({ blockSize: 2 })];
    const results = await Promise.allSettled([one.take(hub.client, nobody), other.take(hub.client, nobody)]);
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.reason] : []));
    const taken = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(refused).toEqual(['Conflict']);
    expect(taken).toEqual([1]);
    expect(await one.take(hub.client, nobody)).not.toBe(await other.take(hub.client, nobody));
  });

  it('begin again after the largest, and skip those that are held', async () => {
    await hub.reserve('4294967294');
    expect(await take(new Numbers({ blockSize: 2 }), 3, holding(1, 2))).toEqual([4294967295, 3, 4]);
  });

  it('end when all are held, and come again when one is free', async () => {
    const numbers = new Numbers({ largest: 5, blockSize: 2 });
    expect(await numbers.take(hub.client, holding(1, 2, 3, 4, 5))).toBeUndefined();
    expect(await numbers.take(hub.client, holding(1, 2, 4, 5))).toBe(3);
  });

  it.each(['', 'x', '0', '-3', '1.5', '99999999999'])('begin at 1 where %j is written down', async (text) => {
    await hub.reserve(text);
    expect(await new Numbers().take(hub.client, nobody)).toBe(1);
  });
});
