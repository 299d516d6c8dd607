import {
  type AddressRequest,
  hashedName,
  IPClaim,
  ipClaimName,
  ipClaimNameParts,
  reasonMessage,
} from '../../../api/index.ts';
import type { Client } from '../../../kube/index.ts';
import { apiVersionOf, isApiError, isTerminating, jsonEqual, type Stored } from '../../../meta/index.ts';
import { causeOf, type Refusal, refusalOf } from '../../shared/refusal.ts';
import type { Scope } from '../../shared/scope.ts';
import { holderOf, identityMetadata, keyOfClaim, type Place } from './identity.ts';
import { listAllocations, releaseAll, setHolder } from './ledger.ts';
import { type Allocation, familyOf, keyOfRequest, wordsOf } from './requests.ts';

export interface Order {
  place: Place;
  /** The claim the addresses are for: its name is what IPClaims are named after, its UID the holder. */
  claim: { name: string; uid: string };
  requests: readonly AddressRequest[];
  /** Families the claim has internal addresses of: an external one fronts one of these (D.8). */
  families: readonly string[];
  scope: Scope;
  reclaimPolicy: 'Delete' | 'Retain';
  /** Nothing was ever allocated for the interface, as far as is known: asks without looking first. */
  fresh: boolean;
  /** Key of the request that was refused last time: it is tried first, and the others only after it. */
  scarce?: string | undefined;
  /** Whether a claim of this UID is in the cell and not at its end. */
  isLive(uid: string): boolean;
}

export type Outcome = { allocations: Allocation[] } | { refusal: Refusal; request: string };

class RequestRefused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/**
 * An address for every request, or none: what this pass made is given back where one is refused. An IPClaim that is there
 * already is used only where it is this interface's, asks for the same, and is not being released (F9). Throws nothing:
 * an IPAM that can not be reached is a refusal that passes.
 */
export async function allocate(client: Client, order: Order): Promise<Outcome> {
  const work = new Allocator(client, order);
  const results = new Map<string, Allocation>();
  let refused: { refusal: Refusal; request: string } | undefined;
  const serve = async (request: AddressRequest): Promise<void> => {
    try {
      results.set(keyOfRequest(request), await work.serve(request));
    } catch (error) {
      const refusal = error instanceof RequestRefused ? error.refusal : refusalOf(error, askedOf(order, request));
      refused ??= { refusal, request: keyOfRequest(request) };
    }
  };
  const first = order.requests.find((request) => keyOfRequest(request) === order.scarce);
  // What was refused before is asked for alone: addresses taken beside it would only have to rest again.
  if (first !== undefined) await serve(first);
  if (refused === undefined) {
    await Promise.all(order.requests.filter((request) => request !== first).map(serve));
  }
  if (refused === undefined) {
    return { allocations: order.requests.map((request) => results.get(keyOfRequest(request))!) };
  }
  await giveBack(client, order.place, [...results.values()]);
  return refused;
}

/** Gives back what this pass made. What can not be given back now carries its identity, and is found by it later. */
export async function giveBack(client: Client, { routing }: Place, allocations: readonly Allocation[]): Promise<void> {
  await Promise.allSettled(
    allocations
      .filter((allocation) => allocation.created)
      .map(({ name, uid }) =>
        client.delete(IPClaim, { namespace: routing.namespace, name }, { preconditions: { uid } }),
      ),
  );
}

function askedOf({ place: { routing }, claim }: Order, request: AddressRequest) {
  return {
    what: wordsOf(request),
    claim: claim.name,
    ...('class' in request ? { class: request.class } : { family: request.family }),
    location: routing.location,
    project: routing.project,
    namespace: routing.namespace,
  };
}

class Allocator {
  readonly #client: Client;
  readonly #order: Order;
  #known: Promise<Stored<IPClaim>[]> | undefined;

  constructor(client: Client, order: Order) {
    this.#client = client;
    this.#order = order;
  }

