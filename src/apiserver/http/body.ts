import { LineCounter, parseDocument } from 'yaml';
import { badRequest } from '../errors.ts';
import { duplicateKeys } from './duplicates.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a body, '' where there is none. Throws 400 where it is not UTF-8. */
export function bodyText(body: string | Uint8Array | undefined): string {
  if (body === undefined || body.length === 0) return '';
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

export type BodyFormat = 'json' | 'yaml';

/** A text that is no JSON or YAML. The message is what is wrong with it, in the words of Go's decoders. */
export class BodySyntaxError extends Error {
  readonly format: BodyFormat;

  constructor(format: BodyFormat, message: string) {
    super(message);
    this.name = 'BodySyntaxError';
    this.format = format;
  }
}

/** Parses a JSON or YAML text. Throws BodySyntaxError. */
export function decodeText(text: string, format: BodyFormat, findDuplicates: boolean): DecodedBody {
  if (format === 'yaml') return decodeYaml(text, findDuplicates);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BodySyntaxError('json', goSyntaxError(text, (error as Error).message));
  }
  return { value, duplicates: findDuplicates ? duplicateKeys(text) : [] };
}

/** Decodes a text; what is wrong with it becomes a 400 of what `word` makes of it. */
export function decodeOrRefuse(
  text: string,
  format: BodyFormat,
  findDuplicates: boolean,
  word: (error: BodySyntaxError) => string,
): DecodedBody {
  try {
    return decodeText(text, format, findDuplicates);
  } catch (error) {
    if (error instanceof BodySyntaxError) throw badRequest(word(error));
    throw error;
  }
}

/** As apimachinery's serializers begin their refusal of a text of either format. */
export function notDecodable(error: BodySyntaxError): string {
  return error.format === 'json'
    ? `couldn't get version/kind; json parse error: ${error.message}`
    : `error converting YAML to JSON: ${error.message}`;
}

const places: readonly [RegExp, string][] = [
  [/property name/, 'looking for beginning of object key string'],
  [/after property value/, 'after object key:value pair'],
  [/after array element/, 'after array element'],
  [/after property name/, 'after object key'],
  [/after JSON/, 'after top-level value'],
];

/** What encoding/json says of the text, from what JSON.parse said: the first character it did not expect, and where. */
function goSyntaxError(text: string, message: string): string {
  const position = /at position (\d+)/.exec(message);
  const at = position === null ? text.indexOf(/token '(.)'/.exec(message)?.[1] ?? '\0') : Number(position[1]);
  // Go looks at bytes.
  const character = at < 0 ? '' : String.fromCharCode(Buffer.from(text.slice(at, at + 2))[0] ?? 0);
  if (at < 0 || at >= text.length) return 'unexpected end of JSON input';
  const place = places.find(([pattern]) => pattern.test(message))?.[1] ?? 'looking for beginning of value';
  return `invalid character ${quoted(character)} ${place}`;
}

function quoted(character: string): string {
  if (character === "'") return `'\\''`;
  // Of one byte, what is no letter or sign is written as its number.
  const code = character.charCodeAt(0);
  const plain = (code >= 0x20 && code < 0x7f) || (code > 0xa0 && code !== 0xad);
  return plain ? `'${character}'` : `'\\u${code.toString(16).padStart(4, '0')}'`;
}

/** Keys given twice in one map, as one problem of go-yaml's. */
function repeatedKeys(text: string): string[] {
  const lineCounter = new LineCounter();
  const { errors } = parseDocument(text, { version: '1.1', uniqueKeys: true, lineCounter });
  const lines = errors
    .filter((error) => error.code === 'DUPLICATE_KEY')
    .map(({ pos: [start] }) => {
      const [key = ''] = /^[^\s:]*/.exec(text.slice(start)) ?? [];
      return `  line ${lineCounter.linePos(start).line}: key ${JSON.stringify(key.replace(/^["']|["']$/g, ''))} already set in map`;
    });
  return lines.length === 0 ? [] : [`yaml: unmarshal errors:\n${lines.join('\n')}`];
}

function decodeYaml(text: string, findDuplicates: boolean): DecodedBody {
  let value: unknown;
  let duplicates: string[] = [];
  try {
    // YAML 1.1, where `on` and `yes` are true, as the YAML of Kubernetes is.
    const document = parseDocument(text, { version: '1.1', uniqueKeys: false });
    if (document.errors.length > 0) throw document.errors[0];
    value = document.toJS({ maxAliasCount: 100 });
    if (findDuplicates) duplicates = repeatedKeys(text);
  } catch (error) {
    throw new BodySyntaxError('yaml', `yaml: ${(error as Error).message}`);
  }
  return { value, duplicates };
}
