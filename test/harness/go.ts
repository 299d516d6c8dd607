/** Programs of Go modules kept under test/, built once per state of their module and kept outside the checkout. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface GoProgram {
  /** Its file, whether it is there or not. */
  file: string;
  /** Builds it where it is not there. Throws where that fails: a machine with Go and the module proxy must be able to. */
  build(): Promise<void>;
}

export interface GoProgramOptions {
  /** Folder of the module. */
  module: string;
  /** What is built: `.` or the path of a package. */
  package: string;
  name: string;
  linkerFlags?: readonly string[];
  /** Folder below `~/.cache/berth` (or XDG_CACHE_HOME). */
  cache: string;
}

export async function goProgram(options: GoProgramOptions): Promise<GoProgram> {
  const folder = await cacheFolder(options.module, options.cache);
  const file = join(folder, options.name);
  return {
    file,
    async build() {
      if (existsSync(file)) return;
      await mkdir(folder, { recursive: true });
      await build(options, file);
    },
  };
}

/** Whether there is a Go to build with. */
export async function hasGo(): Promise<boolean> {
  const child = spawn('go', ['version'], { stdio: 'ignore' });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}

/** One folder per content of the module. */
async function cacheFolder(module: string, cache: string): Promise<string> {
  const hash = createHash('sha256');
  const names = (await readdir(module)).filter((name) => /\.(mod|sum|go)$/.test(name)).sort();
  for (const name of names) hash.update(await readFile(join(module, name)));
  const root = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return join(root, 'berth', cache, hash.digest('hex').slice(0, 16));
}

/** Builds under another name and renames: a build that was cut off leaves nothing that looks whole. */
async function build(options: GoProgramOptions, target: string): Promise<void> {
  const flags = ['-s -w', ...(options.linkerFlags ?? [])].join(' ');
  const args = ['-n', '19', 'go', 'build', '-trimpath', '-ldflags', flags, '-o', `${target}.part`, options.package];
  const child = spawn('nice', args, {
    cwd: options.module,
    stdio: 'inherit',
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' },
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`go build ${options.package} failed with ${code}`);
  await rename(`${target}.part`, target);
}
