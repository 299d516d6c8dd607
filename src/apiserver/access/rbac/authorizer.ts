import type { Identity } from '../../../kube/index.ts';
import type { KubeObject, PolicyRule } from '../../../meta/index.ts';
import type { Storage, StorageEvent } from '../../storage/storage.ts';
import { isMaster } from '../authenticators.ts';
import type { AccessAttributes, AccessDecision, Authorizer } from '../interfaces.ts';
import { type GrantedRule, Policy, rbacGroup } from './policy.ts';
import { nameMatches, pathMatches, resourceMatches, singleGrants, verbMatches } from './rules.ts';

/** Something an identity was allowed to do, and did at least once; or was not, and tried. */
export interface UsedGrant {
  plane: string;
  user: string;
  verb: string;
  group: string;
  /** `things` or `things/status`; '' for a path. */
  resource: string;
  path: string;
}

const prefix = `${rbacGroup}/`;
const resources = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'];
/** Answers remembered per identity and scope; a client asking for what does not exist must not fill the memory. */
const rememberedAnswers = 4096;
const rememberedScopes = 1024;
const rememberedUsers = 4096;

/** What a scope says about one verb on one resource. */
interface Answer {
  /** The rule that allows it for every name. */
  readonly everyName: GrantedRule | undefined;
  readonly someNames: readonly GrantedRule[];
  /** The decision by `everyName`, once it was used. */
  decision: AccessDecision | undefined;
}

interface Scope {
  readonly granted: readonly GrantedRule[];
  /** By verb, group, resource and subresource. */
  readonly answers: Map<string, Answer>;
}

/** What one identity may do in one plane, as far as it was asked. */
interface Holder {
  readonly version: number;
  readonly scopes: Map<string, Scope>;
}

interface PlaneState {
  readonly policy: Policy;
  readonly byIdentity: WeakMap<Identity, Holder>;
  readonly byName: Map<string, Holder>;
  readonly used: Map<string, UsedGrant>;
  readonly refused: Map<string, UsedGrant>;
}

/**
 * RBAC over the Role, ClusterRole, RoleBinding and ClusterRoleBinding objects of each plane, kept compiled and followed
 * by one subscription to the store. A plane is authorized from `openPlane` on; in one that was not opened only
 * `system:masters` may do anything.
 */
export class RbacAuthorizer implements Authorizer {
  readonly #storage: Pick<Storage, 'list' | 'onCommit'>;
  readonly #planes = new Map<string, PlaneState>();
  readonly #loading = new Map<string, StorageEvent[]>();
  readonly #stop: () => void;

