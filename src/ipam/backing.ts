import type { BackingRequest, ResourceBacking, Storage } from '../apiserver/index.ts';
import { ApiError, type KubeObject } from '../meta/index.ts';
import type { IPAllocation, IPClaim, IPClass, IPPool, Plural } from './objects.ts';
import type { DryRunStatus, WriteRequest } from './procedures.ts';
import { badRequest, type FieldCause, forbidden, invalid } from './refusals.ts';
import { allocationUpdateCauses, claimCauses, classCauses, poolCauses } from './validation.ts';

/** How the service follows what the backings do. */
export interface Observer {
  /** Whether a write of this kind went through, and how long it took in milliseconds. */
  wrote(request: WriteRequest, refused: ApiError | undefined, milliseconds: number): void;
  /** A clock for durations, in milliseconds. */
  monotonic(): number;
}

/** IPAM's decisions about one kind, for the generic handlers. Every write is one transaction of the store. */
export function backingOf(
  plural: Plural,
  storage: Storage,
  defaultRestSeconds: number,
  observer: Observer,
): ResourceBacking {
  const write = async (request: WriteRequest): Promise<KubeObject> => {
    const from = observer.monotonic();
    try {
      const { result } = await storage.call<KubeObject>('ipam.write', request);
      observer.wrote(request, undefined, observer.monotonic() - from);
      return result;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { dryRun } = error.status as Partial<DryRunStatus>;
      observer.wrote(request, dryRun === undefined ? error : undefined, observer.monotonic() - from);
      if (dryRun === undefined) throw error;
      const { resourceVersion: _, ...metadata } = dryRun.metadata;
      return { ...dryRun, metadata };
    }
  };
  const common = (request: BackingRequest, name: string) => {
    if (request.project === undefined) {
      throw badRequest({
        message: 'the request carries no project; send it through the path of a project',
        cause: 'NoProjectScope',
      });
    }
    if (request.subresource !== '') {
      throw forbidden(plural, name, 'the status of IPAM objects is written by the service itself');
    }
    return {
      plane: request.plane,
      project: request.project,
      defaultRestSeconds,
      dryRun: request.dryRun,
      plural,
    };
  };
  const check = (name: string, causes: FieldCause[]) => {
    if (causes.length > 0) throw invalid(plural, name, causes);
  };
  return {
    ...(plural === 'ipclaims' ? { candidates: (plane, labels) => claimsOfInterface(storage, plane, labels) } : {}),
    async create(request, object) {
      const shared = common(request, object.metadata.name);
      check(object.metadata.name, causesOf(plural, object));
      return await write({ ...shared, verb: 'create', object });
    },
    async update(request, object, old) {
      const shared = common(request, object.metadata.name);
      check(object.metadata.name, causesOf(plural, object, old));
      return await write({ ...shared, verb: 'update', object, version: old.metadata.resourceVersion ?? '' });
    },
    async delete(request, old) {
      const { name, namespace = '', uid = '' } = old.metadata;
      return await write({ ...common(request, name), verb: 'delete', namespace, name, uid });
    },
  };
}

/** The labels of seams, *Identity of an allocation*: IPAM keeps an index of them. */
function claimsOfInterface(storage: Storage, plane: string, labels: ReadonlyMap<string, string>) {
  const cellUid = labels.get('networking.datumapis.com/cell-uid');
  const namespace = labels.get('networking.datumapis.com/interface-namespace');
  const name = labels.get('networking.datumapis.com/interface-name');
  if (cellUid === undefined || namespace === undefined || name === undefined) return undefined;
  return storage
    .call<{ namespace: string; name: string }[]>('ipam.claimsOf', { plane, cellUid, namespace, name })
    .then(({ result }) => result);
}

function causesOf(plural: Plural, object: KubeObject, old?: KubeObject): FieldCause[] {
  switch (plural) {
    case 'ipclasses':
      return classCauses(object as IPClass, old as IPClass | undefined);
    case 'ippools':
      return poolCauses(object as IPPool, old as IPPool | undefined);
    case 'ipclaims':
      return claimCauses(object as IPClaim, old as IPClaim | undefined);
    case 'ipallocations':
      return old === undefined ? [] : allocationUpdateCauses(object as IPAllocation, old as IPAllocation);
  }
}
