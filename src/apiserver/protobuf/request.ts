import { badRequest } from '../errors.ts';
import type { ApiRequest } from '../http/message.ts';
import { baseType, unsupportedMediaType } from '../http/negotiate.ts';
import { deleteOptions, kinds } from './kinds.ts';
import { type MessageType, readMessage } from './wire.ts';

const mediaType = 'application/vnd.kubernetes.protobuf';
const magic = Buffer.from('k8s\0');

/** runtime.Unknown of k8s.io/apimachinery: the kind, and the object's own bytes (as base64 here). */
const envelope: MessageType = {
  1: ['type', { message: { 1: ['apiVersion', 'string'], 2: ['kind', 'string'] } }],
  2: ['raw', 'bytes'],
};

/**
 * A request whose body is protobuf, with the same object as JSON; any other request as it is. kubectl's typed commands
 * (`create namespace`, `auth can-i`) and Go controllers send the built-in kinds so, and do not fall back. Throws 415 for a
 * kind that has no protobuf form here, 400 for bytes that are none.
 */
export function acceptProtobuf(request: ApiRequest): ApiRequest {
  const header = request.headers['content-type'];
  if (baseType(Array.isArray(header) ? header[0] : header) !== mediaType) return request;
  // Of a delete, nothing says nothing.
  if ((request.body === undefined || request.body.length === 0) && request.method === 'DELETE') return request;
  const body = Buffer.from((request.body ?? '') as Uint8Array);
  return {
    ...request,
    headers: { ...request.headers, 'content-type': 'application/json' },
    body: JSON.stringify(decodeObject(body)),
  };
}

function decodeObject(body: Buffer): unknown {
  if (!body.subarray(0, magic.length).equals(magic)) {
    throw badRequest(
      body.length === 0
        ? 'empty data (<empty>)'
        : 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    );
  }
  try {
    const { type, raw = '' } = readMessage(body.subarray(magic.length), envelope) as {
      type?: { apiVersion?: string; kind?: string };
      raw?: string;
    };
    const { apiVersion = '', kind = '' } = type ?? {};
    const message = kind === 'DeleteOptions' ? deleteOptions : kinds.get(`${apiVersion}/${kind}`);
    // A version that there is not is refused as one that is sent as JSON.
    if (message === undefined && [...kinds.keys()].some((key) => key.endsWith(`/${kind}`))) return { apiVersion, kind };
    if (message === undefined) {
      throw unsupportedMediaType(['application/json', 'application/yaml']);
    }
    return withoutEmptyMetadata({ apiVersion, kind, ...readMessage(Buffer.from(raw, 'base64'), message) });
  } catch (error) {
    if (error instanceof Error && 'status' in error) throw error;
    throw badRequest(`the body is not an object in Kubernetes protobuf: ${(error as Error).message}`);
  }
}

/** What the encoder writes although it has no value: `generation: 0`; and `fieldsV1`, which JSON has one level up. */
function withoutEmptyMetadata(object: Record<string, unknown>): Record<string, unknown> {
  const metadata = object.metadata as Record<string, unknown> | undefined;
  if (metadata?.generation === 0) delete metadata.generation;
  for (const entry of (metadata?.managedFields ?? []) as { fieldsV1?: { Raw?: unknown } }[]) {
    if (entry.fieldsV1 !== undefined) entry.fieldsV1 = (entry.fieldsV1.Raw ?? {}) as never;
  }
  return object;
}
