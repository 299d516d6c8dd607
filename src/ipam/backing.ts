import type { BackingRequest, ResourceBacking, Storage } from '../apiserver/index.ts';
import { ApiError, type KubeObject } from '../meta/index.ts';
import type { IPAllocation, IPClaim, IPClass, IPPool, Plural } from './objects.ts';
import type { DryRunStatus, WriteRequest } from './procedures.ts';
import { badRequest, type FieldCause, forbidden, invalid } from './refusals.ts';
import { allocationUpdateCauses, claimCauses, classCauses, poolCauses } from './validation.ts';

export interface ObservedWrite extends Pick<WriteRequest, 'plural' | 'verb' | 'dryRun'> {}

/** How the service follows what the backings do. */
export interface Observer {
  /** Whether a write of this kind went through, and how long it took in milliseconds. */
  wrote(write: ObservedWrite, failure: unknown, milliseconds: number): void;
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
    try {
      return (await storage.call<KubeObject>('ipam.write', request)).result;
    } catch (error) {
      const dryRun = error instanceof ApiError ? (error.status as Partial<DryRunStatus>).dryRun : undefined;
      if (dryRun === undefined) throw error;
      const { resourceVersion: _, ...metadata } = dryRun.metadata;
      return { ...dryRun, metadata };
    }
  };
  /** Whatever keeps a write from being made is counted: what it says, who asks, and the store. */
  const observed = async (
    verb: WriteRequest['verb'],
    { dryRun }: BackingRequest,
    writing: () => Promise<KubeObject>,
  ): Promise<KubeObject> => {
    const from = observer.monotonic();
    const told = (failure?: unknown) => observer.wrote({ plural, verb, dryRun }, failure, observer.monotonic() - from);
    try {
      const object = await writing();
      told();
      return object;
    } catch (error) {
      told(error);
      throw error;
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
    create: (request, object) =>
      observed('create', request, async () => {
        const shared = common(request, object.metadata.name);
        check(object.metadata.name, causesOf(plural, object));
        return write({ ...shared, verb: 'create', object });
      }),
    update: (request, object, old) =>
      observed('update', request, async () => {
        const shared = common(request, object.metadata.name);
        check(object.metadata.name, causesOf(plural, object, old));
        return write({ ...shared, verb: 'update', object, version: old.metadata.resourceVersion ?? '' });
      }),
    delete: (request, old) =>
      observed('delete', request, async () => {
        const { name, namespace = '', uid = '' } = old.metadata;
        return write({ ...common(request, name), verb: 'delete', namespace, name, uid });
      }),
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