  constructor(storage: Pick<Storage, 'list' | 'onCommit'>) {
    this.#storage = storage;
    this.#stop = storage.onCommit((events) => {
      for (const event of events) if (event.key.resource.startsWith(prefix)) this.#follow(event);
    });
  }

  /** Reads the roles and bindings of a plane. What is committed meanwhile is not lost. */
  async openPlane(plane: string): Promise<void> {
    const late: StorageEvent[] = [];
    this.#loading.set(plane, late);
    const policy = new Policy();
    let revision = 0;
    for (const resource of resources) {
      const page = await this.#storage.list({ plane, resource: prefix + resource });
      for (const record of page.records) policy.put(resource, parse(record.value));
      // The oldest page decides which late events are news; applying one again changes nothing.
      revision = revision === 0 ? page.revision : Math.min(revision, page.revision);
    }
    if (this.#loading.get(plane) !== late) return;
    this.#loading.delete(plane);
    for (const event of late) if (event.revision > revision) apply(policy, event);
    this.#planes.set(plane, {
      policy,
      byIdentity: new WeakMap(),
      byName: new Map(),
      used: new Map(),
      refused: new Map(),
    });
  }

  /** Forgets a plane (its deletion). */
  closePlane(plane: string): void {
    this.#loading.delete(plane);
    this.#planes.delete(plane);
  }

  close(): void {
    this.#stop();
  }

  authorize(attributes: AccessAttributes): AccessDecision {
    const { identity, namespace } = attributes;
    if (isMaster(identity)) return allowedMaster;
    const state = this.#planes.get(attributes.plane);
    if (state === undefined) return denied;
    const holder = holderOf(state, identity);
    const decision =
      decide(state, scopeOf(state, holder, identity, ''), attributes) ??
      (namespace === '' ? undefined : decide(state, scopeOf(state, holder, identity, namespace), attributes));
    if (decision !== undefined) return decision;
    remember(state.refused, attributes);
    return refusal(state.policy, identity, namespace);
  }

  /** As `authorize`, for somebody who only asks: it counts as no use. */
  wouldAllow(attributes: AccessAttributes): AccessDecision {
    const { identity, namespace, plane, verb, path, group, resource, subresource, name } = attributes;
    if (isMaster(identity)) return allowedMaster;
    const grant = this.grants(plane, identity, namespace).find(({ rule }) =>
      resource === ''
        ? verbMatches(rule, verb) && pathMatches(rule, path)
        : verbMatches(rule, verb) && resourceMatches(rule, group, resource, subresource) && nameMatches(rule, name),
    );
    if (grant !== undefined) return { allowed: true, reason: reasonOf(grant) };
    const policy = this.#planes.get(plane)?.policy;
    return policy === undefined ? denied : refusal(policy, identity, namespace);
  }

  /** Everything `identity` is granted in `namespace` of `plane`, the whole plane's rules first. */
  grants(plane: string, identity: Identity, namespace: string): GrantedRule[] {
    const policy = this.#planes.get(plane)?.policy;
    if (policy === undefined) return [];
    const own = namespace === '' ? [] : policy.grants(identity, namespace);
    return [...policy.grants(identity, ''), ...own];
  }

  /** Roles that are not there and would grant `identity` more, as kube-apiserver's errors say it. */
  missingRoles(plane: string, identity: Identity, namespace: string): string[] {
    const policy = this.#planes.get(plane)?.policy;
    return policy === undefined ? [] : missingIn(policy, identity, namespace);
  }

  /** The policy of an open plane. */
  policy(plane: string): Policy | undefined {
    return this.#planes.get(plane)?.policy;
  }

  /** What was used of what was granted, in every plane, since it was opened. */
  usage(): UsedGrant[] {
    return [...this.#planes.values()].flatMap((state) => [...state.used.values()]);
  }

  /** What was asked for and not granted, in every plane, since it was opened. */
  refused(): UsedGrant[] {
    return [...this.#planes.values()].flatMap((state) => [...state.refused.values()]);
  }

  /** The single grants (one verb, one resource) `identity` holds in `plane` and never used. */
  unused(plane: string, identity: Identity, namespace = ''): PolicyRule[] {
    const used = [...(this.#planes.get(plane)?.used.values() ?? [])].filter((use) => use.user === identity.user);
    return this.grants(plane, identity, namespace)
      .flatMap(({ rule }) => singleGrants(rule))
      .filter((grant) => !used.some((use) => isUse(grant, use)));
  }

  #follow(event: StorageEvent): void {
    this.#loading.get(event.key.plane)?.push(event);
    const state = this.#planes.get(event.key.plane);
    if (state !== undefined) apply(state.policy, event);
  }
}

const allowedMaster: AccessDecision = Object.freeze({ allowed: true, reason: '' });
/** RBAC has no rule that refuses: where no role is missing, what was asked is all there is to say, and the handlers do. */
const denied: AccessDecision = Object.freeze({ allowed: false });

function apply(policy: Policy, event: StorageEvent): void {
  const resource = event.key.resource.slice(prefix.length);
  if (event.type === 'delete') policy.delete(resource, event.key.namespace, event.key.name);
  else policy.put(resource, parse(event.value));
}

function parse(value: Uint8Array): KubeObject {
  return JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8')) as KubeObject;
}

/** Identities of long-lived transports and tokens are one object each; others are found again by what they say. */
function holderOf(state: PlaneState, identity: Identity): Holder {
  const known = state.byIdentity.get(identity);
  if (known !== undefined && known.version === state.policy.version) return known;
  const name = JSON.stringify([identity.user, ...identity.groups]);
  let holder = state.byName.get(name);
  if (holder === undefined || holder.version !== state.policy.version) {
    if (state.byName.size >= rememberedUsers) state.byName.clear();
    holder = { version: state.policy.version, scopes: new Map() };
    state.byName.set(name, holder);
  }
  state.byIdentity.set(identity, holder);
  return holder;
}

function scopeOf(state: PlaneState, holder: Holder, identity: Identity, namespace: string): Scope {
  const known = holder.scopes.get(namespace);
  if (known !== undefined) return known;
  if (holder.scopes.size >= rememberedScopes) holder.scopes.clear();
  const scope: Scope = { granted: state.policy.grants(identity, namespace), answers: new Map() };
  holder.scopes.set(namespace, scope);
  return scope;
}

function decide(state: PlaneState, scope: Scope, request: AccessAttributes): AccessDecision | undefined {
  if (scope.granted.length === 0) return undefined;
  const { verb, group, resource, subresource, path } = request;
  if (resource === '') {
    const grant = scope.granted.find(({ rule }) => verbMatches(rule, verb) && pathMatches(rule, path));
    return grant && allow(state, grant, request);
  }
  const key = `${verb} ${group}/${resource}/${subresource}`;
  let answer = scope.answers.get(key);
  if (answer === undefined) {
    const speaking = scope.granted.filter(
      ({ rule }) => verbMatches(rule, verb) && resourceMatches(rule, group, resource, subresource),
    );
    answer = {
      everyName: speaking.find(({ rule }) => rule.names.size === 0),
      someNames: speaking.filter(({ rule }) => rule.names.size > 0),
      decision: undefined,
    };
    if (scope.answers.size >= rememberedAnswers) scope.answers.clear();
    scope.answers.set(key, answer);
  }
  if (answer.everyName !== undefined) {
    answer.decision ??= allow(state, answer.everyName, request);
    return answer.decision;
  }
  const grant = answer.someNames.find(({ rule }) => nameMatches(rule, request.name));
  return grant && allow(state, grant, request);
}

function allow(state: PlaneState, grant: GrantedRule, request: AccessAttributes): AccessDecision {
  remember(state.used, request);
  return { allowed: true, reason: reasonOf(grant) };
}

function reasonOf({ origin, to }: GrantedRule): string {
  return `RBAC: allowed by ${origin} to ${to}`;
}

/** Says which roles are not there that could have granted it. */
function refusal(policy: Policy, identity: Identity, namespace: string): AccessDecision {
  const missing = missingIn(policy, identity, namespace);
  if (missing.length === 0) return denied;
  const list = missing.length === 1 ? missing[0] : `[${missing.join(', ')}]`;
  return { allowed: false, reason: `rbac: RBAC: ${list}` };
}

function missingIn(policy: Policy, identity: Identity, namespace: string): string[] {
  const own = namespace === '' ? [] : policy.missingRoles(identity, namespace);
  return [...policy.missingRoles(identity, ''), ...own];
}

function remember(used: Map<string, UsedGrant>, request: AccessAttributes): void {
  const { identity, verb, group, subresource, path, plane } = request;
  const resource = subresource === '' ? request.resource : `${request.resource}/${subresource}`;
  const key = `${identity.user} ${verb} ${group} ${resource === '' ? path : resource}`;
  if (used.has(key) || used.size >= rememberedUsers) return;
  used.set(key, { plane, user: identity.user, verb, group, resource, path: resource === '' ? path : '' });
}

function isUse(grant: PolicyRule, use: UsedGrant): boolean {
  const [verb] = grant.verbs;
  if (verb !== '*' && verb !== use.verb) return false;
  if (grant.nonResourceURLs !== undefined) return use.path !== '' && grant.nonResourceURLs[0] === use.path;
  const group = grant.apiGroups?.[0];
  const resource = grant.resources?.[0];
  return (group === '*' || group === use.group) && (resource === '*' || resource === use.resource);
}
