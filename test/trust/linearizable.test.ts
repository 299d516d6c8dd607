import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Call, checkLinearizable, type Operation } from './linearizable.ts';

/** Calls written as `[asked, answered, operation]`. */
type Line = [asked: number, answered: number | undefined, operation: Operation];
const history = (...lines: Line[]): Call[] =>
  lines.map(([asked, answered, operation]) => ({ asked, answered, operation }));
const verdict = (calls: Call[], versions: [string, number][] = []) =>
  checkLinearizable(calls, new Map(versions)).linearizable;

const create = (state: string): Operation => ({ kind: 'create', state });
const read = (state?: string): Operation => ({ kind: 'read', state });
const update = (state: string, from?: string): Operation => ({
  kind: 'update',
  state,
  ...(from === undefined ? {} : { from }),
});

describe('a good history', () => {
  it('may have any order among calls that overlap', () => {
    expect(verdict(history([1, 6, create('a')], [2, 3, read()], [4, 5, read('a')]))).toBe(true);
    expect(verdict(history([1, 2, create('a')], [3, 8, update('b')], [4, 7, update('c')], [9, 10, read('b')]))).toBe(
      true,
    );
  });

  it('may have calls without an answer done late, or never', () => {
    const lost: Line = [3, undefined, update('b')];
    expect(verdict(history([1, 2, create('a')], lost, [4, 5, read('a')], [6, 7, read('b')]))).toBe(true);
    expect(verdict(history([1, 2, create('a')], lost, [4, 5, read('a')], [6, 7, read('a')]))).toBe(true);
  });

  it('tells refusals truly', () => {
    expect(
      verdict(
        history(
          [1, 2, { kind: 'absent' }],
          [3, 4, create('a')],
          [5, 6, { kind: 'create-refused' }],
          [7, 8, update('b', 'a')],
          [9, 10, { kind: 'update-refused', from: 'a' }],
          [11, 12, { kind: 'delete-refused', from: 'a' }],
          [13, 14, { kind: 'delete', from: 'b' }],
          [15, 16, read()],
        ),
      ),
    ).toBe(true);
  });
});

describe('a bad history', () => {
  const made: Line = [1, 2, create('a')];
  it.each<[string, Line[]]>([
    ['a read finds what was overwritten before it was asked', [made, [3, 4, update('b')], [5, 6, read('a')]]],
    ['a read finds what nobody wrote', [made, [3, 4, read('z')]]],
    ['an acknowledged write is lost', [made, [3, 4, read()]]],
    ['two writers are let through the same guard', [made, [3, 6, update('b', 'a')], [4, 5, update('c', 'a')]]],
    ['two creates both succeed', [made, [3, 4, create('b')]]],
    [
      'two readers see two writes in opposite order',
      [made, [3, 20, update('b')], [4, 21, update('c')], [5, 6, read('b')], [7, 8, read('c')], [9, 10, read('b')]],
    ],
    ['a guard is refused that holds', [made, [3, 4, { kind: 'update-refused', from: 'a' }]]],
    ['a deleted object comes back', [made, [3, 4, { kind: 'delete' }], [5, 6, read('a')]]],
    [
      'what got no answer is undone once it was seen',
      [made, [3, undefined, update('b')], [4, 5, read('b')], [6, 7, read('a')]],
    ],
    ['what got no answer is seen before it was asked', [made, [3, 4, read('b')], [5, undefined, update('b')]]],
  ])('%s', (_, lines) => {
    const { linearizable, explanation } = checkLinearizable(history(...lines), new Map());
    expect(linearizable).toBe(false);
    expect(explanation).toContain('none of these can be next');
  });

  it('versions go back along the only order there is', () => {
    const calls = history(made, [3, 4, update('b')], [5, 6, read('b')]);
    expect(
      verdict(calls, [
        ['a', 7],
        ['b', 8],
      ]),
    ).toBe(true);
    expect(
      verdict(calls, [
        ['a', 7],
        ['b', 6],
      ]),
    ).toBe(false);
  });
});

/** Every order of the calls, tried one after another. */
function byBruteForce(calls: readonly Call[]): boolean {
  if (!calls.some((call) => call.answered !== undefined)) return true;
  const run = (left: readonly Call[], before: readonly Call[]): boolean => {
    if (!left.some((call) => call.answered !== undefined)) return true;
    const soonest = Math.min(...left.map((call) => call.answered ?? Number.POSITIVE_INFINITY));
    return left.some((call) => {
      if (call.asked > soonest) return false;
      const order = [...before, call];
      return (
        inOrder(order) &&
        run(
          left.filter((other) => other !== call),
          order,
        )
      );
    });
  };
  return run(calls, []);
}

/** Whether calls one after another are answered rightly: no two of them overlap, so there is one order only. */
function inOrder(calls: readonly Call[]): boolean {
  let state: string | undefined;
  return calls.every(({ operation }) => {
    switch (operation.kind) {
      case 'read':
        return operation.state === state;
      case 'create':
        if (state !== undefined) return false;
        state = operation.state;
        return true;
      case 'update':
        if (state === undefined || (operation.from ?? state) !== state) return false;
        state = operation.state;
        return true;
      case 'delete':
        if (state === undefined) return false;
        state = undefined;
        return true;
      case 'absent':
        return state === undefined;
      default:
        return false;
    }
  });
}

/** Every write writes something else. */
function drawnOperation(kind: string, state: string, other: string | undefined): Operation {
  if (kind === 'read') return read(other);
  if (kind === 'create') return create(state);
  if (kind === 'update') return update(state);
  if (kind === 'guarded') return update(state, other);
  return { kind: kind === 'delete' ? 'delete' : 'absent' };
}

it('agrees with trying every order, whatever the history', () => {
  const some = fc.constantFrom('s0', 's1', 's2', 's3');
  const kind = fc.constantFrom('read', 'create', 'update', 'guarded', 'delete', 'absent');
  const operation = fc.tuple(kind, fc.option(some, { nil: undefined }));
  const call = fc.record({ operation, asked: fc.nat(20), takes: fc.nat(12), isLost: fc.boolean() });
  let good = 0;
  fc.assert(
    fc.property(fc.array(call, { minLength: 2, maxLength: 6 }), (drawn) => {
      const calls = drawn.map(({ operation: [kind, other], asked, takes, isLost }, n) => ({
        operation: drawnOperation(kind, `s${n}`, other),
        asked: asked + n / 10,
        answered: isLost && kind !== 'read' && kind !== 'absent' ? undefined : asked + takes + 0.05 + n / 10,
      }));
      const expected = byBruteForce(calls);
      if (expected) good++;
      expect(checkLinearizable(calls, new Map()).linearizable).toBe(expected);
    }),
    { numRuns: 3_000 },
  );
  expect(good).toBeGreaterThan(100);
});
