import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes `folder` readable by its owner alone (0700), also where it was there with a wider mode. */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
}

/**
 * Replaces `file` in one step, mode 0600 from its first byte on: a reader sees the old text or the new one, a crash
 * leaves one of the two. The folder must be there.
 */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  await rm(temporary, { force: true });
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * The text of a file with a secret in it, or undefined where there is none. A file others could read is closed to them
 * first.
 * @throws one sentence naming the file where it cannot be read.
 */
export async function readPrivateFile(file: string): Promise<string | undefined> {
  try {
    await chmod(file, 0o600);
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${file} cannot be read (${(error as Error).message})`, { cause: error });
  }
}
