import { ApiError, isApiError, isTerminating, type KubeObject } from '../../meta/index.ts';
import { decode, encoder } from '../codec.ts';
import { alreadyExists, badRequest, forbidden, notFound } from '../errors.ts';
import type { ApiResponse } from '../http/message.ts';
import { PreconditionFailed } from '../storage/storage.ts';
import { backingRequest } from './backing.ts';
import { type Call, storageKey } from './call.ts';
import { committed } from './committed.ts';
import { decodeObject } from './decode.ts';
import { trackManager } from './managed-fields.ts';
import { namespaceState } from './namespaces.ts';
import { writeOptions } from './options.ts';
import { prepareCreate, validateCreate } from './prepare.ts';
import { respondBytes, respondObject } from './respond.ts';
import { bodyBytes, checkSize } from './size.ts';

const generatedLength = 5;
const generatedAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
const generateAttempts = 8;
/** Longest base of a generated name. */
const generateBaseLimit = 63 - generatedLength;

/** POST on a collection. */
export async function create(call: Call): Promise<ApiResponse> {
  const { dryRun, manager, fieldValidation } = writeOptions(call.request, 'CreateOptions');
  const object = decodeObject(call, fieldValidation);
  placeInNamespace(call, object);
  return createObject(call, object, dryRun, (prepared) => {
    trackManager(call, prepared, undefined, manager);
  });
}

/**
 * Creates `object`, which has been decoded: `track` sets its managed fields once it is complete. Throws 409, 404 or 403
 * for its namespace, 422.
 */
export async function createObject(
  call: Call,
  object: KubeObject,
  dryRun: boolean,
  track: (object: KubeObject) => void,
): Promise<ApiResponse> {
  const { served } = call;
  if (served.terminating) {
    const why = 'create not allowed while custom resource definition is terminating';
    throw forbidden(served.resource, object.metadata.name ?? '', why);
  }
  if ((object.metadata.resourceVersion ?? '') !== '') {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  if (served.resource.namespaced) await checkNamespace(call, object);
  const generated = (object.metadata.name ?? '') === '' && (object.metadata.generateName ?? '') !== '';
  prepareCreate(call, object);
  for (let attempt = 1; ; attempt++) {
    if (generated) object.metadata.name = generateName(call, object.metadata.generateName!);
    if (attempt === 1) {
      validateCreate(call, object);
      track(object);
      checkSize(call, object, bodyBytes(call));
    }
    try {
      return await store(call, object, dryRun);
    } catch (error) {
      const taken = error instanceof PreconditionFailed || isApiError(error, 'AlreadyExists');
      if (!taken) throw error;
      if (!generated || attempt === generateAttempts) throw await taken409(call, object);
    }
  }
}

async function store(call: Call, object: KubeObject, dryRun: boolean): Promise<ApiResponse> {
  const { served, server } = call;
  const key = storageKey(call, object.metadata.name, object.metadata.namespace ?? '');
  if (served.resource.backing !== undefined) {
    return respondObject(call, 201, await served.resource.backing.create(backingRequest(call, dryRun), object));
  }
  if (dryRun) {
    const existing = await server.storage.get(key, { newest: true });
    if (existing !== undefined) throw new PreconditionFailed(key, existing.revision);
    return respondObject(call, 201, object);
  }
  const write = encoder(served, object);
  let value: Uint8Array | undefined;
  const { revision } = await server.storage.commit({
    preconditions: [{ key, revision: 'absent' }],
    puts: [
      {
        key,
        encode: (assigned) => {
          value = write(assigned);
          return value;
        },
      },
    ],
  });
  committed(call, object, revision);
  return respondBytes(call, 201, value!, revision);
}

/** Says so where what is there already is going. */
async function taken409(call: Call, { metadata: { name, namespace = '' } }: KubeObject): Promise<ApiError> {
  const error = alreadyExists(call.served.resource, name);
  const record = await call.server.storage.get(storageKey(call, name, namespace), { newest: true });
  if (record === undefined || !isTerminating(decode(call.served, record.value, record.revision))) return error;
  return new ApiError({ ...error.status, message: `object is being deleted: ${error.message}` });
}

/** Takes the namespace of the URL; refuses a body that says another. */
export function placeInNamespace(call: Call, object: KubeObject): void {
  const { metadata } = object;
  if (!call.served.resource.namespaced) return;
  if (metadata.namespace === undefined || metadata.namespace === '') metadata.namespace = call.namespace;
  else if (metadata.namespace !== call.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

async function checkNamespace(call: Call, object: KubeObject): Promise<void> {
  const namespace = object.metadata.namespace ?? '';
  if (namespace === '') throw badRequest('an empty namespace may not be set during creation');
  const state = await namespaceState(call, namespace);
  if (state === 'absent') throw notFound({ group: '', plural: 'namespaces' }, namespace);
  if (state === 'terminating') {
    const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
    const error = forbidden(call.served.resource, object.metadata.name ?? '', why);
    error.status.details = {
      ...error.status.details,
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    };
    throw error;
  }
}

function generateName(call: Call, base: string): string {
  let suffix = '';
  for (let index = 0; index < generatedLength; index++) {
    suffix += generatedAlphabet[Math.floor(call.server.random.next() * generatedAlphabet.length)];
  }
  return base.slice(0, generateBaseLimit) + suffix;
}
