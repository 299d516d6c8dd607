import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFieldSelector, parseLabelSelector } from '../selectors.ts';
import { duplicateKeys } from './duplicates.ts';
import { negotiateOutput } from './negotiate.ts';
import { parseResourcePath, planePath, splitPlanePath } from './path.ts';

describe('duplicateKeys', () => {
  it('names fields given twice by their path', () => {
    expect(duplicateKeys('{"a":1,"b":{"c":[{"d":1,"d":2}],"c":3},"a":2}')).toEqual([
      'duplicate field "b.c[0].d"',
      'duplicate field "b.c"',
      'duplicate field "a"',
    ]);
  });

  it('is not fooled by escapes, braces in strings, and equal keys of siblings', () => {
    expect(duplicateKeys('{"a":"{\\"a\\":1,\\\\","b":[{"x":"]}"},{"x":2}],"\\u0061":1}')).toEqual([
      'duplicate field "a"',
    ]);
  });

  it('finds none in what JSON.stringify wrote', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(duplicateKeys(JSON.stringify(value))).toEqual([]);
      }),
    );
  });

  it('is quick with very many keys', () => {
    const text = `{${Array.from({ length: 200_000 }, (_, index) => `"k${index}":1`).join(',')},"k7":2}`;
    expect(duplicateKeys(text)).toEqual(['duplicate field "k7"']);
  });
});

describe('paths', () => {
  it.each([
    ['/api/v1/namespaces', ['', 'v1', 'namespaces', '', '', '']],
    ['/api/v1/namespaces/a', ['', 'v1', 'namespaces', '', 'a', '']],
    ['/api/v1/namespaces/a/finalize', ['', 'v1', 'namespaces', '', 'a', 'finalize']],
    ['/api/v1/namespaces/a/configmaps', ['', 'v1', 'configmaps', 'a', '', '']],
    ['/apis/g/v1/namespaces/a/things/t/status', ['g', 'v1', 'things', 'a', 't', 'status']],
    ['/apis/g/v1/things/a%2Fb', ['g', 'v1', 'things', '', 'a/b', '']],
    ['/apis/g/v1/things/', ['g', 'v1', 'things', '', '', '']],
  ])('reads %s', (path, expected) => {
    const { group, version, plural, namespace, name, subresource } = parseResourcePath(path)!;
    expect([group, version, plural, namespace, name, subresource]).toEqual(expected);
  });

  it.each([
    '/',
    '/api',
    '/api/v1',
    '/apis',
    '/apis/g',
    '/apis/g/v1',
    '/version',
    '/apis/g/v1/a/b/c/d/e/f',
    '/apis/g/v1/x/%zz',
  ])('finds no resource in %s', (path) => {
    expect(parseResourcePath(path)).toBeUndefined();
  });

  it.each([
    ['/planes/hub/api/v1', ['/planes/hub', '/api/v1']],
    ['/planes/cells/eu-west-1/apis', ['/planes/cells/eu-west-1', '/apis']],
    ['/planes/hub', ['/planes/hub', '/']],
    ['/api/v1/namespaces', ['', '/api/v1/namespaces']],
    [
      '/apis/resourcemanager.miloapis.com/v1alpha1/projects/alpha/control-plane/api',
      ['/apis/resourcemanager.miloapis.com/v1alpha1/projects/alpha/control-plane', '/api'],
    ],
    [
      '/apis/resourcemanager.miloapis.com/v1alpha1/projects/alpha',
      ['', '/apis/resourcemanager.miloapis.com/v1alpha1/projects/alpha'],
    ],
    [
      '/apis/resourcemanager.miloapis.com/v1alpha1/projects/a/control-planes',
      ['', '/apis/resourcemanager.miloapis.com/v1alpha1/projects/a/control-planes'],
    ],
  ])('finds the plane of %s', (path, expected) => {
    const { base, rest } = splitPlanePath(path);
    expect([base, rest]).toEqual(expected);
  });

  it.each([
    { role: 'root', name: 'root' },
    { role: 'hub', name: 'hub' },
    { role: 'cell', name: 'us-central-1' },
    { role: 'project', name: 'alpha' },
  ] as const)('finds the plane it serves a $role at', (plane) => {
    expect(splitPlanePath(`${planePath(plane)}/api/v1/pods`)).toMatchObject({
      base: planePath(plane),
      rest: '/api/v1/pods',
    });
  });
});

describe('negotiateOutput', () => {
  it.each([
    [undefined, 'object', 'json'],
    ['*/*', 'object', 'json'],
    ['application/vnd.kubernetes.protobuf,application/json', 'object', 'json'],
    ['application/yaml', 'object', 'yaml'],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', 'Table', 'json'],
    ['application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json', 'Table', 'json'],
    ['application/json;as=Table;v=v2;g=meta.k8s.io,application/json', 'object', 'json'],
    ['application/json;q=0.1, application/yaml;q=0.9', 'object', 'yaml'],
  ])('reads %s', (accept, as, format) => {
    expect(negotiateOutput(accept)).toMatchObject({ as, format });
  });

  it('refuses what is not offered', () => {
    expect(() => negotiateOutput('application/vnd.kubernetes.protobuf')).toThrow('only the following media types');
  });
});

describe('selectors', () => {
  it.each([
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['=x', "found '=', expected: !, identifier, or 'end of string'"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a in (b,=)', "unable to parse requirement: found '=', expected: ',', or identifier"],
    ['a=b,', "found '', expected: identifier after ','"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['a=b)c', "found ')', expected: ',' or 'end of string'"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['a==(', "unable to parse requirement: found '(', expected: identifier"],
    [
      'a>x',
      `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
  ])('refuses the label selector %s in Kubernetes’ words', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(message);
  });

  it.each(['a in (b,c)', ' a , !b ', 'in in (in,notin)', 'a in (,b,)', 'a notin ()', 'a=', 'a\t==\tb'])(
    'takes %s',
    (text) => {
      expect(parseLabelSelector(text)).toBeTypeOf('function');
    },
  );

  it.each([
    ['a', "invalid selector: 'a'; can't understand 'a'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a=\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
    ['z=b=c,a', "invalid selector: 'z=b=c,a'; can't understand 'a'"],
  ])('refuses the field selector %s in Kubernetes’ words', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(message);
  });

  it('judges absent labels as Kubernetes does', () => {
    const matches = (selector: string, labels: Record<string, string>) => parseLabelSelector(selector)!(labels);
    expect(matches('a!=b', {})).toBe(true);
    expect(matches('a notin (b)', {})).toBe(true);
    expect(matches('a in (b,)', { a: '' })).toBe(true);
    expect(matches('a<5', { a: '4' })).toBe(true);
    expect(matches('a<5', { a: 'x' })).toBe(false);
    expect(matches('toString', {})).toBe(false);
  });

  it('unescapes field values', () => {
    expect(parseFieldSelector('metadata.name=a\\,b\\=c,x!=y')).toEqual([
      { field: 'metadata.name', equals: true, value: 'a,b=c' },
      { field: 'x', equals: false, value: 'y' },
    ]);
  });

  it('never throws anything but a 400', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const parse of [parseLabelSelector, parseFieldSelector]) {
          try {
            parse(text);
          } catch (error) {
            expect((error as { code?: number }).code).toBe(400);
          }
        }
      }),
    );
  });
});
