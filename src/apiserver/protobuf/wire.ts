import { formatMicroTime, formatTime } from '../../meta/index.ts';

/** How one field of a message is read. */
export type FieldType =
  | 'string'
  | 'bytes'
  | 'bool'
  | 'int'
  | 'time'
  | 'microTime'
  /** Bytes that are JSON themselves. */
  | 'json'
  | { map: FieldType }
  | { message: MessageType }
  | { list: FieldType };

/** Name and type of each field, by its number. */
export type MessageType = Readonly<Record<number, readonly [name: string, type: FieldType]>>;

const deepest = 32;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The JSON form of a protobuf message (proto2 as Kubernetes writes it). Fields without a value, which its encoder writes
 * all the same, are left out as they are from JSON; unknown fields are passed over. Throws where the bytes are none.
 */
export function readMessage(bytes: Uint8Array, type: MessageType, depth = 0): Record<string, unknown> {
  if (depth > deepest) throw new Error('messages are nested too deep');
  const reader = new Reader(bytes);
  const result: Record<string, unknown> = {};
  while (!reader.done) {
    const { field, wireType } = reader.tag();
    const known = type[field];
    if (known === undefined) {
      reader.skip(wireType);
      continue;
    }
    const [name, fieldType] = known;
    if (typeof fieldType === 'object' && 'list' in fieldType) {
      const list = (result[name] ?? []) as unknown[];
      list.push(readValue(reader, wireType, fieldType.list, depth));
      result[name] = list;
    } else if (typeof fieldType === 'object' && 'map' in fieldType) {
      const map = (result[name] ?? {}) as Record<string, unknown>;
      result[name] = map;
      const entry = readMessage(
        reader.bytes(wireType),
        { 1: ['key', 'string'], 2: ['value', fieldType.map] },
        depth + 1,
      );
      const value = entry.value ?? '';
      Object.defineProperty(map, String(entry.key ?? ''), {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    } else {
      const value = readValue(reader, wireType, fieldType, depth);
      if (value !== undefined && value !== '') result[name] = value;
    }
  }
  return result;
}

function readValue(reader: Reader, wireType: number, type: FieldType, depth: number): unknown {
  switch (type) {
    case 'bool':
      return reader.varint(wireType) !== 0n;
    case 'int':
      return Number(BigInt.asIntN(64, reader.varint(wireType)));
    case 'string':
      return utf8.decode(reader.bytes(wireType));
    case 'bytes':
      return Buffer.from(reader.bytes(wireType)).toString('base64');
    case 'time':
    case 'microTime':
      return readTime(reader.bytes(wireType), type);
    case 'json': {
      const text = utf8.decode(reader.bytes(wireType));
      return text === '' ? undefined : JSON.parse(text);
    }
    default:
      if ('message' in type) return readMessage(reader.bytes(wireType), type.message, depth + 1);
      throw new Error('a list inside a list');
  }
}

/** A zero time is an empty message. */
function readTime(bytes: Uint8Array, type: 'time' | 'microTime'): string | undefined {
  if (bytes.length === 0) return undefined;
  const { seconds = 0, nanos = 0 } = readMessage(bytes, { 1: ['seconds', 'int'], 2: ['nanos', 'int'] }) as {
    seconds?: number;
    nanos?: number;
  };
  if (type === 'time') return formatTime(seconds * 1000);
  const whole = formatMicroTime(seconds * 1000);
  return `${whole.slice(0, 20)}${String(Math.trunc(nanos / 1000)).padStart(6, '0')}Z`;
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  tag(): { field: number; wireType: number } {
    const tag = Number(this.#varint());
    return { field: Math.floor(tag / 8), wireType: tag % 8 };
  }

  varint(wireType: number): bigint {
    if (wireType !== 0) throw new Error(`a number was expected, wire type ${wireType} found`);
    return this.#varint();
  }

  bytes(wireType: number): Uint8Array {
    if (wireType !== 2) throw new Error(`text or a message was expected, wire type ${wireType} found`);
    return this.#take(Number(this.#varint()));
  }

  skip(wireType: number): void {
    if (wireType === 0) this.#varint();
    else if (wireType === 1) this.#take(8);
    else if (wireType === 2) this.bytes(2);
    else if (wireType === 5) this.#take(4);
    else throw new Error(`wire type ${wireType} is none`);
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new Error('the message ends too early');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  #varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new Error('the message ends too early');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new Error('a number is too long');
  }
}
