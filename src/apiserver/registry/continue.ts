import { badRequest } from '../errors.ts';
import { decodeOrRefuse } from '../http/body.ts';

/** Where a paged list goes on: opaque to clients. `revision` -1: from whatever is newest (an inconsistent continue). */
export interface ContinueToken {
  revision: number;
  namespace: string;
  name: string;
}

export function encodeContinue(token: ContinueToken): string {
  return Buffer.from(JSON.stringify([2, token.revision, token.namespace, token.name])).toString('base64url');
}

/** Throws 400 for what is not one of ours. */
export function decodeContinue(text: string): ContinueToken {
  const { value } = decodeOrRefuse(Buffer.from(text, 'base64url').toString('utf8'), 'json', false, ({ message }) =>
    notValid(message),
  );
  const [form, revision, namespace, name] = Array.isArray(value) ? (value as unknown[]) : [];
  if (form === 2 && Number.isSafeInteger(revision) && typeof namespace === 'string' && typeof name === 'string') {
    return { revision: revision as number, namespace, name };
  }
  const version = typeof value === 'object' && value !== null ? (value as { v?: unknown }).v : undefined;
  throw badRequest(notValid(`server does not recognize this encoded version ${version ?? form ?? ''}`));
}

function notValid(why: string): string {
  return `invalid continue token: continue key is not valid: ${why}`;
}
