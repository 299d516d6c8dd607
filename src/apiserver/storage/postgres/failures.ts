import pg from 'pg';
import { ApiError } from '../../../meta/index.ts';

/** SQLSTATEs, and errors of the network, in words for whoever runs the database. */
const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there; start PostgreSQL, or correct the address',
  ENOTFOUND: 'its host is not known; correct the address',
  '28P01': 'it refuses the user or password',
  '28000': 'it refuses the user or password',
  '3D000': 'there is no such database; create it',
  '42501': 'its user may not make tables there; grant it CREATE on the schema',
  '25006': 'it is read-only, as a standby is; name the primary',
  '53100': 'its disk is full',
  '53300': 'it has no connection to spare; raise max_connections',
  '57P03': 'it is starting or stopping',
};

/** Why the database cannot be used, as part of a sentence. */
export function reasonOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const known = typeof code === 'string' ? reasons[code] : undefined;
  if (known !== undefined) return known;
  if (/^(Connection terminated|timeout|Query read timeout)/.test(String(message)))
    return 'its connection is lost, or none comes about';
  return typeof message === 'string' && message !== '' ? message : String(code ?? error);
}

/** The database goes on; what it refuses is this very statement. */
export function isRefusedStatement(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR' && !isPassing(error) && !isClash(error);
}

/**
 * The database is not as it should be: read-only (a standby since a failover), out of disk, memory or connections, told to
 * stop. Another connection may lead to one that is.
 */
export function isPassing(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(25006|53|55P03|57|58)/.test(error.code ?? '');
}

/** Two transactions were in each other's way, and this one was chosen to give way: made again it goes through. */
export function isClash(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01');
}

export function unavailable(error: unknown, known: string): ApiError {
  return ApiError.of('ServiceUnavailable', `the database does not answer (${reasonOf(error)}); ${known}`);
}

/** What `reading` answers. Whatever keeps the database from answering is a 503 that says so. */
export async function readable<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof pg.DatabaseError ? isPassing(error) || error.severity !== 'ERROR' : isOfNetwork(error)) {
      throw unavailable(error, 'nothing could be read');
    }
    throw error;
  }
}

/** Errors of a connection have a code, or are pg's own words about one. */
function isOfNetwork(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof ApiError) return false;
  return 'code' in error || /connection|timeout|read-only/i.test(error.message);
}
