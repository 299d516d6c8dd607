/** Writes protobuf's wire format (https://protobuf.dev/programming-guides/encoding/). Defaults are left out, as proto3 does. */
export class ProtobufWriter {
  #buffer = Buffer.allocUnsafe(256);
  #length = 0;

  finish(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  string(field: number, value: unknown): void {
    if (typeof value !== 'string' || value === '') return;
    const size = Buffer.byteLength(value);
    this.#tag(field, 2);
    this.#varint(size);
    this.#reserve(size);
    this.#buffer.write(value, this.#length);
    this.#length += size;
  }

  strings(field: number, values: unknown): void {
    if (!Array.isArray(values)) return;
    for (const value of values) {
      if (typeof value !== 'string') continue;
      if (value === '') this.message(field, () => {});
      else this.string(field, value);
    }
  }

  bool(field: number, value: unknown): void {
    if (value !== true) return;
    this.#tag(field, 0);
    this.#varint(1);
  }

  /** A number that is no safe integer is left out: lengths and counts of a schema never are. */
  int64(field: number, value: unknown): void {
    if (typeof value !== 'number' || value === 0 || !Number.isSafeInteger(value)) return;
    this.#tag(field, 0);
    if (value > 0) {
      this.#varint(value);
      return;
    }
    let rest = BigInt.asUintN(64, BigInt(value));
    while (rest > 127n) {
      this.#byte(Number(rest & 127n) | 128);
      rest >>= 7n;
    }
    this.#byte(Number(rest));
  }

  double(field: number, value: unknown): void {
    if (typeof value !== 'number' || value === 0) return;
    this.#tag(field, 1);
    this.#reserve(8);
    this.#buffer.writeDoubleLE(value, this.#length);
    this.#length += 8;
  }

  /** A nested message, also where it turns out empty. */
  message(field: number, write: (writer: ProtobufWriter) => void): void {
    const inner = new ProtobufWriter();
    write(inner);
    const bytes = inner.finish();
    this.#tag(field, 2);
    this.#varint(bytes.length);
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #tag(field: number, wire: number): void {
    this.#varint(field * 8 + wire);
  }

  #varint(value: number): void {
    let rest = value;
    while (rest > 127) {
      this.#byte((rest % 128) | 128);
      rest = Math.floor(rest / 128);
    }
    this.#byte(rest);
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + size));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
