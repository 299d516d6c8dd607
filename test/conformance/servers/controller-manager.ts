import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findControllerManager } from './binaries.ts';
import { tokens } from './target.ts';

/** The controllers of kube-controller-manager that the embedded server has of its own. */
const controllers = ['garbage-collector-controller', 'namespace-controller', 'clusterrole-aggregation-controller'];

export interface ControllerManagerOptions {
  /** Of the kube-apiserver on loopback. */
  port: number;
  /** File with the PEM of who signed its certificate. */
  caFile: string;
  /** Where its kubeconfig goes. */
  folder: string;
  start(name: string, command: string, args: readonly string[]): void;
}

/** Starts a kube-controller-manager with these controllers alone; false where there is no such program. */
export async function startControllerManager(options: ControllerManagerOptions): Promise<boolean> {
  const { port, caFile, folder, start } = options;
  const command = await findControllerManager();
  if (command === undefined) return false;
  const kubeconfig = join(folder, 'controllers.kubeconfig');
  await writeFile(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'all',
      clusters: [{ name: 'all', cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority': caFile } }],
      users: [{ name: 'all', user: { token: tokens.admin } }],
      contexts: [{ name: 'all', context: { cluster: 'all', user: 'all' } }],
    }),
    { mode: 0o600 },
  );
  start('kube-controller-manager', command, [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${controllers.join(',')}`,
    '--leader-elect=false',
    '--secure-port=0',
  ]);
  return true;
}
