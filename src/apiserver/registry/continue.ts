import { badRequest } from '../errors.ts';

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
  try {
    const value = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown[];
    const [form, revision, namespace, name] = value;
    if (form === 2 && Number.isSafeInteger(revision) && typeof namespace === 'string' && typeof name === 'string') {
      return { revision: revision as number, namespace, name };
    }
  } catch {
    // Falls through to the refusal.
  }
  throw badRequest(
    'invalid continue token: continue key is not valid: use the metadata.continue of the previous page as it is',
  );
}
