import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { StorageOpenError } from './errors.ts';

/**
 * Makes `target` from what `copy` writes, in a way that it is there whole and on disk, or not at all.
 * Throws `StorageOpenError` when it exists already or cannot be written.
 */
export async function writeBackup(target: string, copy: (file: string) => void | Promise<void>): Promise<void> {
  refuseExisting(target);
  const folder = dirname(target);
  if (!existsSync(folder)) {
    throw new StorageOpenError(
      `the folder ${folder} does not exist: create it, or choose another place for the backup`,
    );
  }
  const partial = `${target}.${process.pid}.partial`;
  rmSync(partial, { force: true });
  try {
    await copy(partial);
    sync(partial);
    // A link, unlike a rename, refuses a file that has appeared meanwhile.
    linkSync(partial, target);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') refuseExisting(target);
    throw new StorageOpenError(
      `the backup ${target} could not be written (${(error as Error).message}): check the permissions of its folder and the free space`,
      { cause: error },
    );
  } finally {
    rmSync(partial, { force: true });
    rmSync(`${partial}-journal`, { force: true });
  }
  sync(folder);
}

/** Copies a database that is open elsewhere in this process, in a thread of its own: commits go on meanwhile. */
export function copyInThread(source: string, target: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./backup-worker.ts', import.meta.url), {
      name: 'backup',
      execArgv: [],
      workerData: { source, target },
    });
    worker.on('error', reject);
    worker.on('exit', () => resolve());
  });
}

function refuseExisting(target: string): void {
  if (existsSync(target)) throw new StorageOpenError(`${target} exists already: choose a new file for the backup`);
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
