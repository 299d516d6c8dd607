import { EvaluationError } from '@marcbachmann/cel-js';

/** `"%s has %d".format([…])`: the verbs of cel-go's strings extension. @throws EvaluationError */
export function formatText(template: string, args: readonly unknown[]): string {
  let next = 0;
  return template.replace(/%(?:(%)|(?:\.(\d{1,3}))?([a-zA-Z])|)/g, (whole, percent, precision, verb) => {
    if (percent !== undefined) return '%';
    if (verb === undefined) throw new EvaluationError(`unrecognized formatting clause "${whole}"`);
    if (next >= args.length) throw new EvaluationError(`index ${next} out of range`);
    return formatOne(verb, precision === undefined ? 6 : Number(precision), args[next++]);
  });
}

function formatOne(verb: string, precision: number, value: unknown): string {
  switch (verb) {
    case 's':
      return textOf(value);
    case 'd':
      if (isInteger(value)) return String(value);
      break;
    case 'f':
      if (typeof value === 'number' || isInteger(value)) return Number(value).toFixed(precision);
      break;
    case 'e':
      if (typeof value === 'number' || isInteger(value)) {
        return Number(value)
          .toExponential(precision)
          .replace(/e([+-])(\d)$/, 'e$10$2');
      }
      break;
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      if (isInteger(value)) return BigInt(String(value)).toString(2);
      break;
    case 'o':
      if (isInteger(value)) return BigInt(String(value)).toString(8);
      break;
    case 'x':
    case 'X': {
      let hex: string | undefined;
      if (isInteger(value)) hex = BigInt(String(value)).toString(16);
      else if (typeof value === 'string') hex = Buffer.from(value, 'utf8').toString('hex');
      else if (value instanceof Uint8Array) hex = Buffer.from(value).toString('hex');
      if (hex !== undefined) return verb === 'X' ? hex.toUpperCase() : hex;
      break;
    }
    default:
      throw new EvaluationError(`unrecognized formatting clause "${verb}"`);
  }
  throw new EvaluationError(`error during formatting: %${verb} does not accept ${typeof value}`);
}

function isInteger(value: unknown): boolean {
  return typeof value === 'bigint' || value?.constructor?.name === 'UnsignedInt';
}

function textOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (typeof value !== 'object') return String(value);
  const toIso = (value as { toISOString?: () => string }).toISOString;
  if (typeof toIso === 'function') return toIso.call(value).replace('.000Z', 'Z');
  if (value.constructor !== Object && value.constructor !== undefined) return String(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${key}: ${textOf(item)}`).join(', ')}}`;
}