  async serve(request: AddressRequest): Promise<Allocation> {
    let allocation = this.#order.fresh ? undefined : await this.#existing(request);
    for (const name of candidateNames(this.#order, request)) {
      allocation ??= await this.#create(request, name);
      if (allocation !== undefined) break;
      // The name is taken: by an allocation of ours that nobody remembered, or by somebody else.
      allocation = await this.#existing(request);
      if (allocation === undefined && (await this.#isFree(name))) allocation = await this.#create(request, name);
      if (allocation !== undefined) break;
    }
    if (allocation === undefined) throw this.#inTheWay(request, 'another IPClaim');
    await this.#checkFamily(request, allocation);
    if (!allocation.cidr) {
      await giveBack(this.#client, this.#order.place, [allocation]);
      throw new Error(`IPClaim ${allocation.name} was answered without an address`);
    }
    return allocation;
  }

  async #create(request: AddressRequest, name: string): Promise<Allocation | undefined> {
    const { place, claim, scope } = this.#order;
    const spec = {
      ...('class' in request ? { className: request.class } : { ipFamily: request.family }),
      scope,
      // The interface is what is retained; an IPClaim that goes always takes its address along (seams, Who retains).
      reclaimPolicy: 'Delete' as const,
    };
    try {
      const made = await this.#client.create(IPClaim, {
        apiVersion: apiVersionOf(IPClaim),
        kind: IPClaim.kind,
        metadata: { name, namespace: place.routing.namespace, ...identityMetadata(place.identity, claim.uid) },
        spec,
      });
      return allocationOf(request, made, true);
    } catch (error) {
      if (isApiError(error, 'AlreadyExists')) return undefined;
      if (isApiError(error) && causeOf(error) === 'ClaimExists') return undefined;
      throw error;
    }
  }

  /** The allocation of this interface for the request, if there is one that may be used. */
  async #existing(request: AddressRequest): Promise<Allocation | undefined> {
    const { place, claim, reclaimPolicy, isLive } = this.#order;
    // One list for all requests of the interface.
    this.#known ??= listAllocations(this.#client, place);
    const key = keyOfRequest(request);
    for (const held of (await this.#known).filter((each) => keyOfClaim(each) === key)) {
      const holder = holderOf(held);
      if (holder !== undefined && holder !== claim.uid && isLive(holder)) {
        throw this.#inTheWay(request, `IPClaim ${held.metadata.name} of another claim`);
      }
      const own = holder === claim.uid || reclaimPolicy === 'Retain';
      if (own && this.#fits(held)) {
        if (isTerminating(held) || held.status?.phase === 'Releasing') {
          throw this.#inTheWay(request, `IPClaim ${held.metadata.name}, which is being released,`);
        }
        if (holder !== claim.uid) await setHolder(this.#client, place, held, claim.uid);
        return allocationOf(request, held, false);
      }
      // Left over from an earlier life of the name: of another network, or of a holder that is gone.
      await releaseAll(this.#client, place, [held]);
    }
    return undefined;
  }

  #fits({ spec, status }: Stored<IPClaim>): boolean {
    return (
      spec?.prefixLength === undefined &&
      (spec?.target ?? 'Block') !== 'ScopeRange' &&
      jsonEqual(spec?.scope, this.#order.scope) &&
      status?.allocatedCIDR !== undefined
    );
  }

  async #isFree(name: string): Promise<boolean> {
    const { namespace } = this.#order.place.routing;
    return (await this.#client.get(IPClaim, { namespace, name })) === undefined;
  }

  async #checkFamily(request: AddressRequest, allocation: Allocation): Promise<void> {
    const family = familyOf(allocation.cidr);
    const { families, claim } = this.#order;
    if (!('class' in request) || families.includes(family)) return;
    const cause = `class ${request.class} gives ${family} addresses, and the claim has none of that family`;
    const asked = `${wordsOf(request)} for claim ${claim.name}`;
    const message = reasonMessage('AddressAllocationRejected', { request: asked, cause });
    const dependsOn = [`ipclasses/${request.class}`];
    await giveBack(this.#client, this.#order.place, [allocation]);
    throw new RequestRefused({ reason: 'AddressAllocationRejected', message, dependsOn });
  }

  #inTheWay(request: AddressRequest, what: string): RequestRefused {
    const message = reasonMessage('RetainedAddressConflict', {
      claim: what,
      request: `${wordsOf(request)} for claim ${this.#order.claim.name}`,
    });
    return new RequestRefused({ reason: 'RetainedAddressConflict', message, dependsOn: [] });
  }
}

/** The readable name, then those that say more of whom it is for: two cells can have claims of one name (F10, F11). */
function candidateNames({ place: { identity }, claim }: Order, request: AddressRequest): string[] {
  const parts = ipClaimNameParts(claim.name, request);
  return [
    ipClaimName(claim.name, request),
    hashedName(parts),
    hashedName([...parts, identity.interfaceName, identity.namespace, identity.cellUid]),
  ];
}

function allocationOf(request: AddressRequest, { metadata, status }: Stored<IPClaim>, created: boolean): Allocation {
  return { request, name: metadata.name, uid: metadata.uid, cidr: status?.allocatedCIDR ?? '', created };
}
