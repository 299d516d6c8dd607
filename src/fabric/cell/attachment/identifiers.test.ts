import fc from 'fast-check';
import { afterEach, describe, expect, it, test } from 'vitest';
import {
  fabricAnnotations,
  fabricLabels,
  NetworkAttachmentDefinition,
  NetworkInterface,
  VPC,
} from '../../../api/index.ts';
import type { Environment } from '../../../apiserver/testing/index.ts';
import type { Client } from '../../../kube/index.ts';
import { findCondition } from '../../../meta/index.ts';
import { attachmentIdentifier, parseIdentifier } from '../../codec/index.ts';
import { boundInterface, context, contextNameOf, get, namespace, openCell, vpc } from '../testing.ts';
import { attachmentController } from './controller.ts';
import { Identifiers, nextIdentifier } from './identifiers.ts';

test('the next one after the last, round and round, past those that are held', () => {
  const none = () => false;
  expect(nextIdentifier(0, none, 65534)).toBe(1);
  expect(nextIdentifier(41, none, 65534)).toBe(42);
  expect(nextIdentifier(65533, none, 65534)).toBe(65534);
  expect(nextIdentifier(65534, none, 65534)).toBe(1);
  expect(nextIdentifier(65534, (each) => each < 4, 65534)).toBe(4);
  expect(nextIdentifier(2, () => true, 65534)).toBeUndefined();
});

test('it finds one wherever there is one, and none that is held', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.nat(40),
      fc.uniqueArray(fc.integer({ min: 1, max: 40 })),
      (largest, at, held) => {
        const last = Math.min(at, largest);
        const taken = new Set(held);
        const next = nextIdentifier(last, (each) => taken.has(each), largest);
        const free = Array.from({ length: largest }, (_, index) => index + 1).filter((each) => !taken.has(each));
        if (next === undefined) expect(free).toEqual([]);
        else {
          expect(free).toContain(next);
          // Every free one between the last and this is passed over by nobody.
          const steps = (each: number) => (each - last - 1 + largest) % largest;
          expect(free.every((each) => steps(each) >= steps(next))).toBe(true);
        }
      },
    ),
  );
});

describe('in a cell', () => {
  let environment: Environment;
  let client: Client;
  afterEach(() => environment.close());

  const open = async (largest?: number) => {
    environment = await openCell((deps) => [attachmentController(deps, new Identifiers(largest))]);
    client = environment.cell();
    await context(client, 'net');
    await vpc(client, 'net', 28200);
  };

  async function identifiers(): Promise<Record<string, string>> {
    const { items } = await client.list(NetworkAttachmentDefinition);
    return Object.fromEntries(
      items.map(({ metadata }) => [metadata.name, metadata.labels?.[fabricLabels.vpcAttachment] ?? '']),
    );
  }

  it('many at once: each has its own, and a restart in the middle changes none', async () => {
    await open();
    const names = Array.from({ length: 150 }, (_, index) => `web-${index}`);
    for (const name of names) await boundInterface(client, name);
    environment.start();
    await environment.until('some are there', async () => Object.keys(await identifiers()).length >= 20);
    await environment.stop();
    const before = await identifiers();
    environment.start();
    const all = await environment.until('all of them', async () => {
      const found = await identifiers();
      return Object.keys(found).length === names.length && found;
    });
    expect(new Set(Object.values(all)).size).toBe(names.length);
    expect(all).toMatchObject(before);
    // Written ahead: as many writes as there are blocks, and one for the restart.
    expect(environment.wire.writes.filter(({ path }) => path.includes('/vpcs/')).length).toBeLessThanOrEqual(5);
  });

  it('where every one is held the interface says so, and gets the first that comes free', async () => {
    await open(3);
    environment.start();
    for (const name of ['a', 'b', 'c', 'd']) await boundInterface(client, name);
    await environment.quiet();
    const held = await identifiers();
    expect(Object.values(held).sort()).toEqual(['1', '2', '3']);
    const [waiting = ''] = ['a', 'b', 'c', 'd'].filter((name) => !(name in held));
    const prepared = findCondition((await get.interface(client, waiting))?.status?.conditions, 'Prepared');
    expect(prepared).toMatchObject({ status: 'False', reason: 'VPCIdentifierExhausted' });
    expect(prepared?.message).toContain('VPC net-us-central-1 has no free attachment identifier');
    expect(await get.attachment(client, waiting)).toBeUndefined();

    const [leaving = ''] = Object.keys(held);
    await client.delete(NetworkInterface, { namespace, name: leaving });
    await environment.until('served', async () => (await identifiers())[waiting] === held[leaving]);
  });

  it('what another process has handed out meanwhile is passed over, though no cache shows it', async () => {
    await open();
    const key = { namespace, name: contextNameOf('net') };
    const handedOut = (until: number) => {
      const annotations = { [fabricAnnotations.attachmentsUntil]: String(until) };
      return client.patch(VPC, key, { type: 'merge', body: { metadata: { annotations } } });
    };
    await handedOut(640);
    environment.start();
    await boundInterface(client, 'a');
    await environment.until('an identifier', async () => (await identifiers()).a === 'al');
    await handedOut(6400);
    for (let index = 0; index < 70; index++) await boundInterface(client, `web-${index}`);
    const all = await environment.until('all of them', async () => {
      const found = await identifiers();
      return Object.keys(found).length === 71 && found;
    });
    const numbers = Object.values(all).map((text) => parseIdentifier(attachmentIdentifier, text) ?? 0);
    expect(new Set(numbers).size).toBe(71);
    // What was written ahead before is used up first.
    expect(numbers.every((each) => (each > 640 && each <= 705) || each > 6400)).toBe(true);
    expect(numbers.filter((each) => each > 6400).length).toBeGreaterThan(5);
  });

  it('what is written on the VPC that is no identifier is as good as nothing', async () => {
    await open();
    const key = { namespace, name: contextNameOf('net') };
    const annotations = { [fabricAnnotations.attachmentsUntil]: '99999999' };
    await client.patch(VPC, key, { type: 'merge', body: { metadata: { annotations } } });
    environment.start();
    await boundInterface(client, 'a');
    await environment.until('an identifier', async () => (await identifiers()).a === '1');
  });
});
