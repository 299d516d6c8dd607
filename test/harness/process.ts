/** A whole platform as a process of its own, started as a person starts it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';

const root = new URL('../..', import.meta.url).pathname;

export interface PlatformProcess {
  /** Path of the kubeconfig it wrote. */
  kubeconfig: string;
  url: string;
  child: ChildProcess;
  /** All it printed so far. */
  output(): string;
  /** Peak resident memory in MiB, as the kernel counted it. */
  peakMebibytes(): number;
  /** SIGINT, as Ctrl-C does. Resolves with the exit code. */
  interrupt(): Promise<number>;
  /** SIGKILL: what a crash leaves behind. */
  kill(): Promise<void>;
}

export interface StartOptions {
  folder: string;
  args?: readonly string[];
  env?: Record<string, string>;
}

/** Runs `berth up` and resolves once it says that it is ready. Rejects with what it printed when it ends before that. */
export async function startProcess({ folder, args = [], env = {} }: StartOptions): Promise<PlatformProcess> {
  const child = spawn(
    process.execPath,
    ['src/cli/berth.mjs', 'up', '--data-dir', folder, '--port', '0', '--log-level', 'error', ...args],
    { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let printed = '';
  const ready = Promise.withResolvers<void>();
  const hear = (chunk: Buffer): void => {
    printed += chunk.toString();
    if (printed.includes('Ctrl-C stops it')) ready.resolve();
  };
  child.stdout?.on('data', hear);
  child.stderr?.on('data', hear);
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  exited.then((code) => ready.reject(new Error(`the platform ended with ${code}:\n${printed}`)));
  await ready.promise;
  const match = (pattern: RegExp): string => pattern.exec(printed)?.[1] ?? '';
  return {
    kubeconfig: match(/export KUBECONFIG=(\S+)/),
    url: match(/(https:\/\/127\.0\.0\.1:\d+)/),
    child,
    output: () => printed,
    peakMebibytes() {
      const file = `/proc/${child.pid}/status`;
      const peak = existsSync(file) ? /VmHWM:\s+(\d+) kB/.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
      return peak === undefined ? Number.NaN : Number(peak) / 1024;
    },
    async interrupt() {
      child.kill('SIGINT');
      return (await exited) ?? -1;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
