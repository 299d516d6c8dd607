import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { backupDatabase, enclosedFiles, forgetEnclosed, writePrivateFile } from '../apiserver/index.ts';
import { secretsFolder, storeFile } from './files.ts';

/**
 * Copies the platform in `folder` to the new file `target`: everything that was acknowledged until now, its certificates and
 * its tokens. It may run meanwhile. Answers how many bytes the copy has.
 * @throws {StorageOpenError} with one sentence that says what to do.
 */
export async function backupPlatform(folder: string, target: string): Promise<number> {
  return backupDatabase(join(folder, storeFile), target, await secretsOf(folder));
}

async function secretsOf(folder: string): Promise<Map<string, Uint8Array>> {
  const secrets = join(folder, secretsFolder);
  const files = new Map<string, Uint8Array>();
  if (!existsSync(secrets)) return files;
  for (const name of await readdir(secrets)) {
    // What is being replaced has another name for a moment.
    if (/\.(crt|key|json)$/.test(name)) files.set(name, await readFile(join(secrets, name)));
  }
  return files;
}

/**
 * Where the database in `folder` is a backup that was not started yet: puts the certificates and tokens in it where they
 * belong, unless the folder has its own.
 */
export async function unpackBackup(folder: string): Promise<void> {
  const database = join(folder, storeFile);
  const files = enclosedFiles(database);
  if (files.size === 0) return;
  const secrets = join(folder, secretsFolder);
  if (!existsSync(secrets)) {
    const partial = `${secrets}.partial`;
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { mode: 0o700 });
    for (const [name, content] of files) await writePrivateFile(join(partial, name), Buffer.from(content).toString());
    await rename(partial, secrets);
  }
  forgetEnclosed(database);
}
