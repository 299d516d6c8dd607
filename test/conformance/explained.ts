import type { Difference } from './harness/compare.ts';
import type { Entry, Json } from './harness/session.ts';

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
const isBuiltIn = ({ request }: Pair): boolean => !/conformance\.test|datumapis|ratchet\.test|life\.test/.test(request);

export const rules: readonly Rule[] = [
  { id: 'Version', matches: ({ path }, { request }) => path.startsWith('body.') && request.startsWith('GET /version') },
  { id: 'Descriptions', matches: ({ path }) => path.endsWith('.description') },
  {
    id: 'Kinds that are served',
    matches: ({ path }, { scenario, request }) =>
      (scenario === 'discovery' && /^body(\.\w+)?(\[[^\]]*\]|<order>|\.(groups|items|resources)\b)/.test(path)) ||
      (request === 'GET /' && path.startsWith('body.paths')) ||
      (request.startsWith('GET /openapi/v3 ') && path.startsWith('body[')),
  },
  {
    id: 'Discovery documents',
    matches: ({ path }, { scenario, request }) =>
      (scenario === 'discovery' &&
        (/^(body\.apiVersion|headers\.cache-control|body\.serverAddressByClientCIDRs)/.test(path) ||
          /v2beta1|unknown version of core/.test(request) ||
          request === 'GET /apis')) ||
      path.startsWith('body.serverAddressByClientCIDRs') ||
      (scenario.startsWith('documents') && /a\/b\/c$|^DELETE \/apis$|^PUT \/healthz$/.test(request)),
  },
  { id: 'OpenAPI documents', matches: (_, { scenario }) => scenario === 'OpenAPI' },
  {
    id: 'Wrong input is never a 500',
    matches: ({ path }, { kubernetes, berth }) =>
      kubernetes.status === 500 && berth.status >= 400 && berth.status < 500 && anyOfRefusal.test(path),
  },
  {
    id: 'Words about selectors',
    matches: ({ path }, pair) =>
      path === 'body.message' && bothAnswer(pair, 400) && /(label|field)Selector=/.test(pair.request),
  },
  {
    id: "Words of Go's decoders",
    matches: ({ path }, pair) =>
      path === 'body.message' &&
      bothAnswer(pair, 400) &&
      /json|yaml|YAML|decod|unmarshal|cannot be handled|is registered|continue key|base64|UTF-8/.test(said(pair)),
  },
  {
    id: 'Patches that do not apply',
    matches: ({ path, kubernetes, berth }) =>
      path === 'body.message' &&
      kubernetes === 'the server rejected our request due to an error in our request' &&
      String(berth).startsWith(`${kubernetes}: `),
  },
  {
    id: 'Strictly validated patches',
    matches: ({ path }, pair) =>
      refusal.test(path) && bothAnswer(pair, 422) && said(pair).includes('is invalid: patch: Invalid value'),
  },
  {
    id: 'Patches of built-in kinds',
    matches: ({ path }, pair) =>
      pair.scenario === 'strategic merge patch' &&
      ((statuses(pair) === '422/400' && anyOfRefusal.test(path)) ||
        (/^PATCH \S+\/namespaces\/strategic( |$)/.test(pair.request) && path.startsWith('body.metadata.')) ||
        /\.f:data$|^body\.data$/.test(path) ||
        (/^(200\/400|422\/200)$/.test(statuses(pair)) && /unknown patch type|retainKeys/.test(said(pair)))),
  },
  {
    id: 'Words about what is stored',
    matches: ({ path }, pair) => path === 'body.message' && text(pair.kubernetes).includes('StorageError'),
  },
  {
    id: 'Counts for scale of a wrong type',
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
      pair.request.includes('CEL too costly') && text(pair.kubernetes).includes('estimated rule cost'),
  },
  {
    id: 'Words about definitions',
    matches: ({ path }, pair) => isDefinition(pair) && bothAnswer(pair, 422) && refusal.test(path),
  },
  {
    id: 'Protobuf is read, not written',
    matches: ({ path }, pair) =>
      text(pair.kubernetes).includes('application/vnd.kubernetes.protobuf') ||
      (pair.kubernetes.headers['content-type'] === 'application/vnd.kubernetes.protobuf' && anyOfRefusal.test(path)),
  },
  {
    id: 'Limits are kept at version 0',
    matches: ({ path }, { request }) =>
      /resourceVersion=0\b/.test(request) &&
      request.includes('limit=') &&
      /^body\.(items|metadata\.(continue|remainingItemCount))/.test(path),
  },
  {
    id: 'How far back a watch can begin',
    matches: ({ path }, { request }) =>
      request.startsWith('WATCH') && request.includes('resourceVersion=1&') && path.startsWith('body.events'),
  },
  {
    id: 'When bookmarks come',
    matches: ({ path, kubernetes, berth }) =>
      /^body\.events\[\d+\]$/.test(path) && kubernetes === undefined && berth?.type === 'BOOKMARK',
  },
  {
    id: 'Watching one object',
    matches: ({ path }, { request }) =>
      anyOfRefusal.test(path) && /\((one object|the old way)\)$/.test(request) && request.startsWith('WATCH'),
  },
  {
    id: 'POST on a name',
    matches: ({ path }, pair) =>
      /^POST \S+\/gadgets\/one$/.test(pair.request) && statuses(pair) === '409/405' && anyOfRefusal.test(path),
  },
  {
    id: 'When a count was scaled',
    matches: ({ path }) => /managedFields\[conformance Update scale\]\.time$/.test(path),
  },
  {
    id: 'Null values',
    matches: ({ path }, { scenario, request }) =>
      (scenario === 'apply: lists and maps' && /f:spec\.f:size(\.f:width)?$/.test(path)) ||
      (scenario === 'bodies' && request.startsWith('POST /api/v1') && /f:data\.|^body\.data\.a$/.test(path)) ||
      (path === 'body.rules' && request.includes('/clusterroles')),
  },
  {
    id: 'Tables of built-in kinds',
    matches: ({ path }, pair) =>
      isBuiltIn(pair) || isDefinition(pair)
        ? /(columnDefinitions|\.rows\b|\.rows\[\d+\](\.cells\b.*)?$|^body\[)/.test(path) &&
          /tables|events|leases|roles|watch: built-in/.test(pair.scenario)
        : false,
  },
  {
    id: 'Items say what they are',
    matches: ({ path, kubernetes }) => /\.items\[[^\]]*\]\.(apiVersion|kind)$/.test(path) && kubernetes === undefined,
  },
  {
    id: 'Times without microseconds',
    matches: ({ path }, pair) =>
      pair.scenario === 'leases' &&
      ((statuses(pair) === '400/201' && anyOfRefusal.test(path)) || /(items\[short\]|rows\[6\])$/.test(path)),
  },
  {
    id: 'Fields behind a feature gate',
    matches: ({ path }, { scenario }) => scenario === 'leases' && /spec\.(strategy|preferredHolder)$|f:spec/.test(path),
  },
  {
    id: 'Words about roles',
    matches: ({ path }, pair) =>
      (path === 'body.message' || path.startsWith('body.details.causes')) &&
      /RBAC: role\.rbac|verbs must contain|roleRef: Invalid value/.test(said(pair)),
  },
  {
    id: 'Tokens end at once',
    matches: (_, pair) => pair.scenario === 'tokens of service accounts' && statuses(pair) === '201/401',
  },
  {
    id: 'Reviews',
    matches: ({ path }, pair) =>
      (pair.scenario === 'tokens of service accounts' && /^body\.metadata(\.managedFields)?$/.test(path)) ||
      (pair.scenario === 'reviews' &&
        (/^body\.(metadata|spec\.namespace|status\.(reason|evaluationError|userInfo\.uid|resourceRules|nonResourceRules)|message|details)\b/.test(
          path,
        ) ||
          pair.request.includes('/tokenreviews') ||
          (statuses(pair) === '400/422' && anyOfRefusal.test(path)))),
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
    id: 'Words about events',
    matches: ({ path }, pair) =>
      pair.request.includes('/events.k8s.io/') && bothAnswer(pair, 422) && refusal.test(path),
  },
  {
    id: 'Warnings of what is excused',
    matches: ({ path, berth }, { scenario }) =>
      path === 'headers.warning' && berth === undefined && scenario.startsWith('CEL rules: an invalid object'),
  },
  {
    id: 'The last finalizer of a namespace',
    matches: ({ path }, { request }) =>
      request.endsWith('/finalize') && /^body\.(metadata\.(managedFields|resourceVersion)|spec\.finalizers)/.test(path),
  },
  {
    id: 'Metadata of embedded objects',
    matches: ({ path }, pair) =>
      statuses(pair) === '400/422' &&
      text(pair.kubernetes).includes('spec.template.metadata') &&
      anyOfRefusal.test(path),
  },
  {
    id: 'Causes that are said again',
    matches: ({ path, kubernetes, berth }, pair) =>
      /^body\.details\.causes\[\d+\]$/.test(path) &&
      berth === undefined &&
      (pair.berth.body?.details?.causes ?? []).some(
        (cause: Json) => cause.field === kubernetes.field && cause.message === kubernetes.message,
      ),
  },
  {
    id: "Words of Go's JSON in values",
    matches: ({ path }, pair) =>
      refusal.test(path) && bothAnswer(pair, 422) && said(pair).includes('<secret contents redacted>'),
  },
];

export function explain(difference: Difference, pair: Pair): Rule | undefined {
  return rules.find((rule) => rule.matches(difference, pair));
}
