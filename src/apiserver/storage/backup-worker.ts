import { workerData } from 'node:worker_threads';
import { copyDatabase } from './copy-database.ts';

/** Entry point of the thread that copies the database. */

const { source, target } = workerData as { source: string; target: string };
copyDatabase(source, target);
