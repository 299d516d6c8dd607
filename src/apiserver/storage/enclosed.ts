import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { applicationId } from './database.ts';

/** Files that travel inside a backup, beside the tables: what a platform has of its own that is not in the store. */

/** Puts `files`, by name, into a database nobody has open, in place of those that were in it. */
export function encloseFiles(database: string, files: ReadonlyMap<string, Uint8Array>): void {
  const opened = new DatabaseSync(database);
  try {
    opened.exec(`BEGIN; DROP TABLE IF EXISTS backup_file;
      CREATE TABLE backup_file (name TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID, STRICT`);
    const insert = opened.prepare('INSERT INTO backup_file VALUES (?, ?)');
    for (const [name, content] of files) insert.run(name, content);
    opened.exec('COMMIT');
  } finally {
    opened.close();
  }
}

/**
 * The files in a database nobody has open; none where there is no such database. A damaged or foreign one has none either:
 * whoever opens it as a store says what is wrong with it.
 */
export function enclosedFiles(database: string): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  if (!existsSync(database)) return files;
  const opened = new DatabaseSync(database, { readOnly: true, timeout: 5000 });
  try {
    if (opened.prepare('PRAGMA application_id').get()?.application_id !== applicationId) return files;
    if (opened.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'backup_file'").get() === undefined) return files;
    for (const { name, content } of opened.prepare('SELECT name, content FROM backup_file').iterate()) {
      files.set(name as string, content as Uint8Array);
    }
    return files;
  } catch {
    return files;
  } finally {
    opened.close();
  }
}

/** Takes the files out of a database nobody has open. */
export function forgetEnclosed(database: string): void {
  const opened = new DatabaseSync(database, { timeout: 5000 });
  try {
    opened.exec('DROP TABLE IF EXISTS backup_file');
  } finally {
    opened.close();
  }
}
