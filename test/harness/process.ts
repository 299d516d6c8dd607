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
  /** What of it went to standard error. */
  errors(): string;
  /** Peak resident memory in MiB, as the kernel counted it. */
  peakMebibytes(): number;
  /** Processor time it has used, all threads, in seconds. */
  cpuSeconds(): number;
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

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The environment of a CI job, where what a command prints is for a script; the test runner asks for colours in it. */
function plain(): NodeJS.ProcessEnv {
  const { FORCE_COLOR: _, ...env } = process.env;
  return { ...env, CI: 'true' };
}

/** Runs a command to its end, `input` being what it reads from standard input. */
export async function run(
  command: string,
  args: readonly string[],
  { input = '', env = {} }: { input?: string; env?: Record<string, string> } = {},
): Promise<Ended> {
  const child = spawn(command, args, { cwd: root, env: { ...plain(), ...env } });
  const ended = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    ended.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    ended.stderr += chunk.toString();
  });
  // Who ends without reading its input is judged by its exit code.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  return { ...ended, code };
}

/** Runs the `berth` command to its end. */
export function berth(...args: string[]): Promise<Ended> {
  return run(process.execPath, ['src/cli/berth.mjs', ...args]);
}

/** Runs `berth up` and resolves once it says that it is ready. Rejects with what it printed when it ends before that. */
export async function startProcess({ folder, args = [], env = {} }: StartOptions): Promise<PlatformProcess> {
  const child = spawn(
    process.execPath,
    ['src/cli/berth.mjs', 'up', '--data-dir', folder, '--port', '0', '--log-level', 'error', ...args],
    { cwd: root, env: { ...plain(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let printed = '';
  let errors = '';
  const ready = Promise.withResolvers<void>();
  const hear = (chunk: Buffer): void => {
    printed += chunk.toString();
    if (printed.includes('Ctrl-C stops it')) ready.resolve();
  };
  child.stdout?.on('data', hear);
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
    hear(chunk);
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  exited.then((code) => ready.reject(new Error(`the platform ended with ${code}:\n${printed}`)));
  await ready.promise;
  const match = (pattern: RegExp): string => pattern.exec(printed)?.[1] ?? '';
  return {
    kubeconfig: match(/export KUBECONFIG=(\S+)/),
    url: match(/(https:\/\/127\.0\.0\.1:\d+)/),
    child,
    output: () => printed,
    errors: () => errors,
    peakMebibytes() {
      const file = `/proc/${child.pid}/status`;
      const peak = existsSync(file) ? /VmHWM:\s+(\d+) kB/.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
      return peak === undefined ? Number.NaN : Number(peak) / 1024;
    },
    cpuSeconds() {
      const file = `/proc/${child.pid}/stat`;
      if (!existsSync(file)) return Number.NaN;
      // Fields 14 and 15 (utime, stime), in ticks of 1/100 s; the name in parentheses may hold spaces.
      const fields = readFileSync(file, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      return (Number(fields[11]) + Number(fields[12])) / 100;
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
