// Import boundaries: the list in docs/decisions/structure.md, checked by `npm run boundaries`.
const rooms = [
  'meta',
  'address',
  'api',
  'kube',
  'apiserver',
  'federation',
  'ipam',
  'network',
  'compute',
  'fabric',
  'node',
  'platform',
  'cli',
];
const knowsNoKinds = ['kube', 'apiserver', 'federation'];
const siblings = ['ipam', 'network', 'compute', 'fabric'];

/** A room may import only rooms listed above it. */
const order = rooms.map((room, index) => ({
  name: `${room}-imports-only-rooms-above`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: `^src/(${[...rooms.slice(index + 1), 'none'].join('|')})/` },
}));

/** A room's public face is its index.ts; what it offers to tests is testing/index.ts. */
const faces = rooms.map((room) => ({
  name: `${room}-is-entered-through-its-index`,
  severity: 'error',
  from: { path: '^(src|bench|test|scripts)/', pathNot: `^src/${room}/` },
  to: { path: `^src/${room}/`, pathNot: `^src/${room}/(testing/)?index\\.ts$` },
}));

/** What serves tests: their helpers stand beside them, models and makers of nonsense in folders of their own. */
const tests = ['\\.test\\.ts$', '\\.fixture\\.ts$', '/testing[-a-z]*\\.ts$', '/testing/', '^src/network/cell/model/', '^src/apiserver/malformed/'];
const product = {
  name: 'product-imports-nothing-of-tests',
  severity: 'error',
  from: { path: '^src/', pathNot: tests },
  to: { path: [...tests, '^(test|bench)/'] },
};

const kinds = knowsNoKinds.map((room) => ({
  name: `${room}-knows-no-kinds`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^src/api/' },
}));

const apart = siblings.map((room) => ({
  name: `${room}-meets-its-siblings-through-the-api`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: `^src/(${siblings.filter((other) => other !== room).join('|')})/` },
}));

/** Within a room the planes never import each other. */
const planes = ['network', 'compute', 'fabric'].flatMap((room) =>
  ['project', 'hub', 'cell'].map((plane) => ({
    name: `${room}-${plane}-imports-no-other-plane`,
    severity: 'error',
    from: { path: `^src/${room}/${plane}/` },
    to: { path: `^src/${room}/(${['project', 'hub', 'cell'].filter((other) => other !== plane).join('|')})/` },
  })),
);

export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } } },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    product,
    ...order,
    ...faces,
    ...kinds,
    ...apart,
    ...planes,
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(node_modules|coverage)/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'], extensions: ['.ts', '.mjs', '.js', '.json'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
