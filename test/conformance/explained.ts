import type { Difference } from './harness/compare.ts';
import type { Entry } from './harness/session.ts';

/** What is known to differ, and stays so: each rule has its paragraph in docs/kubernetes-differences.md. */

/** The pair a difference is in, as it is compared. */
export interface Pair {
  /** Title of the scenario. */
  readonly scenario: string;
  /** Method and path, with what the scenario says of it. */
  readonly request: string;
  readonly kubernetes: Entry['answer'];
  readonly berth: Entry['answer'];
}

export interface Rule {
  /** Heading of its paragraph. */
  readonly id: string;
  matches(difference: Difference, pair: Pair): boolean;
}

/** What a refusal consists of, besides its status code. */
const refusal = /^body\.(message|reason|details|code)\b/;
const anyOfRefusal = /^(status|headers|body)\b/;

const statuses = ({ kubernetes, berth }: Pair): string => `${kubernetes.status}/${berth.status}`;
const bothAnswer = (pair: Pair, status: number): boolean => statuses(pair) === `${status}/${status}`;
const text = (answer: Entry['answer']): string => JSON.stringify(answer.body) ?? '';
const said = (pair: Pair): string => `${text(pair.kubernetes)} ${text(pair.berth)}`;
const isDefinition = (pair: Pair): boolean => pair.request.includes('/customresourcedefinitions');
const isBuiltIn = ({ request }: Pair): boolean =>
  /^\w+ \/(api\/v1|apis\/(rbac|coordination|events|apiextensions)[.\w]*\/v1)\//.test(request);

/** Where one side has more of something named, or names the same in another order. */
const isAbsence = ({ path, berth }: Difference): boolean =>
  (berth === undefined && /\[[^\]]+\]$/.test(path)) || path.endsWith('<order>');

