import { ApiError, jsonEqual } from '../../meta/index.ts';
import { cloneJson, isObject, type JsonObject, setOwn } from './object.ts';

/** The most operations one JSON patch may have, as in kube-apiserver. */
export const maximumJsonPatchOperations = 10_000;
/** The most bytes of JSON that all `copy` operations of one patch may add: doubling would otherwise be exponential. */
export const maximumCopiedBytes = 3 * 1024 * 1024;

type Container = JsonObject | unknown[];

/**
 * JSON patch (RFC 6902), all or nothing. Neither argument is changed; untouched parts are shared with `target`.
 *
 * @throws ApiError BadRequest (400) where `operations` is no array, RequestEntityTooLarge (413) past the limits,
 *   Invalid (422) where an operation is none or does not apply, a failed `test` included.
 */
export function applyJsonPatch(target: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) {
    const form = operations === null ? 'null' : typeof operations === 'boolean' ? 'bool' : typeof operations;
    throw ApiError.of(
      'BadRequest',
      `error decoding patch: json: cannot unmarshal ${form} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  if (operations.length > maximumJsonPatchOperations) {
    throw ApiError.of(
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maximumJsonPatchOperations}, got ${operations.length}`,
    );
  }
  const document = new PatchedDocument(target);
  operations.forEach((operation, index) => {
    document.apply(decodeOperation(operation, index));
  });
  return document.root;
}

interface Operation {
  op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  path: string;
  tokens: string[];
  from: string;
  fromTokens: string[];
  value: unknown;
}

const knownOperations = ['add', 'remove', 'replace', 'move', 'copy', 'test'];

function decodeOperation(raw: unknown, index: number): Operation {
  if (!isObject(raw)) throw doesNotApply(`operation ${index} of the JSON patch must be an object`);
  const { op, path, from } = raw;
  if (typeof op !== 'string' || !knownOperations.includes(op)) {
    throw doesNotApply(`operation ${index} of the JSON patch: op must be one of ${knownOperations.join(', ')}`);
  }
  const needsFrom = op === 'move' || op === 'copy';
  if ((op === 'add' || op === 'replace' || op === 'test') && raw.value === undefined) {
    throw doesNotApply(`operation ${index} of the JSON patch: ${op} needs a value`);
  }
  return {
    op: op as Operation['op'],
    path: path as string,
    tokens: parsePointer(path, `operation ${index} of the JSON patch: path`),
    from: needsFrom ? (from as string) : '',
    fromTokens: needsFrom ? parsePointer(from, `operation ${index} of the JSON patch: from`) : [],
    value: raw.value,
  };
}

