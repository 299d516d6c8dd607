import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { goProgram, hasGo } from '../../harness/go.ts';

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
const common = { module: goModule, cache: 'conformance' };
const apiserverPackage = 'k8s.io/kubernetes/cmd/kube-apiserver';
const controllerManagerPackage = 'k8s.io/kubernetes/cmd/kube-controller-manager';
const etcdPackage = 'go.etcd.io/etcd/server/v3';

/** Throws where a build fails: a machine with Go and the module proxy must be able to. */
export async function findBinaries(): Promise<Binaries | Missing> {
  const assets = process.env.KUBEBUILDER_ASSETS;
  if (assets !== undefined && assets !== '') {
    const found = { etcd: join(assets, 'etcd'), apiserver: join(assets, 'kube-apiserver') };
    if (existsSync(found.etcd) && existsSync(found.apiserver)) return { ...found, origin: assets };
    return { missing: `KUBEBUILDER_ASSETS=${assets} holds no etcd and kube-apiserver` };
  }
  const version = await kubernetesVersion();
  const linkerFlags = stamps(version);
  const etcd = await goProgram({ ...common, name: 'etcd', package: etcdPackage });
  const apiserver = await goProgram({ ...common, name: 'kube-apiserver', package: apiserverPackage, linkerFlags });
  const origin = dirname(etcd.file);
  const built = { etcd: etcd.file, apiserver: apiserver.file, origin };
  if (existsSync(built.etcd) && existsSync(built.apiserver)) return built;
  if (!(await hasGo())) {
    return {
      missing:
        'it needs Go and its module proxy to build kube-apiserver and etcd, or KUBEBUILDER_ASSETS naming a folder with both',
    };
  }
  console.log(`building etcd and kube-apiserver ${version} into ${origin} (minutes, this once)`);
  await etcd.build();
  await apiserver.build();
  return built;
}

/** The kube-controller-manager of the same version; undefined where KUBEBUILDER_ASSETS has none. Throws where a build fails. */
export async function findControllerManager(): Promise<string | undefined> {
  const name = 'kube-controller-manager';
  const assets = process.env.KUBEBUILDER_ASSETS;
  if (assets !== undefined && assets !== '') {
    const file = join(assets, name);
    return existsSync(file) ? file : undefined;
  }
  const linkerFlags = stamps(await kubernetesVersion());
  const program = await goProgram({ ...common, name, package: controllerManagerPackage, linkerFlags });
  if (!existsSync(program.file)) console.log(`building ${name} (minutes, this once)`);
  await program.build();
  return program.file;
}

/** The version a program says it has. */
function stamps(version: string): string[] {
  const [major = '', minor = ''] = version.slice(1).split('.');
  const stamp = { gitVersion: version, gitMajor: major, gitMinor: minor };
  return Object.entries(stamp).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
}

async function kubernetesVersion(): Promise<string> {
  const text = await readFile(join(goModule, 'go.mod'), 'utf8');
  return /k8s\.io\/kubernetes (v[\d.]+)/.exec(text)?.[1] ?? 'v0.0.0';
}
