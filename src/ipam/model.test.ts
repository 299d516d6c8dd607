import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IpPrefix } from '../address/index.ts';
import { isApiError } from '../meta/index.ts';
import type { IPClaim, IPPool } from './objects.ts';
import { accepted, scopeOf, TestIpam } from './testing.ts';
import { audit } from './testing-audit.ts';
import { Model } from './testing-model.ts';

const apiVersion = 'ipam.miloapis.com/v1alpha1';
const range = IpPrefix.parse('192.0.2.0/28');
const restMilliseconds = 10_000;
/** Not a divisor of the rest: no block is due at the very moment of a step. */
const stepMilliseconds = 7000;

const name = fc.integer({ min: 0, max: 9 }).map((n) => `claim-${n}`);
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      name,
      length: fc.integer({ min: 28, max: 32 }),
      address: fc.option(fc.integer({ min: 0, max: 15 }), { nil: undefined, freq: 3 }),
      retain: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('release' as const), name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('free' as const), name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pool' as const) }) },
);

async function answerOf(request: Promise<IPClaim>): Promise<string> {
  try {
    return (await request).status!.allocatedCIDR!;
  } catch (error) {
    if (isApiError(error)) return error.status.details?.causes?.[0]?.reason ?? String(error);
    throw error;
  }
}

async function allocationNameOf(ipam: TestIpam, block: IpPrefix): Promise<string | undefined> {
  return ipam.allocations('alpha').find((each) => each.status?.allocatedCIDR === block.toString())?.metadata.name;
}

test('IPAM answers as a set of taken blocks does, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.boolean(), fc.array(step, { maxLength: 40 }), async (best, rests, steps) => {
      const ipam = new TestIpam();
      const model = new Model(range, best, rests ? restMilliseconds : 0);
      await ipam.create('alpha', 'ipclasses', {
        apiVersion,
        kind: 'IPClass',
        metadata: { name: 'c' },
        spec: { ipFamily: 'IPv4', allowedPrefixLengths: { min: 28, max: 32 } },
      });
      const pool: IPPool = {
        apiVersion,
        kind: 'IPPool',
        metadata: { name: 'p' },
        spec: {
          cidr: String(range),
          ipFamily: 'IPv4',
          classNames: ['c'],
          restPeriod: rests ? '10s' : '0s',
          allocation: { strategy: best ? 'BestFit' : 'FirstFit' },
        },
      };
      await ipam.create('alpha', 'ippools', pool);
      ipam.ipam.start();
      for (const each of steps) {
        const held = 'name' in each ? model.taken.get(each.name) : undefined;
        if (each.do === 'claim') {
          const address = each.address === undefined ? undefined : range.at(each.address);
          const expected = model.claim(each.name, each.length, address, each.retain);
          const spec = {
            className: 'c',
            prefixLength: each.length,
            reclaimPolicy: each.retain ? ('Retain' as const) : ('Delete' as const),
            ...(address === undefined ? {} : { address: String(address) }),
          };
          const dry =
            held === undefined ? await answerOf(ipam.claim('alpha', each.name, spec, { dryRun: true })) : expected;
          expect(dry).toBe(expected);
          expect(await answerOf(ipam.claim('alpha', each.name, spec))).toBe(expected);
        } else if (each.do === 'release' && held?.state === 'held') {
          model.release(each.name);
          await ipam.release('alpha', each.name);
        } else if (each.do === 'free' && held?.state === 'retained') {
          const allocation = await allocationNameOf(ipam, held.block);
          model.free(each.name);
          await ipam.delete('alpha', 'ipallocations', allocation!, 'default');
        } else if (each.do === 'pool') {
          const changing = model.gone
            ? ipam.create('alpha', 'ippools', pool)
            : ipam.delete<IPPool>('alpha', 'ippools', 'p');
          expect(await accepted(changing)).toBe(model.toggle());
        } else if (each.do === 'pass') {
          model.pass(stepMilliseconds);
          await ipam.clock.advance(stepMilliseconds);
        }
        expect(audit(ipam, 'alpha')).toEqual([]);
        const blocks = ipam.store.database
          .prepare(`SELECT count(*) AS n FROM ipam_block WHERE purpose = 'Claim' OR state = 'resting'`)
          .get();
        expect(blocks?.n).toBe(model.taken.size);
      }
      expect(ipam.errors).toEqual([]);
      await ipam.ipam.stop();
    }),
    { numRuns: 60 },
  );
});

const chainStep = fc.record({
  do: fc.constantFrom('claim', 'claim', 'claim', 'range', 'release', 'release', 'pass', 'pool'),
  project: fc.constantFrom('alpha', 'beta'),
  name,
  network: fc.constantFrom('one', 'two', 'three'),
  location: fc.constantFrom('here', 'there'),
  leaf: fc.boolean(),
});

