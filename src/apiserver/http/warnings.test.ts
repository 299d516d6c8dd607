import { describe, expect, it } from 'vitest';
import { warningHeaders } from './warnings.ts';

describe('Warning headers', () => {
  it('quote their text, each once', () => {
    expect(warningHeaders(['a "b" \\', 'c', 'a "b" \\', ''])).toEqual(['299 - "a \\"b\\" \\\\"', '299 - "c"']);
  });

  it('are in UTF-8, and leave out what no header may hold', () => {
    const [only, ...others] = warningHeaders(['é', 'a\nb']);
    expect(Buffer.from(only!, 'latin1').toString('utf8')).toBe('299 - "é"');
    expect(others).toEqual([]);
  });

  it('are cut short where there is too much of them: a client takes so many bytes of headers', () => {
    const texts = Array.from({ length: 2000 }, (_, index) => `unknown field "spec.${'x'.repeat(400)}${index}"`);
    const headers = warningHeaders(texts);
    expect(headers).toHaveLength(16);
    for (const header of headers) expect(header).toHaveLength(256 + 9);
  });

  it('are whole as long as they fit', () => {
    expect(warningHeaders(['x'.repeat(4096)])[0]).toHaveLength(4096 + 8);
  });
});
