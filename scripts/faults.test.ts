import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** docs/decisions/faults.md: every known fault has a test that is there, or says why it needs none. */

const root = new URL('../', import.meta.url).pathname;
const rows = readFileSync(`${root}docs/decisions/faults.md`, 'utf8')
  .split('\n')
  .flatMap((line) => {
    const found = /^\| (\d+) \| (.+?) \| (.+) \|$/.exec(line);
    return found === null ? [] : [{ number: Number(found[1]), proof: found[3] ?? '' }];
  });

it('the table of faults has every fault once', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 79 }, (_, index) => index + 1));
});

it('every test it names is there', () => {
  const missing = rows.flatMap(({ number, proof }) => {
    const test = /^`([^`]+)`: “(.+)”$/.exec(proof);
    // A reason is a sentence.
    if (test === null) return proof.length > 40 && proof.endsWith('.') ? [] : [`${number}: ${proof}`];
    const [, file = '', title = ''] = test;
    const there = existsSync(`${root}${file}`) && readFileSync(`${root}${file}`, 'utf8').includes(title);
    return there ? [] : [`${number}: ${proof}`];
  });
  expect(missing).toEqual([]);
});
