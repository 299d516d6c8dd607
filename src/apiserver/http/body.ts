import { parseDocument } from 'yaml';
import { badRequest } from '../errors.ts';
import { duplicateKeys } from './duplicates.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The text of a body. Throws 400 where it is empty or not UTF-8. */
export function bodyText(body: string | Uint8Array | undefined): string {
  if (body === undefined || body.length === 0) throw badRequest('the request has no body: an object was expected');
  if (typeof body === 'string') return body;
  try {
    return decoder.decode(body);
  } catch {
    throw badRequest('the body of the request is not valid UTF-8');
  }
}

export interface DecodedBody {
  readonly value: unknown;
  /** `duplicate field "spec.x"`, one per field given twice; empty unless asked for. */
  readonly duplicates: readonly string[];
}

/** Parses a JSON or YAML text. Throws 400. */
export function decodeText(text: string, format: 'json' | 'yaml', findDuplicates: boolean): DecodedBody {
  if (format === 'yaml') return decodeYaml(text, findDuplicates);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badRequest(`the object provided is unrecognized: ${(error as Error).message}`);
  }
  return { value, duplicates: findDuplicates ? duplicateKeys(text) : [] };
}

function decodeYaml(text: string, findDuplicates: boolean): DecodedBody {
  let value: unknown;
  let duplicates: string[] = [];
  try {
    const document = parseDocument(text, { uniqueKeys: false, maxAliasCount: 100 } as never);
    if (document.errors.length > 0) throw document.errors[0];
    value = document.toJS({ maxAliasCount: 100 });
    if (findDuplicates) {
      const strict = parseDocument(text, { uniqueKeys: true });
      duplicates = strict.errors
        .filter((error) => error.code === 'DUPLICATE_KEY')
        .map((error) => error.message.split('\n')[0]!);
    }
  } catch (error) {
    throw badRequest(`error converting YAML to JSON: ${(error as Error).message}`);
  }
  return { value, duplicates };
}
