import { expect, test } from 'vitest';
import { Url } from './url.ts';

/** As Go's net/url answers of the same texts: scheme, host, host name, port, escaped path. */
test.each([
  ['http://example.com:80/p', 'http', 'example.com:80', 'example.com', '80', '/p'],
  ['http://a', 'http', 'a', 'a', '', ''],
  ['http://Example.com/a/../b', 'http', 'Example.com', 'Example.com', '', '/a/../b'],
  ['http://[::1]:8080/x', 'http', '[::1]:8080', '::1', '8080', '/x'],
  ['http://[fe80::1%25en0]/', 'http', '[fe80::1%en0]', 'fe80::1%en0', '', '/'],
  ['/p?a=b', '', '', '', '', '/p'],
  ['//h/x', '', '', '', '', '//h/x'],
  ['*', '', '', '', '', '*'],
  ['mailto:x@y', 'mailto', '', '', '', ''],
  ['a:/b', 'a', '', '', '', '/b'],
  ['https://u:p@h/x', 'https', 'h', 'h', '', '/x'],
  ['http://u@h@i/', 'http', 'i', 'i', '', '/'],
  ['HTTPS://h', 'https', 'h', 'h', '', ''],
  ['http://h:', 'http', 'h:', 'h', '', ''],
  ['http:///x', 'http', '', '', '', '/x'],
  ['http://h/a b', 'http', 'h', 'h', '', '/a%20b'],
  ['http://h/a b!', 'http', 'h', 'h', '', '/a%20b%21'],
  ['http://h/x#frag', 'http', 'h', 'h', '', '/x%23frag'],
  ['http://h/é', 'http', 'h', 'h', '', '/%C3%A9'],
  ['http://h/a%2Fb', 'http', 'h', 'h', '', '/a%2Fb'],
  ['http://h/[x]', 'http', 'h', 'h', '', '/[x]'],
  ["http://h/a+b!$&'()*,;=:@", 'http', 'h', 'h', '', "/a+b!$&'()*,;=:@"],
  ['http://é.com/', 'http', 'é.com', 'é.com', '', '/'],
])('%s', (text, ...parts) => {
  const url = Url.parse(text)!;
  expect([url.scheme, url.host, url.hostname, url.port, url.escapedPath]).toEqual(parts);
});

test.each([
  '',
  'p/q',
  '../p',
  ':x',
  '1a:/b',
  'http://a b/',
  'http://h/%zz',
  'http://h/a\tb',
  'http://h:port/',
  'http://h%41/',
  'http://h|x/',
  'http://[::1',
])('%j is none', (text) => {
  expect(Url.parse(text)).toBeUndefined();
});

test('the query: values in their order, without what is no encoding', () => {
  expect({ ...Url.parse('http://h/x?a=1&b=x+y%21&a=2&c&')!.query }).toEqual({ a: ['1', '2'], b: ['x y!'], c: [''] });
  expect({ ...Url.parse('http://h/x?a=%zz&b=1;c=2')!.query }).toEqual({});
});
