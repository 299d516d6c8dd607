import { readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The folder in which the Cloud SDK keeps a kubectl of every minor version. */
const sdk = '/usr/lib/google-cloud-sdk/bin';

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export interface KubectlFile {
  /** As it is called in the name of a test. */
  version: string;
  file: string;
  /** Minor version; undefined where only the program itself knows. */
  minor: number | undefined;
}

/** Every kubectl of this machine, oldest first: those with their version in their name, then the one on PATH. */
export function kubectls(): KubectlFile[] {
  const versioned = names(sdk).flatMap((name) => {
    const minor = /^kubectl\.1\.(\d+)$/.exec(name)?.[1];
    return minor === undefined ? [] : [{ version: `1.${minor}`, file: join(sdk, name), minor: Number(minor) }];
  });
  versioned.sort((a, b) => a.minor - b.minor);
  const folders = (process.env.PATH ?? '').split(delimiter);
  const onPath = folders
    .map((folder) => join(folder, 'kubectl'))
    .find((_, n) => names(folders[n]!).includes('kubectl'));
  return onPath === undefined ? versioned : [...versioned, { version: 'on PATH', file: onPath, minor: undefined }];
}
