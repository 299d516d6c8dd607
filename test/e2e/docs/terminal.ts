import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, realpath, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../../src/kube/index.ts';

const repository = new URL('../../..', import.meta.url).pathname;

/** Where readers are told they are. */
export const home = '/home/you/berth';

/** No command of a page takes longer; kubectl wait gives up after 30 s. */
const longestCommandMs = 60_000;

const linked = ['deploy', 'examples', 'src', 'docs', 'package.json', 'node_modules'];

/** What a reader has before them: a shell in the repository, and beside it a terminal for `npm start`. */
export class Terminal {
  readonly #folder: string;
  #shell: Piped | undefined;
  #platform: Piped | undefined;
  #commands = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** A repository of its own at `folder`: of links, so that a page's `.berth/` is nobody else's. */
  static async open(folder: string): Promise<Terminal> {
    await mkdir(folder, { recursive: true });
    for (const name of linked) await symlink(join(repository, name), join(folder, name));
    return new Terminal(await realpath(folder));
  }

  get running(): boolean {
    return this.#platform !== undefined;
  }

  /** Types a command and resolves with what it prints, standard error included. */
  async type(command: string): Promise<string> {
    const started = /^npm start(?: -- (?<options>.*))?$/.exec(command);
    if (command === '^C') return this.#shown(await this.#interrupt());
    if (started !== null && command.includes('--help') === false) {
      return this.#shown(await this.#start(started.groups?.options ?? ''));
    }
    return this.#shown(await this.#inShell(command));
  }

  async close(): Promise<void> {
    if (this.#platform !== undefined) await this.#interrupt();
    if (this.#shell !== undefined) {
      // The whole group: a command that does not end is one of its children.
      process.kill(-(this.#shell.child.pid ?? 0), 'SIGKILL');
      await this.#shell.ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  #shown(output: string): string {
    return output
      .replaceAll(this.#folder, home)
      .replace(/(?<=127\.0\.0\.1:)\d+/g, '7443')
      .replace(/\n+$/, '');
  }

  #environment(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      PATH: `${join(repository, 'node_modules/.bin')}:${process.env.PATH}`,
      NO_COLOR: '1',
      npm_config_update_notifier: 'false',
      COLUMNS: '100',
      HOME: join(this.#folder, 'home'),
      KUBECONFIG: join(this.#folder, '.berth/kubeconfig'),
    };
  }

  #spawn(command: string): Piped {
    return new Piped(
      spawn('sh', ['-c', `exec 2>&1; ${command}`], {
        cwd: this.#folder,
        env: this.#environment(),
        stdio: 'pipe',
        detached: true,
      }),
    );
  }

  async #start(options: string): Promise<string> {
    if (this.#platform !== undefined) throw new Error('a platform runs already: stop it with ^C first');
    const platform = this.#spawn(`exec node src/cli/berth.mjs up --port 0 ${options}`);
    const ready = await Promise.race([platform.until('Ctrl-C stops it').then(() => true), platform.ended]);
    if (ready !== true) throw new Error(`the platform ended: ${platform.take()}`);
    this.#platform = platform;
    return platform.take();
  }

  async #interrupt(): Promise<string> {
    const platform = this.#platform;
    if (platform === undefined) throw new Error('no platform runs that ^C could stop');
    this.#platform = undefined;
    platform.child.kill('SIGINT');
    await platform.ended;
    return platform.take().trimStart();
  }

  async #inShell(command: string): Promise<string> {
    this.#shell ??= this.#spawn('exec sh');
    this.#commands += 1;
    const mark = `--- end of command ${this.#commands} ---`;
    this.#shell.child.stdin?.write(`${command}\necho; echo '${mark}'\n`);
    const ended = await Promise.race([
      this.#shell.until(`${mark}\n`).then(() => true),
      systemClock.sleep(longestCommandMs).then(() => false),
    ]);
    if (!ended) throw new Error(`"${command}" does not end; so far it has printed:\n${this.#shell.take()}`);
    return this.#shell.take().slice(0, -mark.length - 2);
  }
}

/** A process and what it has printed since somebody last looked. */
class Piped {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  #printed = '';
  #heard: () => void = () => {};

  constructor(child: ChildProcess) {
    this.child = child;
    this.ended = once(child, 'close');
    child.stdout?.on('data', (chunk: Buffer) => {
      this.#printed += chunk.toString();
      this.#heard();
    });
  }

  async until(text: string): Promise<void> {
    while (!this.#printed.includes(text)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#heard = resolve;
      await promise;
    }
  }

  /** Everything printed since the last time, whole lines of the last write included. */
  take(): string {
    const taken = this.#printed;
    this.#printed = '';
    return taken;
  }
}