/** The reference tokens of a JSON pointer (RFC 6901). */
function parsePointer(pointer: unknown, what: string): string[] {
  if (typeof pointer !== 'string') throw doesNotApply(`${what} must be a JSON pointer`);
  if (pointer === '') return [];
  if (!pointer.startsWith('/'))
    throw doesNotApply(`${what} ${JSON.stringify(pointer)} must be empty or begin with "/"`);
  if (/~(?![01])/.test(pointer))
    throw doesNotApply(`${what} ${JSON.stringify(pointer)} has a "~" not followed by 0 or 1`);
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

class PatchedDocument {
  root: unknown;
  /** Containers made by this patch: only these are changed in place, all others are copied first. */
  readonly #owned = new Set<Container>();
  #copiedBytes = 0;

  constructor(root: unknown) {
    this.root = root;
  }

  apply(operation: Operation): void {
    switch (operation.op) {
      case 'add':
        this.#add(operation, operation.value);
        break;
      case 'remove':
        this.#remove(operation, operation.path, operation.tokens);
        break;
      case 'replace':
        // What is not there is added, against the RFC and as kube-apiserver does, where it would be a field.
        this.#replace(operation, operation.value);
        break;
      case 'test':
        this.#test(operation);
        break;
      case 'copy':
        this.#copy(operation);
        break;
      case 'move':
        this.#move(operation);
        break;
    }
  }

  #test(operation: Operation): void {
    if (jsonEqual(this.#read(operation, operation.path, operation.tokens), operation.value)) return;
    throw doesNotApply(`testing value ${operation.path} failed`);
  }

  #copy(operation: Operation): void {
    const value = this.#read(operation, operation.from, operation.fromTokens);
    this.#copiedBytes += (JSON.stringify(value) ?? '').length;
    if (this.#copiedBytes > maximumCopiedBytes) {
      throw ApiError.of(
        'RequestEntityTooLarge',
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#copiedBytes}, exceeding the limit ${maximumCopiedBytes}`,
      );
    }
    // A copy of its own: a shared one would change in both places when a later operation writes into it.
    this.#add(operation, cloneJson(value));
  }

  #move(operation: Operation): void {
    const value = this.#read(operation, operation.from, operation.fromTokens);
    if (operation.path === operation.from) return;
    if (operation.path.startsWith(`${operation.from}/`)) {
      throw doesNotApply(`move operation does not apply: ${operation.from} cannot move into itself`);
    }
    this.#remove(operation, operation.from, operation.fromTokens);
    this.#add(operation, value);
  }

  #read(operation: Operation, path: string, tokens: readonly string[]): unknown {
    let value = this.root;
    for (const token of tokens) {
      const child = childOf(value, token);
      if (child === undefined) throw missing(operation, path);
      value = child;
    }
    return value;
  }

  #add(operation: Operation, value: unknown): void {
    const { tokens } = operation;
    if (tokens.length === 0) {
      this.root = value;
      return;
    }
    const parent = this.#writableParent(operation, operation.path, tokens);
    const last = tokens[tokens.length - 1] as string;
    if (!Array.isArray(parent)) {
      setOwn(parent, last, value);
      return;
    }
    const index = last === '-' ? parent.length : arrayIndex(last);
    if (index === undefined || index > parent.length) {
      throw doesNotApply(`${operation.op} operation does not apply: ${operation.path} is not an index of its array`);
    }
    parent.splice(index, 0, value);
  }

  #remove(operation: Operation, path: string, tokens: readonly string[]): void {
    if (tokens.length === 0)
      throw doesNotApply(`${operation.op} operation does not apply: the whole object cannot be removed`);
    this.#read(operation, path, tokens);
    const parent = this.#writableParent(operation, path, tokens);
    const last = tokens[tokens.length - 1] as string;
    if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else delete parent[last];
  }

  #replace(operation: Operation, value: unknown): void {
    const { tokens } = operation;
    if (tokens.length === 0) {
      this.root = value;
      return;
    }
    const parent = this.#writableParent(operation, operation.path, tokens);
    const last = tokens[tokens.length - 1] as string;
    if (!Array.isArray(parent)) {
      setOwn(parent, last, value);
      return;
    }
    this.#read(operation, operation.path, tokens);
    parent[Number(last)] = value;
  }

  /** The container that holds the last token, with every container on the way made this patch's own. */
  #writableParent(operation: Operation, path: string, tokens: readonly string[]): Container {
    const root = this.#own(this.root);
    if (root === undefined) throw missing(operation, path);
    this.root = root;
    let container: Container = root;
    for (const token of tokens.slice(0, -1)) {
      const child = this.#own(childOf(container, token));
      if (child === undefined) throw missing(operation, path);
      if (Array.isArray(container)) container[Number(token)] = child;
      else setOwn(container, token, child);
      container = child;
    }
    return container;
  }

  #own(value: unknown): Container | undefined {
    if (typeof value !== 'object' || value === null) return undefined;
    if (this.#owned.has(value as Container)) return value as Container;
    const copy: Container = Array.isArray(value) ? value.slice() : { ...(value as JsonObject) };
    this.#owned.add(copy);
    return copy;
  }
}

function childOf(container: unknown, token: string): unknown {
  if (Array.isArray(container)) {
    const index = arrayIndex(token);
    return index === undefined ? undefined : container[index];
  }
  return isObject(container) && Object.hasOwn(container, token) ? container[token] : undefined;
}

/** RFC 6901, section 4: digits without leading zeros. */
function arrayIndex(token: string): number | undefined {
  return /^(?:0|[1-9][0-9]{0,8})$/.test(token) ? Number(token) : undefined;
}

function missing(operation: Operation, path: string): ApiError {
  return doesNotApply(`${operation.op} operation does not apply: doc is missing path: ${JSON.stringify(path)}`);
}

/** kube-apiserver's sentence for a 422 of this kind, which ends there; what did not apply is added. */
function doesNotApply(detail: string): ApiError {
  return ApiError.of('Invalid', `the server rejected our request due to an error in our request: ${detail}`, {});
}
