import type { Log } from './log.ts';

/** Compaction starts when this much has piled up, so that its own bookkeeping is spread over many rows. */
const leastRows = 64;
const reclaimedPerStep = 256;
const freePagesKept = 1024;
const vacuumedPerStep = 64;

/**
 * Removes what nobody can ask for any more, inside the transactions of ordinary commits and in proportion to them: there
 * is never a long pause, and never a file that only grows.
 */
export class Housekeeping {
  readonly #log: Log;
  #compacted: number;
  /** Rows written since the log was last found to be compacted as far as it may be. */
  #behind = leastRows;
  #reclaiming: number[];

  constructor(log: Log) {
    this.#log = log;
    this.#compacted = log.meta('compacted');
    this.#reclaiming = this.#droppedCollections();
  }

  /** A plane was dropped in this transaction. */
  dropped(): void {
    this.#reclaiming = this.#droppedCollections();
  }

  /**
   * One step after `written` rows; an empty batch passes 0. Answers whether there is more to do.
   */
  step(written: number, horizon: number): boolean {
    this.#behind += written;
    let more = false;
    if (this.#behind >= leastRows) more = this.#compact(Math.max(2 * leastRows, 2 * written), horizon);
    if (this.#reclaiming.length > 0) more = this.#reclaim(this.#reclaiming[0]!) || more;
    if (written === 0) more = this.#vacuum() || more;
    return more;
  }

  #compact(limit: number, horizon: number): boolean {
    const from = this.#compacted;
    const last = this.#log
      .prepared(
        `SELECT count(*) AS rows, max(id) AS id, max(revision) AS revision FROM
         (SELECT id, revision FROM store_log WHERE id > ? ORDER BY id LIMIT ?) WHERE revision <= ?`,
      )
      .get(from, limit, horizon)! as { rows: number; id: number | null; revision: number };
    if (last.id === null) {
      this.#behind = 0;
      return false;
    }
    this.#log
      .prepared(
        `DELETE FROM store_log WHERE id IN
         (SELECT previous FROM store_log WHERE id > ? AND id <= ? AND previous > 0)`,
      )
      .run(from, last.id);
    this.#log.prepared('DELETE FROM store_log WHERE id > ? AND id <= ? AND deleted = 1').run(from, last.id);
    this.#log.prepared('DELETE FROM store_dropped WHERE revision <= ?').run(last.revision);
    this.#compacted = last.id;
    this.#log.setMeta('compacted', last.id);
    this.#log.setMeta('horizon', last.revision);
    const more = last.rows === limit;
    if (!more) this.#behind = 0;
    return more;
  }

  /** Rows of a dropped plane become deletions, which compaction removes in their turn. */
  #reclaim(collection: number): boolean {
    const last = this.#log
      .prepared(
        `SELECT namespace, name FROM
         (SELECT namespace, name FROM store_live WHERE collection = ? ORDER BY namespace, name LIMIT ?)
         ORDER BY namespace DESC, name DESC LIMIT 1`,
      )
      .get(collection, reclaimedPerStep) as { namespace: string; name: string } | undefined;
    if (last === undefined) {
      this.#log.prepared('DELETE FROM store_collection WHERE id = ?').run(collection);
      this.#reclaiming.shift();
      return this.#reclaiming.length > 0;
    }
    const part = 'FROM store_live WHERE collection = ? AND (namespace, name) <= (?, ?)';
    const entries = `id IN (SELECT entry ${part})`;
    const parameters = [collection, last.namespace, last.name];
    this.#log.prepared(`DELETE FROM store_log WHERE id <= ? AND ${entries}`).run(this.#compacted, ...parameters);
    this.#log.prepared(`UPDATE store_log SET deleted = 1, value = x'' WHERE ${entries}`).run(...parameters);
    this.#log.prepared(`DELETE ${part}`).run(...parameters);
    return true;
  }

  /** Gives pages back to the file system, beyond what the next commits will use again. */
  #vacuum(): boolean {
    const free = this.#log.prepared('PRAGMA freelist_count').get()!.freelist_count as number;
    if (free <= freePagesKept) return false;
    const mode = this.#log.prepared('PRAGMA auto_vacuum').get()!.auto_vacuum as number;
    if (mode !== 2) return false;
    this.#log.prepared(`PRAGMA incremental_vacuum(${vacuumedPerStep})`).all();
    return true;
  }

  #droppedCollections(): number[] {
    const rows = this.#log.prepared('SELECT id FROM store_collection WHERE dropped > 0 ORDER BY id').all();
    return rows.map((row) => row.id as number);
  }
}
