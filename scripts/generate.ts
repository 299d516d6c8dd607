import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { generatedFiles } from './generate/files.ts';

/**
 * Writes what is generated: from src/api deploy/crds/, docs/reference/ and docs/reasons.md, from the controllers the roles
 * in deploy/. With `--check` it writes
 * nothing, lists the files that are stale, missing or left over, and exits 1 if there are any. `--root DIR` works on
 * another folder than this repository.
 */

/** Folders of which every file is generated: whatever else is found there is left over. */
const ownedFolders = ['deploy', 'docs/reference'];

const { check, root } = readArguments();
const files = generatedFiles();
const stale: string[] = [];
for (const [path, content] of files) if ((await read(path)) !== content) stale.push(path);
const leftOver = (await Promise.all(ownedFolders.map(listFiles))).flat().filter((path) => !files.has(path));

if (check) {
  for (const path of stale) console.error(`stale: ${path}`);
  for (const path of leftOver) console.error(`left over: ${path}`);
  if (stale.length + leftOver.length > 0) {
    console.error('Run: npm run generate');
    process.exitCode = 1;
  }
} else {
  for (const path of stale) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), files.get(path)!);
    console.log(`wrote ${path}`);
  }
  for (const path of leftOver) {
    await rm(join(root, path));
    console.log(`removed ${path}`);
  }
}

function readArguments(): { check: boolean; root: string } {
  try {
    const { values } = parseArgs({ options: { check: { type: 'boolean' }, root: { type: 'string' } } });
    return { check: values.check === true, root: values.root ?? join(import.meta.dirname, '..') };
  } catch (error) {
    console.error(`generate: ${(error as Error).message}`);
    process.exit(2);
  }
}

async function read(path: string): Promise<string | undefined> {
  return readFile(join(root, path), 'utf8').catch(absent(undefined));
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(absent([]));
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

/** Answers `value` for a file that is not there, and throws any other error. */
function absent<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
}
