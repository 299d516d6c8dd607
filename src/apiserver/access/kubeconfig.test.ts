import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inMemoryAuthority } from './certificates.ts';
import { writeKubeconfig } from './kubeconfig.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-kubeconfig-'));
});
afterEach(() => rm(folder, { recursive: true }));

const project = '/apis/resourcemanager.miloapis.com/v1alpha1/projects/alpha/control-plane';

async function write(file: string) {
  const authority = await inMemoryAuthority({ clock: { now: () => 1_700_000_000_000 } });
  const client = await authority.issueClient('ops', ['system:masters']);
  await writeKubeconfig({
    file,
    server: 'https://127.0.0.1:6443/',
    caCertificate: authority.caCertificate,
    contexts: [
      { name: 'hub', path: '/planes/hub', credential: { token: 'secret-hub' } },
      { name: 'cell-us-central-1', path: '/planes/cells/us-central-1', credential: client },
      { name: 'project-alpha', path: project, credential: { token: 'secret-alpha' } },
    ],
    current: 'project-alpha',
  });
  return authority;
}

test('client libraries find server, authority and credential of every context', async () => {
  const file = join(folder, 'deep', 'kubeconfig');
  const authority = await write(file);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const config = new KubeConfig();
  config.loadFromFile(file);
  expect(config.getContexts().map((context) => context.name)).toEqual(['hub', 'cell-us-central-1', 'project-alpha']);
  expect(config.getCurrentContext()).toBe('project-alpha');
  expect(config.getCurrentCluster()?.server).toBe(`https://127.0.0.1:6443${project}`);
  expect(config.getCurrentUser()?.token).toBe('secret-alpha');
  expect(Buffer.from(config.getCurrentCluster()?.caData ?? '', 'base64').toString()).toBe(authority.caCertificate);
  config.setCurrentContext('cell-us-central-1');
  expect(Buffer.from(config.getCurrentUser()?.keyData ?? '', 'base64').toString()).toContain('PRIVATE KEY');
});

test('a file that was there is replaced whole, with no mode of its own and nothing left beside it', async () => {
  const file = join(folder, 'kubeconfig');
  await writeFile(file, 'old', { mode: 0o644 });
  await write(file);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['kubeconfig']);
});

test('a current context that is not there is refused', async () => {
  const options = { file: join(folder, 'k'), server: 'https://h', caCertificate: '', contexts: [], current: 'hub' };
  await expect(writeKubeconfig(options)).rejects.toThrow('the current context "hub" is none of');
});

function kubectl(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test.runIf(kubectl())('kubectl lists the contexts', async () => {
  const file = join(folder, 'kubeconfig');
  await write(file);
  const names = execFileSync('kubectl', ['--kubeconfig', file, 'config', 'get-contexts', '-o', 'name'], {
    encoding: 'utf8',
  });
  expect(names.trim().split('\n').sort()).toEqual(['cell-us-central-1', 'hub', 'project-alpha']);
});
