import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { copyDatabase } from './copy-database.ts';
import { explained } from './database.ts';
import { encloseFiles } from './enclosed.ts';
import { StorageOpenError } from './errors.ts';

/**
 * Copies the database `source`, open in another process or in none, to the new file `target`, with `files` enclosed.
 * Answers how many bytes the copy has. Throws `StorageOpenError` with one sentence that says what to do.
 */
export async function backupDatabase(
  source: string,
  target: string,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<number> {
  if (!existsSync(source)) {
    throw new StorageOpenError(`there is no database ${source}: name the folder of the platform to back up`);
  }
  await writeBackup(target, (partial) => {
    try {
      copyDatabase(source, partial);
    } catch (error) {
      throw explained(error, source);
    }
    encloseFiles(partial, files);
  });
  return statSync(target).size;
}

/**
 * Makes `target` from what `copy` writes, in a way that it is there whole and on disk, or not at all, and readable by its
 * owner alone from its first byte on. Throws `StorageOpenError` when it exists already or cannot be written.
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
    closeSync(openSync(partial, 'wx', 0o600));
    await copy(partial);
    sync(partial);
    // A link, unlike a rename, refuses a file that has appeared meanwhile.
    linkSync(partial, target);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') refuseExisting(target);
    if (error instanceof StorageOpenError) throw error;
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