export const rules: readonly Rule[] = [
  { id: 'Version', matches: ({ path }, { request }) => path.startsWith('body.') && request.startsWith('GET /version') },
  {
    id: 'Descriptions',
    matches: ({ path }, { scenario }) =>
      /\.columnDefinitions\[[^\]]*\]\.description$/.test(path) ||
      (scenario === 'OpenAPI' && path.endsWith('description')),
  },
  {
    id: 'Kinds that are served',
    matches: (difference, { scenario, request }) =>
      (scenario === 'discovery' &&
        /^body\.(groups|items|resources)\b/.test(difference.path) &&
        isAbsence(difference)) ||
      (request === 'GET /' && difference.path.startsWith('body.paths')) ||
      (request.startsWith('GET /openapi/v3 ') && difference.path.startsWith('body[')),
  },
  {
    id: 'Discovery documents',
    matches: ({ path }, { scenario, request }) =>
      path.startsWith('body.serverAddressByClientCIDRs') ||
      (scenario === 'discovery' &&
        (/^(body\.apiVersion|headers\.cache-control)$/.test(path) ||
          /\.responseKind\.(group|version)$/.test(path) ||
          /\[customresourcedefinitions\]\.storageVersionHash$/.test(path) ||
          /v2beta1|unknown version of core/.test(request) ||
          request === 'GET /apis')) ||
      (scenario.startsWith('documents') && /a\/b\/c$|^DELETE \/apis$|^PUT \/healthz$/.test(request)),
  },
  { id: 'OpenAPI documents', matches: (_, { scenario }) => scenario === 'OpenAPI' },
  {
    id: 'Wrong input is never a 500',
    matches: ({ path }, { kubernetes, berth }) =>
      kubernetes.status === 500 && berth.status >= 400 && berth.status < 500 && anyOfRefusal.test(path),
  },
  {
    id: "Words of Go's decoders",
    matches: ({ path }, pair) =>
      path === 'body.message' &&
      bothAnswer(pair, 400) &&
      /yaml: |UTF-8|unknown conversion|Go struct field|is registered for the type|continue key|protobuf|empty data/.test(
        said(pair),
      ),
  },
  {
    id: 'Patches that do not apply',
    matches: ({ path, kubernetes, berth }) =>
      path === 'body.message' &&
      kubernetes === 'the server rejected our request due to an error in our request' &&
      String(berth).startsWith(`${kubernetes}: `),
  },
  {
    id: 'Patches of wrong types',
    matches: ({ path }, pair) =>
      (refusal.test(path) && bothAnswer(pair, 422) && said(pair).includes('is invalid: patch: Invalid value')) ||
      (pair.scenario === 'strategic merge patch' &&
        statuses(pair) === '422/400' &&
        text(pair.kubernetes).includes('is invalid: patch: Invalid value') &&
        anyOfRefusal.test(path)),
  },
  {
    id: 'Directives of strategic merge patches',
    matches: ({ path }, pair) =>
      pair.scenario === 'strategic merge patch' &&
      ((/^(200\/400|422\/200)$/.test(statuses(pair)) && /unknown patch type|retainKeys/.test(said(pair))) ||
        (/^PATCH \S+\/namespaces\/strategic( |$)/.test(pair.request) && path.startsWith('body.metadata.'))),
  },
  {
    id: 'Counts of a wrong type',
    matches: ({ path }, pair) =>
      refusal.test(path) && bothAnswer(pair, 422) && text(pair.kubernetes).includes(' accessor error: '),
  },
  {
    id: 'Definitions are served at once',
    matches: ({ path }, pair) =>
      isDefinition(pair) &&
      /^body\.(status\.(conditions|acceptedNames)|metadata\.(resourceVersion|uid|managedFields\[kube-apiserver))/.test(
        path,
      ),
  },
  {
    id: 'Costs of rules are not estimated',
    // Never of this project's own: those a cluster must take.
    matches: (_, pair) =>
      (pair.request.includes('CEL too costly') && text(pair.kubernetes).includes('estimated rule cost')) ||
      (pair.scenario === 'CEL: what compiles' && pair.request.includes('format.dns1123')),
  },
  {
    id: 'Rules that compile here alone',
    matches: (_, pair) => pair.scenario === 'CEL: what compiles' && pair.request.endsWith('(int(1e30) == 1)'),
  },
  {
    id: 'Words about definitions',
    matches: ({ path }, pair) => isDefinition(pair) && bothAnswer(pair, 422) && refusal.test(path),
  },
  {
    id: 'Protobuf is read, not written',
    matches: ({ path }, pair) =>
      (path === 'body.message' && text(pair.kubernetes).includes('application/vnd.kubernetes.protobuf')) ||
      (pair.kubernetes.headers['content-type'] === 'application/vnd.kubernetes.protobuf' && anyOfRefusal.test(path)),
  },
  {
    id: 'How far back a watch can begin',
    matches: ({ path }, { request }) =>
      request.startsWith('WATCH') && request.includes('resourceVersion=1&') && path.startsWith('body.events'),
  },
  {
    id: 'A watch from a version that is yet to come',
    matches: ({ path }, { request }) => /^WATCH \S+ {2}\(ahead\)$/.test(request) && path === 'body.events[0]',
  },
  {
    id: 'The old watch paths',
    matches: ({ path }, { request }) => /^WATCH \/api\/v1\/watch\//.test(request) && anyOfRefusal.test(path),
  },
  {
    id: 'Null values',
    matches: ({ path }, { scenario, request }) =>
      (scenario === 'apply: lists and maps' && /f:spec\.f:size(\.f:width)?$/.test(path)) ||
      (scenario.startsWith('apply: labels, finalizers') &&
        (/managedFields\[b Apply \]\.fieldsV1\.f:metadata$/.test(path) || path === 'body.metadata.resourceVersion')) ||
      (path === 'body.metadata.managedFields[conformance Update ].fieldsV1.f:rules' &&
        request.includes('/clusterroles')),
  },
  {
    id: 'Tables of built-in kinds',
    matches: ({ path }, pair) =>
      isBuiltIn(pair) &&
      /(columnDefinitions|\.rows\b|\.rows\[\d+\](\.cells\b.*)?$|^body\[)/.test(path) &&
      /tables|events|leases|roles|watch: built-in/.test(pair.scenario),
  },
  {
    id: 'Fields behind a feature gate',
    matches: ({ path }, { scenario }) =>
      scenario === 'leases' && /^body\.(items\[bad[78]\]\.)?metadata\.managedFields$/.test(path),
  },
  {
    id: 'Tokens end at once',
    matches: (_, pair) => pair.scenario === 'tokens of service accounts' && statuses(pair) === '201/401',
  },
  {
    id: 'Which of several bindings is named',
    matches: ({ path, kubernetes, berth }, { scenario }) =>
      scenario === 'reviews' &&
      (/^body\.status\.(nonResourceRules|resourceRules)\b/.test(path) ||
        (path === 'body.status.reason' &&
          [kubernetes, berth].every((reason) => String(reason).startsWith('RBAC: allowed by ')))),
  },
  {
    id: 'Namespaces that are always there',
    matches: ({ path, kubernetes, berth }, { request }) =>
      /^GET \/api\/v1\/namespaces\/?( {2}|$)/.test(request) &&
      (/^body\[\d\]$/.test(path) ||
        /items\[kube-(node-lease|public)\]$/.test(path) ||
        /managedFields\[(kube-apiserver|berth) Update \]$/.test(path) ||
        kubernetes === undefined ||
        berth === undefined),
  },
  {
    id: 'Warnings of what is excused',
    matches: ({ path, berth }, { scenario }) =>
      path === 'headers.warning' && berth === undefined && scenario.startsWith('CEL rules: an invalid object'),
  },
  {
    id: 'Metadata of embedded objects',
    matches: ({ path }, pair) =>
      statuses(pair) === '400/422' &&
      text(pair.kubernetes).includes('spec.template.metadata') &&
      anyOfRefusal.test(path),
  },
];

export function explain(difference: Difference, pair: Pair): Rule | undefined {
  return rules.find((rule) => rule.matches(difference, pair));
}
