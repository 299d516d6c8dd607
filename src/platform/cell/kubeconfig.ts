import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureAuthority, kubeconfigText } from '../../apiserver/index.ts';
import { type Clock, readKubeconfig } from '../../kube/index.ts';
import { secretsFolder } from '../files.ts';
import { hubPlane, rootPlane } from '../planes.ts';
import { StartError } from '../start.ts';
import { cellsGroup } from './roles.ts';

/**
 * A kubeconfig for the process of a cell: contexts `hub` and `ipam` of the platform in `folder`, with a client certificate that
 * lets it do there what cells do, and nothing else. Good for a year.
 * @throws {StartError} where no platform was started in the folder.
 */
export async function cellKubeconfig(folder: string, location: string, clock: Clock): Promise<string> {
  const kubeconfig = join(folder, 'kubeconfig');
  if (!existsSync(kubeconfig)) {
    throw new StartError(`no platform was started in ${folder}: name its folder with --data-dir`);
  }
  try {
    const { server } = readKubeconfig(kubeconfig, 'root');
    const authority = await ensureAuthority(join(folder, secretsFolder), { clock });
    const credential = await authority.issueClient(`berth:cell:${location}`, [cellsGroup]);
    const contexts = [
      { name: 'hub', path: hubPlane.path, credential },
      { name: 'ipam', path: rootPlane.path, credential },
    ];
    return kubeconfigText({ server, caCertificate: authority.caCertificate, contexts, current: 'hub' });
  } catch (error) {
    throw new StartError(`certificates of ${folder} cannot be used: ${(error as Error).message}`);
  }
}
