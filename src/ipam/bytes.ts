/** Starts and ends of blocks as the tables hold them: 16 bytes, big-endian, IPv4 in the low four. */

export function bytesOf(value: bigint): Uint8Array {
  return fromHex(hexOf(value));
}

export function numberOf(bytes: unknown): bigint {
  return BigInt(`0x${toHex(bytes)}`);
}

/** Fixed in width, so that texts order as numbers do. */
export function hexOf(value: bigint): string {
  return value.toString(16).padStart(32, '0');
}

export function fromHex(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex');
}

export function toHex(bytes: unknown): string {
  const view = bytes as Uint8Array;
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('hex');
}
