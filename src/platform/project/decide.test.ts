import { expect, test } from 'vitest';
import { chooseRanges, decide, type ProjectSnapshot, stages } from './decide.ts';

const settled: ProjectSnapshot = {
  terminating: false,
  finalizer: true,
  seeded: true,
  open: true,
  missingLocations: [],
  left: [],
};

test('a new project is held before its plane is opened, then seeded and bound to every location', () => {
  const fresh = { ...settled, finalizer: false, seeded: false, open: false, missingLocations: ['us-central-1'] };
  expect(decide(fresh)).toEqual([
    { do: 'add-finalizer' },
    { do: 'open' },
    { do: 'seed' },
    { do: 'bind-locations', locations: ['us-central-1'] },
    { do: 'report-ready' },
  ]);
});

test('a restart opens the plane and does not seed again what an operator may have removed', () => {
  expect(decide({ ...settled, open: false })).toEqual([{ do: 'open' }, { do: 'report-ready' }]);
});

test('deletion releases in order: each stage waits for the one before', () => {
  const terminating = { ...settled, terminating: true };
  const all = stages.map((stage) => ({ stage, count: 2 }));
  for (const [index, stage] of stages.entries()) {
    expect(decide({ ...terminating, left: all.slice(index) })).toEqual([{ do: 'delete', stage, count: 2 }]);
  }
  expect(decide(terminating)).toEqual([{ do: 'drop' }, { do: 'remove-finalizer' }]);
});

test('a project deleted while the process was down is opened first, to release what it holds', () => {
  expect(decide({ ...settled, terminating: true, open: false })).toEqual([{ do: 'open' }]);
});

test('a project that is gone needs nothing', () => {
  expect(decide({ ...settled, terminating: true, finalizer: false })).toEqual([]);
});

test('alpha and beta have the ranges the documentation names; others the lowest that is free', () => {
  expect(chooseRanges('beta', new Set())).toBe(1);
  expect(chooseRanges('alpha', new Set([1]))).toBe(0);
  expect(chooseRanges('gamma', new Set([0, 1]))).toBe(2);
  expect(chooseRanges('delta', new Set([0, 1, 2, 4]))).toBe(3);
  expect(chooseRanges('alpha', new Set([0]))).toBe(2);
});
