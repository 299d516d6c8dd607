import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';

/** Entry point of the thread that copies the database: a reader of its own sees one commit's state, and holds up nobody. */

const { source, target } = workerData as { source: string; target: string };
const database = new DatabaseSync(source, { readOnly: true, timeout: 5000 });
try {
  database.prepare('VACUUM INTO ?').run(target);
} finally {
  database.close();
}
