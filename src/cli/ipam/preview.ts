import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { type Document, parseAllDocuments } from 'yaml';
import { IPClaim } from '../../api/index.ts';
import { type ApiError, apiVersionOf, isApiError, type KubeObject } from '../../meta/index.ts';
import { type Access, IpamFailure, ipamExitCodes } from './access.ts';
import type { Report } from './output.ts';

export interface PreviewRow {
  namespace: string;
  name: string;
  /** What it would get; absent where it would be refused. */
  allocatedCIDR?: string;
  pool?: string;
  refused?: { code: number; cause?: string; message: string };
}

/**
 * What each IPClaim in a file would get now, each asked by itself, and nothing is kept.
 * @returns the report, and whether one of them would be refused.
 */
export async function preview(
  access: Access,
  file: string,
  namespace: string,
): Promise<{ report: Report; refused: boolean }> {
  const rows: PreviewRow[] = [];
  for (const claim of await readClaims(file, namespace)) rows.push(await ask(access, claim));
  return {
    refused: rows.some((row) => row.refused !== undefined),
    report: {
      data: rows,
      head: ['CLAIM', 'WOULD GET', 'POOL', 'REFUSED'],
      rows: rows.map((row) => [
        `${row.namespace}/${row.name}`,
        row.allocatedCIDR ?? '-',
        row.pool ?? '-',
        row.refused === undefined ? '-' : `${row.refused.cause ?? row.refused.code}: ${row.refused.message}`,
      ]),
    },
  };
}

async function ask({ client }: Access, claim: IPClaim): Promise<PreviewRow> {
  const { namespace = '' } = claim.metadata;
  const name = claim.metadata.name ?? `${claim.metadata.generateName}*`;
  try {
    const { status } = await client.create(IPClaim, claim, { dryRun: true });
    return {
      namespace,
      name,
      allocatedCIDR: status?.allocatedCIDR ?? '',
      ...(status?.poolRef === undefined ? {} : { pool: status.poolRef.name }),
    };
  } catch (error) {
    if (!isApiError(error) || !isRefusal(error)) throw error;
    const cause = error.status.details?.causes?.[0]?.reason;
    return {
      namespace,
      name,
      refused: { code: error.code, message: error.message, ...(cause === undefined ? {} : { cause }) },
    };
  }
}

/** What IPAM says of a claim, and not of the caller or the server: a namespace that is not there, or is going, too. */
function isRefusal({ code, status: { details } }: ApiError): boolean {
  if (code === 404) return details?.kind === 'namespaces';
  return [400, 409, 422, 507].includes(code) || (code === 403 && (details?.causes ?? []).length > 0);
}

async function readClaims(file: string, namespace: string): Promise<IPClaim[]> {
  const shown = file === '-' ? 'standard input' : file;
  const fail = (what: string): never => {
    throw new IpamFailure(ipamExitCodes.usage, `${shown}: ${what}`);
  };
  const reading = file === '-' ? readAll(process.stdin) : readFile(file, 'utf8');
  const text = await reading.catch((error: NodeJS.ErrnoException) => fail(`cannot be read (${error.code})`));
  const claims: IPClaim[] = [];
  for (const document of parseAllDocuments(text)) {
    if (document.errors[0] !== undefined) fail(`is not YAML: ${document.errors[0].message.split('\n')[0]}`);
    const value = plain(document);
    if (value instanceof Error) fail(`is not YAML: ${value.message}`);
    for (const object of objectsIn(value)) {
      if (object?.kind !== IPClaim.kind || object.apiVersion !== apiVersionOf(IPClaim)) {
        const kind = object?.kind === undefined ? 'something without a kind' : `a ${object.apiVersion} ${object.kind}`;
        fail(`has ${kind}; only ${apiVersionOf(IPClaim)} IPClaim can be previewed`);
      }
      const { name, generateName } = object.metadata ?? {};
      if (typeof (name ?? generateName) !== 'string') fail('has an IPClaim without metadata.name');
      const metadata = { ...object.metadata, namespace: object.metadata.namespace ?? namespace };
      claims.push({ ...object, metadata } as IPClaim);
    }
  }
  if (claims.length === 0) fail('has no IPClaim');
  return claims;
}

/** What a document says; an error where its aliases multiply without end. */
function plain(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    return error;
  }
}

/** The objects of a document: those of a List, as kubectl takes them; none of an empty one. */
function objectsIn(value: unknown): KubeObject[] {
  if (value === null || value === undefined) return [];
  const { kind, apiVersion, items } = value as { kind?: unknown; apiVersion?: unknown; items?: unknown };
  return kind === 'List' && apiVersion === 'v1' && Array.isArray(items)
    ? (items as KubeObject[])
    : [value as KubeObject];
}
