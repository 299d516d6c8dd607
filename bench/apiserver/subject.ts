/** A server under measurement, in processes of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ensureAuthority } from '../../src/apiserver/index.ts';
import { systemClock } from '../../src/kube/index.ts';
import type { Binaries } from '../../test/conformance/servers/binaries.ts';
import { startKubernetes } from '../../test/conformance/servers/kubernetes.ts';
import { tokens } from '../../test/conformance/servers/target.ts';
import { cpuSeconds } from './processes.ts';

export interface Subject {
  readonly name: 'berth' | 'kubernetes';
  readonly port: number;
  readonly ca: string;
  readonly token: string;
  /** All of its processes: with kube-apiserver, etcd too. */
  readonly pids: readonly number[];
  /** From starting the first process until it said that it was ready. */
  readonly readyMilliseconds: number;
  /** Processor time that took. */
  readonly readyCpuSeconds: number;
  stop(): Promise<void>;
}

/** The embedded server on a SQLite file. Its certificates are there already, as kube-apiserver's are. */
export async function startBerth(): Promise<Subject> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-bench-api-'));
  await ensureAuthority(folder, { clock: systemClock });
  const since = systemClock.monotonic();
  const entry = new URL('embedded.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [entry, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // As the command turns it on for itself: compiled code is kept between starts.
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') },
  });
  const exited = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { port, token, ca } = JSON.parse(line) as { port: number; token: string; ca: string };
  return {
    name: 'berth',
    port,
    ca,
    token,
    pids: [child.pid!],
    readyMilliseconds: systemClock.monotonic() - since,
    readyCpuSeconds: cpuSeconds([child.pid!]),
    async stop() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** kube-apiserver on etcd, with what both do by default for what is acknowledged to be on disk. */
export async function startReal(binaries: Binaries): Promise<Subject> {
  const { pids, ...started } = await startKubernetes(binaries);
  return { ...started, pids, token: tokens.admin, readyCpuSeconds: cpuSeconds(pids) };
}
