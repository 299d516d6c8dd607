import { describe, expect, it } from 'vitest';
import { Line } from './line.ts';

function lineOf(...names: string[]): Line {
  const line = new Line();
  for (const name of names) line.refuse({ uid: name, order: name });
  return line;
}

describe('a line of refused claims', () => {
  it('hands the turn to the oldest, whoever came first', () => {
    expect(lineOf('c', 'a', 'b').wake()).toEqual(['a']);
  });

  it('has nobody else try after a refusal, until something changes again', () => {
    const line = lineOf('a', 'b', 'c');
    line.wake();
    expect(line.mayTry('a')).toBe(true);
    expect(line.mayTry('b')).toBe(false);
    expect(line.refuse({ uid: 'a', order: 'a' })).toEqual([]);
    expect(line.mayTry('a')).toBe(false);
    expect(line.wake()).toEqual(['a']);
  });

  it('moves on with success, in ever wider rounds', () => {
    const line = lineOf('a', 'b', 'c', 'd', 'e');
    expect(line.wake()).toEqual(['a']);
    expect(line.leave('a', true)).toEqual(['b', 'c']);
    expect(line.leave('b', true)).toEqual(['d', 'e']);
    expect(line.refuse({ uid: 'd', order: 'd' })).toEqual([]);
    expect(line.leave('c', true)).toEqual([]);
  });

  it('tries once more where something changed while a turn was out', () => {
    const line = lineOf('a', 'b');
    line.wake();
    expect(line.wake()).toEqual([]);
    expect(line.refuse({ uid: 'a', order: 'a' })).toEqual(['a']);
    expect(line.refuse({ uid: 'a', order: 'a' })).toEqual([]);
  });

  it('gives the turn of a claim that is gone to the next', () => {
    const line = lineOf('a', 'b');
    line.wake();
    expect(line.leave('a', false)).toEqual(['b']);
  });

  it('stands still when one that has no turn goes', () => {
    const line = lineOf('a', 'b');
    expect(line.leave('b', false)).toEqual([]);
    expect(line.size).toBe(1);
  });
});
