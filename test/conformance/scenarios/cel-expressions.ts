import { crds, makeNamespace, served } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';
import type { Json } from '../harness/session.ts';

const text = (more: object = {}) => ({ type: 'string', maxLength: 60, ...more });

/** One of everything that a rule may meet. */
const spec = {
  type: 'object',
  required: ['s', 'i'],
  properties: {
    s: text(),
    other: text(),
    i: { type: 'integer' },
    n: { type: 'number' },
    b: { type: 'boolean' },
    l: { type: 'array', maxItems: 5, items: text() },
    li: { type: 'array', maxItems: 5, items: { type: 'integer' } },
    set: { type: 'array', maxItems: 5, items: text(), 'x-kubernetes-list-type': 'set' },
    map: {
      type: 'array',
      maxItems: 5,
      items: {
        type: 'object',
        required: ['k'],
        properties: { k: text(), v: text() },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    m: { type: 'object', maxProperties: 5, additionalProperties: text() },
    o: { type: 'object', properties: { a: text(), 'b-c': text(), namespace: text(), in: text() } },
    time: text({ format: 'date-time' }),
    date: text({ format: 'date' }),
    duration: text({ format: 'duration' }),
    bytes: text({ format: 'byte' }),
    port: { 'x-kubernetes-int-or-string': true },
    any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
    maybe: text({ nullable: true }),
    choice: text({ enum: ['x', 'y'] }),
  },
};

/** Rules about `spec` that compile. Whether they hold is the servers' to say. */
const expressions = [
  'self.s.size() == 5 && size(self.l) == 3',
  "self.s.startsWith('he') && self.s.endsWith('lo') && self.s.contains('ll')",
  "self.s.matches('^[a-z]+$')",
  "self.s.indexOf('l') == 2 && self.s.lastIndexOf('l') == 3 && self.s.charAt(1) == 'e'",
  "self.s.replace('l', 'L') == 'heLLo' && self.s.replace('l', 'L', 1) == 'heLlo'",
  "self.s.split('l') == ['he', '', 'o'] && 'a,b,c'.split(',', 2) == ['a', 'b,c']",
  "self.s.substring(1, 3) == 'el' && self.s.substring(3) == 'lo'",
  'self.s.substring(9) == self.s',
  "self.s.upperAscii() == 'HELLO' && 'ÀB'.lowerAscii() == 'Àb' && ' x '.trim() == 'x'",
  "self.l.join('-') == 'a-b-c' && self.l.join() == 'abc'",
  "'%s is %d of %.2f %x %b %e'.format([self.s, self.i, self.n, self.i, self.b, self.n]) == 'x'",
  "'%s %s'.format([self.l, self.m]) == 'x'",
  "self.s.find('l+') == 'll' && self.s.findAll('[lo]') == ['l', 'l', 'o'] && self.s.findAll('[lo]', 2).size() == 2",
  'self.i + 1 == 8 && self.i - 1 == 6 && self.i * 2 == 14 && self.i / 2 == 3 && self.i % 2 == 1 && -self.i == -7',
  'self.i / (self.i - 7) == 1',
  'self.i % 0 == 1',
  '9223372036854775807 + self.i > 0',
  'self.n == 1.5 && self.n * 2.0 == 3.0 && self.n > 1 && self.i < 7.5',
  'self.n / 0.0 > 1.0',
  "int('12') == 12 && double('1.5') == 1.5 && uint(7) == 7u && string(self.i) == '7' && bool('true')",
  'type(self.i) == int && type(self.s) == string && type(self.l) == list && type(1u) == uint',
  'dyn(self.i) == 7 && dyn(self.i) == 7.0',
  "self.l.all(x, x < 'd') && self.l.exists(x, x == 'b') && self.l.exists_one(x, x == 'c')",
  "self.l.filter(x, x != 'a').map(x, x + '!') == ['b!', 'c!'] && self.l.map(x, x == 'a', x) == ['a']",
  "'b' in self.l && !('z' in self.l) && self.l[1] == 'b' && self.l + ['d'] == ['a', 'b', 'c', 'd']",
  "self.l[9] == 'x'",
  'self.l.isSorted() && self.li.sum() == 6 && self.li.min() == 1 && self.li.max() == 3',
  "self.l.indexOf('c') == 2 && self.l.lastIndexOf('z') == -1",
  '[].min() == 1',
  "self.l.slice(1, 2) == ['b'] && [3, 1, 2].sort() == [1, 2, 3] && self.l.reverse()[0] == 'c'",
  'self.l.distinct() == self.l && [[1], [2]].flatten() == [1, 2]',
  "self.map.all(e, e.k != '') && self.map.exists(e, e.k == 'one' && e.?v.orValue('none') == 'none')",
  "self.m.all(k, self.m[k] != '') && 'p' in self.m && self.m.p == '1' && self.m['q'] == '2' && size(self.m) == 2",
  "self.m.map(k, k).size() == 2 && self.m.exists_one(k, k == 'p') && self.m.filter(k, k == 'p') == ['p']",
  "self.m['absent'] == 'x'",
  "self.m.absent == 'x'",
  'has(self.m.p) && !has(self.m.absent) && has(self.o.a) && !has(self.o.namespace) && !has(self.other)',
  'has(self.o.namespace)',
  "self.o.namespace == 'n' && self.o.__namespace__ == 'n'",
  "self.o.?namespace.orValue('none') == 'n'",
  "self.other == 'x'",
  "has(self.o.b__dash__c) && self.o.b__dash__c == 'd' && !has(self.o.__namespace__) && !has(self.o.__in__)",
  "self.?other.hasValue() == false && self.?other.orValue('none') == 'none' && self.o.?a.value() == 'x'",
  'optional.of(1).optMap(x, x + 1).value() == 2 && optional.none().or(optional.of(3)).value() == 3',
  "optional.ofNonZeroValue('').hasValue() || self.m[?'p'].orValue('') == '1' && self.l[?9].hasValue() == false",
  "self.?other.value() == 'x'",
  "self.time > timestamp('2001-01-01T00:00:00Z') && self.time.getFullYear() == 2002 && self.time.getMonth() == 1",
  "self.time + duration('1h') == timestamp('2002-02-03T05:05:06Z') && self.time.getHours('+02:00') == 6",
  "self.duration == duration('90s') && self.duration.getMinutes() == 1 && self.duration < duration('1h')",
  "self.date == timestamp('2002-02-03T00:00:00Z') && self.date.getDayOfWeek() == 0",
  "self.bytes == b'hello' && size(self.bytes) == 5 && string(self.bytes) == 'hello'",
  "type(self.port) == int ? self.port < 100 : self.port == 'http'",
  "has(self.template.kind) && self.template.kind == 'ConfigMap' && self.template.metadata.name == 'n'",
  "self.template.metadata.generateName == 'n'",
  "has(self.maybe) || self.choice in ['x', 'z']",
  "url('https://u@example.com:80/p?q=1&q=2').getHost() == 'example.com:80' && isURL('https://x/')",
  "url('https://example.com:80/p?q=1').getPort() == '80' && url('https://x/a').getQuery() == {} && !isURL('x')",
  "ip('192.168.0.1').family() == 4 && isIP('::1') && ip('::1').isLoopback() && string(ip('1.2.3.4')) == '1.2.3.4'",
  "ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD') && !isIP('::ffff:1.2.3.4')",
  "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsCIDR('10.2.0.0/16') && isCIDR('::/0')",
  "cidr('192.168.1.5/24').masked() == cidr('192.168.1.0/24') && cidr('::/0').prefixLength() == 0",
  "cidr('10.0.0.0/8').ip().family() == 4 && string(cidr('10.0.0.0/8')) == '10.0.0.0/8'",
  "ip('nonsense').family() == 4",
  "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('100m').asApproximateFloat() == 0.1",
  "quantity('2k').isInteger() && quantity('2k').asInteger() == 2000 && quantity('1').add(quantity('1')).compareTo(quantity('2')) == 0",
  "isQuantity('1.5Ki') && !isQuantity('1 Ki') && quantity('50').sub(20) == quantity('30')",
  "quantity('nonsense').isInteger()",
  "semver('1.2.3').isLessThan(semver('1.10.0')) && isSemver('1.2.3-rc.1') && semver('1.2.3').major() == 1",
  "isSemver('v1.2', true) && semver('v1.0', true).minor() == 0 && !isSemver('v1.2')",
  'sets.contains([1, 2, 3], [2]) && sets.equivalent([1, 1], [1]) && sets.intersects([1], [1, 2])',
  "self.l.transformList(i, v, i > 0, v) == ['b', 'c'] && self.m.all(k, v, k != v)",
  "self.m.transformMap(k, v, v + v)['p'] == '11' && self.l.exists(i, v, i == 0 && v == 'a')",
  "self.s == 'x' || self.i / 0 == 1 || self.b",
  "(self.i / 0 == 1) && self.s == 'x'",
  'self.i == 7 ? self.b : self.i / 0 == 1',
  "'\\u00e9' == 'é' && r'\\n'.size() == 2 && '''a'b''' == \"a'b\" && 'é'.size() == 1",
  '0x10 == 16 && 1e3 == 1000.0 && [1, 2,] == [1, 2] && {1: 2}[1] == 2',
  "{'a': 1}.a == 1 && {'a': {'b': [1]}}.a.b[0] == 1 && !('z' in {'a': 1})",
  "self.s < 'world' && self.b && true > false && 'a' < 'b'",
];

/** Rules that do not compile, or say nothing. */
const wrong = [
  "self.s.matches('(')",
  "'%d'.format(['x']) == 'x'",
  "int('x') == 1",
  'int(1e30) == 1',
  'math.greatest(1, self.i) == 7 && math.least([1, 2]) == 1',
  "timestamp('nonsense') == self.time",
  "self.map == [{'k': 'two', 'v': 'b'}, {'k': 'one'}]",
  "self.any.known == 'x'",
  'self.maybe == null',
  "format.dns1123Label().validate('ok') == optional.none() && format.named('uuid').hasValue()",
  "format.dns1123Subdomain().validate('Not OK').hasValue() && !format.named('odd').hasValue()",
  'cel.bind(x, self.s + self.s, x.size() == 10)',
  "self.s.reverse() == 'x'",
  "base64.encode(b'x') == 'eA=='",
  "quantity('-1').sign() == -1",
  'self.absent == 1',
  'self.s + 1 == 2',
  'self.s',
  'self.s == 5',
  'self.l.all(x, x > 5)',
  'unknown(self.s)',
  "self.s.nothing() == 'x'",
  'self.i == ',
  'self.s.size( == 1',
  '1 +',
  "self.b && 'x'",
  "self.b ? 1 : 'x'",
  'self.o.namespace == "x" && self.metadata.name == "x"',
  'oldSelf.s == self.s && unknownSelf',
  'self.any.known == 1 && self.any.missing.deep',
  'has(self)',
  'has(self.s.x)',
  'self.m[1] == "x"',
  'self.l["a"] == "x"',
  'size(5) == 1',
  "duration(5) == duration('1s')",
  "'x'.matches(1)",
  '__import__("os")',
  '[1, "x"].exists(x, x.y)',
  'self.template.spec == 1',
  'self.choice.x',
];

const definition = (rules: readonly object[], plural = 'frogs'): Json => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.cel.test` },
  spec: {
    group: 'cel.test',
    scope: 'Namespaced',
    names: { plural, kind: plural[0]!.toUpperCase() + plural.slice(1, -1) },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { ...spec, 'x-kubernetes-validations': rules } },
          },
        },
      },
    ],
  },
});

const verdict = (body: Json): Json =>
  body.kind === 'Status'
    ? [body.reason, body.details?.causes?.map(({ field, reason }: Json) => [field, reason])]
    : 'taken';

scenario('CEL: what compiles', async (api) => {
  for (const rule of [...expressions, ...wrong]) {
    await api.send('POST', `${crds}?dryRun=All`, { body: definition([{ rule }]), note: rule, view: verdict });
  }
  for (const [note, more] of Object.entries({
    'message of an expression': { messageExpression: "'got ' + self.s" },
    'message of several': { messageExpression: "'%s has %d'.format([self.s, self.i])", message: 'fixed' },
    'message of a missing field': { messageExpression: "'x' + self.absent" },
    'message with old': { messageExpression: "'was ' + oldSelf.s" },
    'a place': { fieldPath: '.o.a' },
    'a place in a map': { fieldPath: ".m['p']" },
    'a place with a dash': { fieldPath: ".o['b-c']" },
    'a place in a list': { fieldPath: '.l[0]' },
    'a place without its dot': { fieldPath: 'o' },
    'optionalOldSelf where nothing is old': { optionalOldSelf: true },
    'reason Required': { reason: 'FieldValueRequired' },
    'reason Duplicate': { reason: 'FieldValueDuplicate' },
    'reason TypeInvalid': { reason: 'FieldValueTypeInvalid' },
    'an empty message': { message: '' },
    'a message of blanks': { message: '  ' },
    'a long message': { message: 'x'.repeat(2049) },
  })) {
    const body = definition([{ rule: 'self.i > 5', ...more }]);
    await api.send('POST', `${crds}?dryRun=All`, { body, note, view: verdict });
  }
});

scenario('CEL: what holds', async (api) => {
  await makeNamespace(api, 'cel-values');
  const rules = expressions.map((rule, index) => ({ rule, message: `${index}: ${rule}` }));
  const whole = definition(rules, 'toads');
  await api.send('POST', crds, { body: whole, note: 'all of them', view: verdict });
  await served(api, whole);
  const toads = '/apis/cel.test/v1/namespaces/cel-values/toads';
  const full = {
    s: 'hello',
    i: 7,
    n: 1.5,
    b: true,
    l: ['a', 'b', 'c'],
    li: [1, 2, 3],
    set: ['x', 'y'],
    map: [{ k: 'one' }, { k: 'two', v: 'b' }],
    m: { p: '1', q: '2' },
    o: { a: 'x', 'b-c': 'd' },
    time: '2002-02-03T04:05:06Z',
    date: '2002-02-03',
    duration: '1m30s',
    bytes: 'aGVsbG8=',
    port: 80,
    template: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'n' } },
    choice: 'x',
  };
  const toad = (name: string, its: object) => ({
    apiVersion: 'cel.test/v1',
    kind: 'Toad',
    metadata: { name },
    spec: its,
  });
  // Which rules do not hold, by their numbers: why, in each server's own words, is no business of this scenario.
  const failed = (body: Json): Json =>
    body.details?.causes
      ?.map(({ message }: Json) => Number(/(\d+): /.exec(message.replace(/^.*? evaluating rule: /, ''))?.[1]))
      .sort((a: number, b: number) => a - b) ?? body;
  const judged = (name: string, its: object) =>
    api.send('POST', toads, { body: toad(name, its), note: name, view: failed });
  await judged('full', full);
  await judged('bare', { s: 'x', i: 0 });
  await judged('reserved', { ...full, o: { ...full.o, namespace: 'n', in: 'i' } });
  await judged('other', { ...full, port: 'http', maybe: 'x', any: { known: 'x' }, b: false });
  await api.delete(`${crds}/toads.cel.test`, undefined, { view: (body: Json) => body.kind });
});

scenario('CEL: sets and maps', async (api) => {
  await makeNamespace(api, 'cel-sets');
  const rule = "self.set == ['y', 'x'] && self.set + ['x'] == ['x', 'y']";
  const whole = definition([{ rule }], 'geckos');
  await api.send('POST', crds, { body: whole, note: 'sets', view: verdict });
  await served(api, whole);
  const geckos = '/apis/cel.test/v1/namespaces/cel-sets/geckos';
  const body = {
    apiVersion: 'cel.test/v1',
    kind: 'Gecko',
    metadata: { name: 'g' },
    spec: { s: 'x', i: 1, set: ['x', 'y'] },
  };
  await api.send('POST', geckos, { body, view: (answer) => answer.kind });
  await api.delete(`${crds}/geckos.cel.test`, undefined, { view: (answer: Json) => answer.kind });
});

scenario('CEL: messages, reasons and places of refusals', async (api) => {
  await makeNamespace(api, 'cel-messages');
  const rules = [
    { rule: "self.s != 'a'", messageExpression: "'got ' + self.s", message: 'fixed' },
    { rule: "self.s != 'b'", messageExpression: "self.m['absent']", message: 'fixed where the expression fails' },
    { rule: "self.s != 'c'", messageExpression: "''", message: 'fixed where it is empty' },
    { rule: "self.s != 'd'", messageExpression: "'  '" },
    { rule: "self.s != 'e'", messageExpression: "'two\\nlines'" },
    { rule: "self.s != 'f'" },
    { rule: "self.s != 'g'\n  && self.i > 0", message: 'g' },
    { rule: "self.s != 'h'", reason: 'FieldValueRequired', fieldPath: '.o.a', message: 'h' },
    { rule: "self.s != 'i'", reason: 'FieldValueDuplicate', fieldPath: ".o['b-c']", message: 'i' },
    { rule: "self.s != 'j'", reason: 'FieldValueForbidden', fieldPath: ".m['p']", message: 'j' },
    { rule: "self.s != 'k'", reason: 'FieldValueInvalid', message: ' around ' },
    { rule: "self.s != 'l' || self.i / 0 == 1", message: 'l' },
    { rule: 'self.s == oldSelf.s || self.i > 3', message: 'a change needs i over 3' },
    {
      rule: 'oldSelf.hasValue() ? self.i >= oldSelf.value().i : self.i == 1',
      optionalOldSelf: true,
      messageExpression: "oldSelf.hasValue() ? 'never less' : 'begins at 1'",
    },
  ];
  const whole = definition(rules, 'newts');
  await api.send('POST', crds, { body: whole, note: 'all of them', view: verdict });
  await served(api, whole);
  const newts = '/apis/cel.test/v1/namespaces/cel-messages/newts';
  const newt = (s: string, i = 1) => ({
    apiVersion: 'cel.test/v1',
    kind: 'Newt',
    metadata: { name: `newt-${s}` },
    spec: { s, i, m: { q: 'x' } },
  });
  for (const s of 'abcdefghijkl') await api.post(newts, newt(s));
  await api.post(newts, newt('g', 0));
  await api.post(newts, newt('z', 2));
  await api.post(newts, newt('z'));
  await api.patch('merge', `${newts}/newt-z`, { spec: { s: 'y' } });
  await api.patch('merge', `${newts}/newt-z`, { spec: { s: 'y', i: 5 } });
  await api.patch('merge', `${newts}/newt-z`, { spec: { i: 4 } });
  await api.patch('merge', `${newts}/newt-z`, { spec: { s: 'a' } });
  await api.patch('apply', `${newts}/newt-z?fieldManager=m&force=true`, newt('z', 1));
  await api.delete(`${crds}/newts.cel.test`, undefined, { view: (body: Json) => body.kind });
});
