const chunkLength = 512;

/**
 * A set of strings in code unit order. Chunks of a few hundred keep every operation at a binary search and a short move,
 * where one sorted array would move megabytes and a tree would cost an object per key.
 */
export class OrderedKeys {
  /** Never an empty chunk. */
  readonly #chunks: string[][] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a key that is not there yet. */
  add(key: string): void {
    this.#size += 1;
    if (this.#chunks.length === 0) {
      this.#chunks.push([key]);
      return;
    }
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at]!;
    chunk.splice(lowerBound(chunk, key), 0, key);
    if (chunk.length <= chunkLength) return;
    // Names that count upwards arrive at the end: leaving a full chunk behind keeps them dense.
    const keep = at === this.#chunks.length - 1 && chunk.at(-1) === key ? chunkLength : chunkLength / 2;
    this.#chunks.splice(at + 1, 0, chunk.splice(keep));
  }

  /** Removes a key that is there. */
  delete(key: string): void {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return;
    const index = lowerBound(chunk, key);
    if (chunk[index] !== key) return;
    chunk.splice(index, 1);
    this.#size -= 1;
    if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  clear(): void {
    this.#chunks.length = 0;
    this.#size = 0;
  }

  /** How many keys come before `key`. */
  rank(key: string): number {
    if (this.#chunks.length === 0) return 0;
    const at = this.#chunkOf(key);
    let rank = 0;
    for (let index = 0; index < at; index += 1) rank += this.#chunks[index]!.length;
    return rank + lowerBound(this.#chunks[at]!, key);
  }

  /** Keys from `from` (included) to `to` (excluded; absent: to the end). */
  *range(from: string, to?: string): Generator<string, undefined> {
    if (this.#chunks.length === 0) return;
    let at = this.#chunkOf(from);
    let index = lowerBound(this.#chunks[at]!, from);
    for (; at < this.#chunks.length; at += 1, index = 0) {
      const chunk = this.#chunks[at]!;
      for (; index < chunk.length; index += 1) {
        const key = chunk[index]!;
        if (to !== undefined && key >= to) return;
        yield key;
      }
    }
  }

  /** The chunk a key is in or belongs in: the last that does not start after it. */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#chunks[middle]![0]! <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
