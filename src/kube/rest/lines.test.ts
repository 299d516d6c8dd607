import fc from 'fast-check';
import { expect, it } from 'vitest';
import { linesOf } from './lines.ts';

async function* chunksOf(chunks: Uint8Array[]) {
  yield* chunks;
}

it('finds the same lines however the bytes are cut', async () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text));
  await fc.assert(
    fc.asyncProperty(
      fc.array(line),
      fc.array(fc.integer({ min: 1, max: 9 })),
      fc.boolean(),
      async (lines, sizes, end) => {
        const bytes = Buffer.from(lines.join('\n') + (end ? '\n' : ''));
        const chunks: Uint8Array[] = [];
        for (let at = 0, n = 0; at < bytes.length; n++) {
          const size = sizes[n % Math.max(1, sizes.length)] ?? 5;
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        const found: string[] = [];
        for await (const some of linesOf(chunksOf(chunks))) found.push(...some);
        expect(found).toEqual(lines);
      },
    ),
  );
});

it('refuses a line that never ends', async () => {
  const chunk = new Uint8Array(8 * 1024 * 1024).fill(0x61);
  const read = async () => {
    for await (const _ of linesOf(chunksOf(Array.from({ length: 5 }, () => chunk))));
  };
  await expect(read()).rejects.toThrow('longer than 32 MiB');
});
