import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The real servers: from KUBEBUILDER_ASSETS, or built from their Go modules once per version and kept. */

export interface Binaries {
  etcd: string;
  apiserver: string;
  /** Where they came from, for a person. */
  origin: string;
}

/** Why there are none on this machine, and what would change that. */
export interface Missing {
  missing: string;
}

const goModule = new URL('../go/', import.meta.url).pathname;
const apiserverPackage = 'k8s.io/kubernetes/cmd/kube-apiserver';
const etcdPackage = 'go.etcd.io/etcd/server/v3';

/** Throws where a build fails: a machine with Go and the module proxy must be able to. */
export async function findBinaries(): Promise<Binaries | Missing> {
  const assets = process.env.KUBEBUILDER_ASSETS;
  if (assets !== undefined && assets !== '') {
    const found = { etcd: join(assets, 'etcd'), apiserver: join(assets, 'kube-apiserver') };
    if (existsSync(found.etcd) && existsSync(found.apiserver)) return { ...found, origin: assets };
    return { missing: `KUBEBUILDER_ASSETS=${assets} holds no etcd and kube-apiserver` };
  }
  const folder = await cacheFolder();
  const built = { etcd: join(folder, 'etcd'), apiserver: join(folder, 'kube-apiserver'), origin: folder };
  if (existsSync(built.etcd) && existsSync(built.apiserver)) return built;
  if (!(await runs('go', ['version']))) {
    return {
      missing:
        'it needs Go and its module proxy to build kube-apiserver and etcd, or KUBEBUILDER_ASSETS naming a folder with both',
    };
  }
  await mkdir(folder, { recursive: true });
  const version = await kubernetesVersion();
  const [major = '', minor = ''] = version.slice(1).split('.');
  const stamp = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const flags = Object.entries(stamp).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  console.log(`building etcd and kube-apiserver ${version} into ${folder} (minutes, this once)`);
  await build(etcdPackage, built.etcd, '-s -w');
  await build(apiserverPackage, built.apiserver, ['-s -w', ...flags].join(' '));
  return built;
}

/** One folder per state of the Go module, outside the checkout. */
async function cacheFolder(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(goModule, file)));
  const root = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return join(root, 'berth', 'conformance', hash.digest('hex').slice(0, 16));
}

async function kubernetesVersion(): Promise<string> {
  const text = await readFile(join(goModule, 'go.mod'), 'utf8');
  return /k8s\.io\/kubernetes (v[\d.]+)/.exec(text)?.[1] ?? 'v0.0.0';
}

/** Builds under another name and renames: a build that was cut off leaves nothing that looks whole. */
async function build(name: string, target: string, linkerFlags: string): Promise<void> {
  const args = ['-n', '19', 'go', 'build', '-trimpath', '-ldflags', linkerFlags, '-o', `${target}.part`, name];
  const child = spawn('nice', args, {
    cwd: goModule,
    stdio: 'inherit',
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' },
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`go build ${name} failed with ${code}`);
  await rename(`${target}.part`, target);
}

async function runs(command: string, args: readonly string[]): Promise<boolean> {
  const child = spawn(command, args, { stdio: 'ignore' });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}
