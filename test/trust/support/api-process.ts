import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Served } from './api.ts';

const fixture = fileURLToPath(new URL('./api.fixture.ts', import.meta.url));

/** A server that is killed and started again on the same folder; its port is another one each time. */
export class ApiProcess implements Served {
  port = 0;
  ca = '';
  readonly #folder: string;
  #child: ChildProcess | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Resolves once it serves. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [fixture, this.#folder], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    let printed = '';
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        if (!printed.includes('\n')) return;
        Object.assign(this, JSON.parse(printed) as Served);
        resolve();
      });
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${errors}`)));
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.port = 0;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}
