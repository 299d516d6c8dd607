import { expect, test } from 'vitest';
import { defaultCells, defaultProjects, parseCells, parseProjects } from './cells.ts';

test('the default cells have the city codes of their places', () => {
  expect(parseCells(defaultCells)).toEqual([
    { location: 'us-central-1', cityCode: 'DSM' },
    { location: 'eu-west-1', cityCode: 'DUB' },
  ]);
  expect(parseProjects(defaultProjects)).toEqual(['alpha', 'beta']);
});

test('a cell may say its city; one that does not is named after its location', () => {
  expect(parseCells('ap-south-1=BOM, lab')).toEqual([
    { location: 'ap-south-1', cityCode: 'BOM' },
    { location: 'lab', cityCode: 'LAB' },
  ]);
});

test('naming one twice is naming it once', () => {
  expect(parseCells('lab,lab')).toHaveLength(1);
});

test.each(['Lab', '-lab', 'lab_1', 'x'.repeat(54), 'a/b'])(
  '%s is refused as a name, saying what would be right',
  (name) => {
    expect(() => parseCells(name)).toThrow(/^cell ".*" must be lower-case letters, digits and "-"/);
    expect(() => parseProjects(name)).toThrow(/^project ".*" must be lower-case letters/);
  },
);
