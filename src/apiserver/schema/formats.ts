import { isIP, isIPv4, isIPv6 } from 'node:net';
import { regexOf } from './regex/regex.ts';

/**
 * The formats Kubernetes validates (apiextensions-apiserver, pkg/apiserver/validation/formats.go), each saying whether a
 * string has it. A format that is not here is an annotation only, as there.
 */
export const stringFormats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', matcher('^[0-9a-fA-F]{24}$')],
  ['uri', isRequestUri],
  ['email', matcher('^[^@\\s<>]+@[^@\\s<>]+$')],
  ['hostname', isHostname],
  ['ipv4', (text: string) => isIPv4(text)],
  ['ipv6', (text: string) => isIPv6(text) && !text.includes('%')],
  ['cidr', isCidr],
  [
    'mac',
    matcher(
      '^([0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{2}(-[0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{4}(\\.[0-9A-Fa-f]{4}){2})$',
    ),
  ],
  ['uuid', uuid('[0-9a-f]')],
  ['uuid3', uuid('3')],
  ['uuid4', uuid('4')],
  ['uuid5', uuid('5')],
  ['isbn', (text: string) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', matcher('^[0-9]{13,19}$')],
  ['ssn', matcher('^\\d{3}[- ]?\\d{2}[- ]?\\d{4}$')],
  ['hexcolor', matcher('^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$')],
  [
    'rgbcolor',
    matcher(
      '^rgb\\(\\s*(\\d|[1-9]\\d|1\\d\\d|2[0-4]\\d|25[0-5])\\s*(,\\s*(\\d|[1-9]\\d|1\\d\\d|2[0-4]\\d|25[0-5])\\s*){2}\\)$',
    ),
  ],
  ['byte', matcher('^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$')],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
  ['date-time', isDateTime],
  ['k8s-short-name', matcher('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')],
  ['k8s-long-name', (text: string) => text.length <= 253 && longName.test(text)],
]);

const longName = regexOf('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$');
const durationForm = regexOf(
  '^[+-]?(0|((\\d+(\\.\\d*)?|\\.\\d+)\\s*(ns|us|µs|μs|ms|s|m|h|d|w|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|weeks?|wks?|milliseconds?|millis|microseconds?|micros|nanoseconds?|nanos)\\s*)+)$',
);
const dateTimeForm = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d{1,40})?(?:[Zz]|[+-](\d\d):?(\d\d))$/;

function matcher(source: string): (text: string) => boolean {
  const regex = regexOf(source);
  return (text) => regex.test(text);
}

function uuid(version: string): (text: string) => boolean {
  return matcher(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`);
}

/** Whether `text` is `<address>/<prefix length>`; host bits may be set, leading zeros may not be there. */
export function isCidr(text: string): boolean {
  const slash = text.lastIndexOf('/');
  const length = text.slice(slash + 1);
  const family = slash < 0 ? 0 : isIP(text.slice(0, slash));
  if (family === 0 || text.includes('%') || !/^(0|[1-9]\d{0,2})$/.test(length)) return false;
  return Number(length) <= (family === 4 ? 32 : 128);
}

function isHostname(text: string): boolean {
  if (text.length > 255 || text.length === 0) return false;
  return text.split('.').every((label) => /^[a-zA-Z0-9_]([a-zA-Z0-9_-]{0,61}[a-zA-Z0-9_])?$/.test(label));
}

function isRequestUri(text: string): boolean {
  if (text.startsWith('/')) return !/\s/.test(text);
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:\S+$/.test(text);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

/** `2026-01-02T03:04:05Z` with a day every month has: what Kubernetes itself writes, seen without a regular expression. */
function isPlainDateTime(text: string): boolean {
  if (text.length !== 20) return false;
  const two = (at: number): number => {
    const tens = text.charCodeAt(at) - 48;
    const ones = text.charCodeAt(at + 1) - 48;
    return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : 99;
  };
  const month = two(5);
  const day = two(8);
  return (
    two(0) <= 98 &&
    two(2) <= 98 &&
    text.charCodeAt(4) === 45 &&
    month >= 1 &&
    month <= 12 &&
    text.charCodeAt(7) === 45 &&
    day >= 1 &&
    day <= 28 &&
    text.charCodeAt(10) === 84 &&
    two(11) <= 23 &&
    text.charCodeAt(13) === 58 &&
    two(14) <= 59 &&
    text.charCodeAt(16) === 58 &&
    two(17) <= 59 &&
    text.charCodeAt(19) === 90
  );
}

function isDateTime(text: string): boolean {
  if (isPlainDateTime(text)) return true;
  const match = dateTimeForm.exec(text);
  if (match === null || !isDate(text.slice(0, 10))) return false;
  return (
    Number(match[4]) <= 23 &&
    Number(match[5]) <= 59 &&
    Number(match[6]) <= 59 &&
    Number(match[7] ?? 0) <= 24 &&
    Number(match[8] ?? 0) <= 59
  );
}

function isDuration(text: string): boolean {
  return durationForm.test(text);
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 10; i++) sum += (10 - i) * (digits[i] === 'X' ? 10 : Number(digits[i]));
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 13; i++) sum += Number(digits[i]) * (i % 2 === 0 ? 1 : 3);
  return sum % 10 === 0;
}
