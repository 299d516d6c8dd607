const newline = 0x0a;
/** Far beyond the largest object an API server stores (1.5 MB), so that a broken peer cannot fill the memory. */
const longestLineBytes = 32 * 1024 * 1024;

/**
 * Cuts a stream of bytes into lines, wherever its chunks happen to end (within a UTF-8 sequence too), and answers the
 * complete, non-empty ones of each chunk together. What remains after the last newline comes last. Throws on a line of more
 * than 32 MiB.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[], void, undefined> {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  for await (const chunk of chunks) {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const piece = chunk.subarray(start, end);
      const line = pendingBytes === 0 ? text(piece) : text(Buffer.concat([...pending, piece]));
      pending = [];
      pendingBytes = 0;
      start = end + 1;
      if (line.trim() !== '') lines.push(line);
    }
    if (start < chunk.length) {
      pending.push(chunk.subarray(start));
      pendingBytes += chunk.length - start;
      if (pendingBytes > longestLineBytes) throw new Error('a line of a watch is longer than 32 MiB');
    }
    if (lines.length > 0) yield lines;
  }
  const rest = text(Buffer.concat(pending));
  if (rest.trim() !== '') yield [rest];
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
