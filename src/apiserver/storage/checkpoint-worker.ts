import { DatabaseSync } from 'node:sqlite';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

/** Entry point of the thread that moves pages from the write-ahead log into the database (see `Checkpoints`). */

const port = parentPort as MessagePort;
const database = new DatabaseSync((workerData as { file: string }).file);
const look = database.prepare('PRAGMA wal_checkpoint(NOOP)');
const move = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');

port.on('message', (request: 'move' | 'close') => {
  if (request === 'move') {
    const before = look.get()!.checkpointed;
    const after = move.get()!.checkpointed;
    port.postMessage(after !== before);
    return;
  }
  database.close();
  port.close();
});
