import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { systemClock } from '../../src/kube/index.ts';

const run = promisify(execFile);

export interface Cluster {
  /** A database of its own, empty. */
  database(): Promise<string>;
  /** Kills the server as a power cut would, and starts it again on the same files. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

const missing =
  'PostgreSQL is not installed: install the package "postgresql" (15 or newer), or name the folder of its programs in BERTH_POSTGRES_BIN';

/** The folder of PostgreSQL's programs. @throws one sentence that says what to install. */
function programs(): string {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    process.env.BERTH_POSTGRES_BIN,
    '/usr/local/bin',
    ...versions.map((each) => join(debian, each, 'bin')),
  ];
  const found = folders.find((folder) => folder !== undefined && existsSync(join(folder, 'initdb')));
  if (found === undefined) throw new Error(missing);
  return found;
}

/** PostgreSQL refuses to run as root: then it runs as the user its package made, or as nobody. */
async function user(): Promise<{ uid?: number; gid?: number }> {
  if (userInfo().uid !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      // The next one.
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is neither a user postgres nor nobody');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** A PostgreSQL server in a temporary folder, on a free port of 127.0.0.1. */
export async function startCluster(): Promise<Cluster> {
  const bin = programs();
  const as = await user();
  const folder = mkdtempSync(join(tmpdir(), 'berth-postgres-'));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (as.uid !== undefined) for (const each of [folder, data]) chownSync(each, as.uid, as.gid!);
  const env = { ...process.env, LC_ALL: 'C.UTF-8' };
  await run(join(bin, 'initdb'), ['-D', data, '-U', 'berth', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
    ...as,
    cwd: folder,
    env,
  });
  const port = await freePort();
  let server: ChildProcess;
  let ended: Promise<unknown>;
  const start = async () => {
    const settings = [
      `port=${port}`,
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=${folder}`,
      'max_connections=60',
    ];
    server = spawn(join(bin, 'postgres'), ['-D', data, ...settings.flatMap((each) => ['-c', each])], {
      ...as,
      cwd: folder,
      env,
      stdio: 'ignore',
    });
    ended = new Promise((resolve) => server.once('exit', resolve));
    await accepting(port);
  };
  await start();
  let count = 0;
  return {
    async database() {
      const name = `test_${++count}`;
      const client = new pg.Client(urlOf(port, 'postgres'));
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return urlOf(port, name);
    },
    async crash() {
      server.kill('SIGQUIT');
      await ended;
      await start();
    },
    async stop() {
      server.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const urlOf = (port: number, name: string) => `postgres://berth@127.0.0.1:${port}/${name}`;

async function accepting(port: number): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const client = new pg.Client(urlOf(port, 'postgres'));
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (attempt > 3000) throw error;
      await systemClock.sleep(50);
    }
  }
}
