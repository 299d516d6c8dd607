import pg from 'pg';
import type { SqlValue } from '../storage.ts';

export type Row = Record<string, SqlValue>;

const types: pg.CustomTypesConfig = {
  // Every BIGINT here counts revisions, blocks or milliseconds: far below 2^53.
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** A connection whose statements are sent without waiting for the answers to those before. */
export function connectionTo(url: string): pg.Client {
  return new pg.Client({ connectionString: url, types, pipeline: true, keepAlive: true } as pg.ClientConfig);
}

export function readersOf(url: string): pg.Pool {
  return new pg.Pool({ connectionString: url, types, max: 4, keepAlive: true });
}

const prepared = new Map<string, { name: string; text: string }>();

/** The statement with `$1` in place of `?`, under a name by which the server keeps its plan. */
export function statement(sql: string): { name: string; text: string } {
  let found = prepared.get(sql);
  if (found === undefined) {
    let parameter = 0;
    found = { name: `berth_${prepared.size}`, text: sql.replaceAll('?', () => `$${++parameter}`) };
    prepared.set(sql, found);
  }
  return found;
}

const gathering = new WeakSet<object>();

/** Statements of one turn leave as one run of bytes: a system call for each, or a list of pieces, would cost more than the statement. */
function gather(client: pg.Client): void {
  if (gathering.has(client)) return;
  const { stream } = (client as unknown as { connection: { stream: { write(bytes: Buffer): boolean } } }).connection;
  const parts: Buffer[] = [];
  gathering.add(client);
  stream.write = (bytes) => {
    parts.push(bytes);
    return true;
  };
  process.nextTick(() => {
    gathering.delete(client);
    // What stands in for the method of the stream's class goes.
    Reflect.deleteProperty(stream, 'write');
    stream.write(Buffer.concat(parts));
  });
}

export async function query(
  on: pg.Client | pg.Pool,
  sql: string,
  values: readonly SqlValue[],
): Promise<{ rows: Row[]; changes: number }> {
  if (on instanceof pg.Client) gather(on);
  const { rows, rowCount } = await on.query({ ...statement(sql), values: values as SqlValue[] });
  return { rows: rows as Row[], changes: rowCount ?? 0 };
}
