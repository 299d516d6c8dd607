import { DatabaseSync } from 'node:sqlite';

/**
 * Writes what `source` holds to `target`, which is empty or not there. A reader of its own sees one commit's state, whole,
 * however many go on meanwhile, and holds up nobody: also where the database is open in another process.
 */
export function copyDatabase(source: string, target: string): void {
  const database = new DatabaseSync(source, { readOnly: true, timeout: 5000 });
  try {
    database.prepare('VACUUM INTO ?').run(target);
  } finally {
    database.close();
  }
}
