import type pg from 'pg';
import { type ListPage, type ListQuery, RevisionCompacted, type SqlValue } from '../storage.ts';
import { query } from './connection.ts';
import { recordOf } from './rows.ts';

/**
 * One page as it was at a revision (now, where the query names none), by one statement, so from one snapshot: records that
 * have not changed since, and of those that have, what the log says was there before.
 */
export async function page(readers: pg.Pool, list: ListQuery): Promise<ListPage> {
  const { plane, resource, namespace, limit, after, revision } = list;
  const range = (table: string): { text: string; values: SqlValue[] } => {
    const values: SqlValue[] = [plane, resource];
    let text = `${table}.plane = ? AND ${table}.resource = ?`;
    if (namespace !== undefined) {
      text += ` AND ${table}.namespace = ?`;
      values.push(namespace);
    }
    if (after !== undefined) {
      text += ` AND (${table}.namespace, ${table}.name) > (?, ?)`;
      values.push(after.namespace, after.name);
    }
    return { text, values };
  };
  const live = range('l');
  const log = range('g');
  const then = revision === undefined ? '' : ` AND l.revision <= ?`;
  const past =
    revision === undefined
      ? ''
      : `UNION ALL SELECT namespace, name, previous_revision, previous FROM (
          SELECT DISTINCT ON (namespace, name) namespace, name, previous_revision, previous FROM berth_log g
          WHERE ${log.text} AND g.revision > ? ORDER BY namespace, name, g.revision, g.seq) h WHERE previous IS NOT NULL`;
  const ofThen = revision === undefined ? [] : [revision];
  const all = `SELECT l.namespace, l.name, l.revision, l.value FROM berth_live l WHERE ${live.text}${then} ${past}`;
  const values = [...live.values, ...ofThen, ...(revision === undefined ? [] : [...log.values, revision])];
  const { rows } = await query(
    readers,
    `SELECT m.revision AS newest, m.horizon, r.* FROM
       (SELECT max(value) FILTER (WHERE key = 'revision') AS revision,
               max(value) FILTER (WHERE key = 'horizon') AS horizon FROM berth_meta) m
     LEFT JOIN (${all} ORDER BY namespace, name ${limit === undefined ? '' : `LIMIT ${Number(limit) + 1}`}) r ON true
     ORDER BY r.namespace, r.name`,
    values,
  );
  const newest = Number(rows[0]!.newest);
  const horizon = Number(rows[0]!.horizon);
  if (revision !== undefined && revision < horizon) throw new RevisionCompacted(horizon);
  const records = rows
    .filter((row) => row.name !== null)
    .map((row) => recordOf({ plane, resource, namespace: row.namespace as string, name: row.name as string }, row));
  const at = revision ?? newest;
  if (limit === undefined || records.length <= limit) return { records, revision: at, remaining: 0 };
  records.length = limit;
  const counted = await query(readers, `SELECT count(*) AS n FROM (${all}) r`, values);
  return { records, revision: at, remaining: Math.max(1, Number(counted.rows[0]!.n) - limit) };
}
