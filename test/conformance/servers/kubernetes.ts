import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inMemoryAuthority } from '../../../src/apiserver/index.ts';
import { systemClock } from '../../../src/kube/index.ts';
import type { Binaries } from './binaries.ts';
import { startControllerManager } from './controller-manager.ts';
import { type Target, tokens } from './target.ts';

export interface RealTarget extends Target {
  readonly name: 'kubernetes';
  /** Of etcd and of kube-apiserver, in that order. */
  readonly pids: readonly number[];
  /** From starting etcd until kube-apiserver said that it was ready. */
  readonly readyMilliseconds: number;
}

/** A real kube-apiserver on a real etcd, both on loopback and gone with `stop`. Rejects with the end of its log. */
export async function startKubernetes(binaries: Binaries): Promise<RealTarget> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-conformance-'));
  const children: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const child of children.reverse()) await ended(child);
    await rm(folder, { recursive: true, force: true });
  };
  const start = (name: string, command: string, args: readonly string[]): void => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder });
    const log = createWriteStream(join(folder, `${name}.log`));
    child.stdout?.pipe(log);
    child.stderr?.pipe(log);
    children.push(child);
  };
  try {
    const [client, peer, port] = await freePorts();
    const authority = await inMemoryAuthority({ clock: systemClock });
    const since = systemClock.monotonic();
    start('etcd', binaries.etcd, [
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=http://127.0.0.1:${client}`,
      `--advertise-client-urls=http://127.0.0.1:${client}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      '--log-level=warn',
    ]);
    const file = async (name: string, text: string): Promise<string> => {
      const path = join(folder, name);
      await writeFile(path, text, { mode: 0o600 });
      return path;
    };
    const accounts = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const users = `${tokens.admin},admin,admin-uid,"system:masters"\n${tokens.alice},alice,alice-uid,"dev"\n`;
    const accountKey = await file('accounts.key', accounts.privateKey);
    start('kube-apiserver', binaries.apiserver, [
      `--etcd-servers=http://127.0.0.1:${client}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${port}`,
      `--tls-cert-file=${await file('serving.crt', authority.serving.certificate)}`,
      `--tls-private-key-file=${await file('serving.key', authority.serving.key)}`,
      `--cert-dir=${folder}`,
      `--token-auth-file=${await file('tokens.csv', users)}`,
      '--authorization-mode=RBAC',
      '--endpoint-reconciler-type=none',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${await file('accounts.pub', accounts.publicKey)}`,
      `--service-account-signing-key-file=${accountKey}`,
      // Nothing makes the service accounts that this one waits for: there is no controller manager.
      '--disable-admission-plugins=ServiceAccount',
    ]);
    await ready(port, authority.caCertificate, children, join(folder, 'kube-apiserver.log'));
    const readyMilliseconds = systemClock.monotonic() - since;
    const pids = children.map((child) => child.pid!);
    const startControllers = async (): Promise<boolean> => {
      const caFile = await file('ca.crt', authority.caCertificate);
      return startControllerManager({ port, caFile, folder, start });
    };
    return { name: 'kubernetes', port, ca: authority.caCertificate, pids, readyMilliseconds, startControllers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const forced = systemClock.after(5_000, () => child.kill('SIGKILL'));
  await exit;
  forced.cancel();
}

async function ready(port: number, ca: string, children: readonly ChildProcess[], log: string): Promise<void> {
  const until = systemClock.monotonic() + 90_000;
  while (systemClock.monotonic() < until) {
    const dead = children.find((child) => child.exitCode !== null);
    if (dead !== undefined) break;
    if ((await probe(port, ca)) === 200) return;
    await systemClock.sleep(50);
  }
  const text = await readFile(log, 'utf8').catch(() => '');
  throw new Error(`kube-apiserver did not become ready; the end of its log:\n${text.slice(-3000)}`);
}

function probe(port: number, ca: string): Promise<number> {
  const headers = { authorization: `Bearer ${tokens.admin}` };
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path: '/readyz', ca, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.once('error', () => resolve(0));
    asked.end();
  });
}

/** Three ports of loopback that nobody listened on a moment ago. */
async function freePorts(): Promise<[number, number, number]> {
  const servers = [createServer(), createServer(), createServer()];
  const ports: number[] = [];
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ports.push((server.address() as { port: number }).port);
  }
  for (const server of servers) server.close();
  return ports as [number, number, number];
}
