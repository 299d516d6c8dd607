import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { IPAllocation, NetworkInterface, networkingLabels } from '../../api/index.ts';
import {
  type Client,
  createClient,
  errorOf,
  kubeconfigTransport,
  systemClock,
  type Transport,
} from '../../kube/index.ts';
import { isApiError, type KubeList, type Stored } from '../../meta/index.ts';

/** What `berth ipam` ends with, the same in every version. */
export const ipamExitCodes = {
  ok: 0,
  /** The server did not answer, does not know the caller, or failed. */
  failed: 1,
  /** It was typed wrong, or a file is not what it should be. */
  usage: 2,
  /** What was asked about is not there: nobody holds the address, nothing has the name. */
  notFound: 3,
  /** IPAM refused: the claim would get nothing, the release is not allowed. */
  refused: 4,
  /** A person was asked and did not say yes. */
  declined: 5,
} as const;

/** Ends the command with one sentence and an exit code. */
export class IpamFailure extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface AccessOptions {
  kubeconfig?: string;
  context?: string;
}

/** A project's API, as the kubeconfig leads to it. */
export interface Access {
  client: Client;
  /** Every IPAllocation of a pool, or of all, a page at a time: a million of them are never held at once. */
  allocations(pool?: string): AsyncIterable<Stored<IPAllocation>>;
  /** Copies of interfaces; none where the server serves IPAM alone. */
  interfaces(labelSelector?: string): Promise<Stored<NetworkInterface>[]>;
  close(): Promise<void>;
}

const defaultPageSize = 1000;

/** @throws {IpamFailure} where there is no kubeconfig, or it is not one. */
export function openAccess(options: AccessOptions): Access {
  const file = options.kubeconfig ?? defaultKubeconfig();
  let transport: Transport;
  try {
    transport = kubeconfigTransport(file, options.context, systemClock);
  } catch (error) {
    throw new IpamFailure(ipamExitCodes.usage, (error as Error).message);
  }
  return accessOver(transport);
}

export function accessOver(transport: Transport, pageSize = defaultPageSize): Access {
  const client = createClient({ transport, basePath: '', clock: systemClock, userAgent: 'berth-ipam' });
  return {
    client,
    async *allocations(pool) {
      const selector = pool === undefined ? '' : `&fieldSelector=${encodeURIComponent(`spec.poolRef.name=${pool}`)}`;
      let next: string | undefined;
      do {
        const from = next === undefined ? '' : `&continue=${encodeURIComponent(next)}`;
        const path = `/apis/${IPAllocation.group}/${IPAllocation.version}/ipallocations?limit=${pageSize}${selector}${from}`;
        const response = await transport.request({ method: 'GET', path, headers: { accept: 'application/json' } });
        const chunks: Uint8Array[] = [];
        for await (const chunk of response.body) chunks.push(chunk);
        const text = Buffer.concat(chunks).toString();
        if (response.status !== 200) {
          const error = errorOf(response.status, text);
          // Older than the server's history: it says where to go on, from what is newest.
          const onward = error.code === 410 ? (error.status.metadata?.continue as string | undefined) : undefined;
          if (onward === undefined || onward === '') throw error;
          next = onward;
          continue;
        }
        const body = JSON.parse(text) as KubeList<Stored<IPAllocation>>;
        yield* body.items;
        next = body.metadata.continue;
      } while (next !== undefined && next !== '');
    },
    async interfaces(labelSelector) {
      try {
        return (await client.list(NetworkInterface, labelSelector === undefined ? {} : { labelSelector })).items;
      } catch (error) {
        if (isNotServed(error)) return [];
        throw error;
      }
    },
    close: () => transport.close(),
  };
}

function defaultKubeconfig(): string {
  const named = (process.env.KUBECONFIG ?? '').split(delimiter).find((file) => file !== '');
  if (named !== undefined) return named;
  const home = join(homedir(), '.kube', 'config');
  if (existsSync(home)) return home;
  throw new IpamFailure(
    ipamExitCodes.usage,
    `there is no kubeconfig: set KUBECONFIG, or name one with --kubeconfig (berth up prints where it writes one)`,
  );
}

/** The claim that holds an interface, as its copy says: the copy has the label, and no claimRef. */
export function holderOf({ metadata, spec }: NetworkInterface): string | undefined {
  return spec?.claimRef?.name ?? metadata.labels?.[networkingLabels.heldBy];
}

/** Nothing of that kind is served: such an answer names no object that is missing. */
function isNotServed(error: unknown): boolean {
  return isApiError(error) && error.code === 404 && error.status.details?.kind === undefined;
}

/** Whatever went wrong, as one sentence and a code. */
export function failureOf(error: unknown, context: string | undefined): IpamFailure {
  if (error instanceof IpamFailure) return error;
  if (!isApiError(error)) {
    const { code, cause, message } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
    const why = code ?? cause?.code ?? message;
    return new IpamFailure(ipamExitCodes.failed, `the server does not answer (${why}): is the platform running?`);
  }
  const where = context === undefined ? 'the current context' : `context "${context}"`;
  if (isNotServed(error)) {
    return new IpamFailure(
      ipamExitCodes.failed,
      `${where} serves no IPAM: name the context of a project with --context, such as project-alpha`,
    );
  }
  if (error.code === 401) return new IpamFailure(ipamExitCodes.failed, `the server does not know who ${where} is`);
  if (error.code === 403) return new IpamFailure(ipamExitCodes.failed, `${where} may not do this: ${error.message}`);
  if (error.code === 404) return new IpamFailure(ipamExitCodes.notFound, error.message);
  return new IpamFailure(
    error.code < 500 || error.code === 507 ? ipamExitCodes.refused : ipamExitCodes.failed,
    error.message,
  );
}