test('cascaded pools of two projects stay whole and apart, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(chainStep, { maxLength: 50 }), async (steps) => {
      const ipam = new TestIpam(5);
      for (const project of ['alpha', 'beta']) {
        const classes = {
          net: { poolPer: ['network'], defaultPrefixLength: 28 },
          sub: {
            poolPer: ['network', 'location'],
            parentClassName: 'net',
            defaultPrefixLength: 30,
            reservations: { leading: 1, unitPrefixLength: 32 },
          },
          leaf: { parentClassName: 'sub', defaultPrefixLength: 32 },
        };
        for (const [each, spec] of Object.entries(classes)) {
          await ipam.create(project, 'ipclasses', {
            apiVersion,
            kind: 'IPClass',
            metadata: { name: each },
            spec: { ipFamily: 'IPv4', ...spec },
          });
        }
        await ipam.create(project, 'ippools', {
          apiVersion,
          kind: 'IPPool',
          metadata: { name: 'p' },
          spec: { cidr: '192.0.2.0/27', ipFamily: 'IPv4', classNames: ['net'] },
        });
      }
      ipam.ipam.start();
      for (const each of steps) {
        const other = each.project === 'alpha' ? 'beta' : 'alpha';
        const before = JSON.stringify(ipam.list(other, 'ipclaims'));
        const scope = scopeOf(each.network, each.location);
        try {
          if (each.do === 'claim') await ipam.claim(each.project, each.name, { className: 'leaf', scope });
          if (each.do === 'range')
            await ipam.claim(each.project, each.name, {
              className: each.leaf ? 'sub' : 'net',
              target: 'ScopeRange',
              scope,
            });
          if (each.do === 'release' && ipam.get(each.project, 'ipclaims', each.name, 'default') !== undefined) {
            await ipam.release(each.project, each.name);
          }
          if (each.do === 'pool') {
            const empty = ipam.pools(each.project).find((pool) => pool.spec?.classRef !== undefined);
            if (empty !== undefined) await ipam.delete(each.project, 'ippools', empty.metadata.name);
          }
          if (each.do === 'pass') await ipam.clock.advance(3000);
        } catch (error) {
          if (!isApiError(error)) throw error;
          expect([409, 507]).toContain(error.code);
        }
        expect(audit(ipam, each.project)).toEqual([]);
        expect(JSON.stringify(ipam.list(other, 'ipclaims'))).toBe(before);
      }
      expect(ipam.errors).toEqual([]);
      await ipam.ipam.stop();
    }),
    { numRuns: 60 },
  );
});

test('death at any statement of allocating or releasing leaves the block wholly held or wholly free', async () => {
  const ipam = new TestIpam(0);
  await ipam.seed('alpha');
  const spec = { ipFamily: 'IPv6' as const, scope: scopeOf('net') };
  const counts: number[] = [];
  for (const write of [() => ipam.claim('alpha', 'a', spec), () => ipam.release('alpha', 'a')]) {
    const before = ipam.snapshot();
    let survived = 0;
    for (;;) {
      ipam.store.failAfter = survived;
      const died = await write().then(
        () => false,
        (error: Error) => {
          expect(error.message).toBe('the process dies here');
          return true;
        },
      );
      if (!died) break;
      expect(ipam.snapshot()).toBe(before);
      survived++;
    }
    ipam.store.failAfter = undefined;
    expect(audit(ipam, 'alpha')).toEqual([]);
    counts.push(survived);
  }
  // A fresh scope makes two pools, a reservation and the claim: there is a lot to interrupt.
  expect(counts[0]).toBeGreaterThan(60);
  expect(counts[1]).toBeGreaterThan(6);
  expect(ipam.list('alpha', 'ipclaims')).toEqual([]);
});

test('the schema refuses overlapping blocks of one space even when the code does not', () => {
  const ipam = new TestIpam();
  const insert = (start: number, last: number) =>
    ipam.store.database
      .prepare(
        `INSERT INTO ipam_block (space, start, last, length, plane, state, purpose) VALUES (1, ?, ?, 32, '', 'held', 'Claim')`,
      )
      .run(Buffer.from([start]), Buffer.from([last]));
  insert(16, 31);
  for (const [start, last] of [
    [16, 16],
    [0, 16],
    [31, 40],
    [20, 22],
    [0, 64],
  ] as const) {
    expect(() => insert(start, last)).toThrow('would overlap');
  }
  insert(0, 15);
  insert(32, 40);
  expect(() => ipam.store.database.exec('UPDATE ipam_block SET last = start')).toThrow('a block never moves');
});
