import { createHash, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, expect, test } from 'vitest';
import { Network } from '../../src/api/index.ts';
import { berth } from '../harness/process.ts';
import { networkObject } from './support/objects.ts';
import { start, useFolder } from './support/platform.ts';

const folder = useFolder();

/** A folder a platform has run in. */
let used: string;
beforeAll(async () => {
  used = join(folder.path, 'used');
  const running = await start(used);
  await running.project().create(Network, networkObject('kept'));
  await running.interrupt();
});

/** Content of every file in a folder but the lock, which is always empty. */
async function hashes(path: string): Promise<Record<string, string>> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.lock'));
  const hashed = files.map(async ({ parentPath, name }) => {
    const file = join(parentPath, name);
    return [
      relative(path, file),
      createHash('sha256')
        .update(await readFile(file))
        .digest('hex'),
    ];
  });
  return Object.fromEntries(await Promise.all(hashed));
}

/** A copy of the used folder, changed by `damage`. */
async function damaged(name: string, damage: (database: string) => Promise<void> | void): Promise<string> {
  const path = join(folder.path, name);
  await cp(used, path, { recursive: true });
  await damage(join(path, 'berth.db'));
  return path;
}

async function refuses(data: string, sentence: RegExp, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await berth(
    'up',
    '--data-dir',
    data,
    '--port',
    '0',
    '--log-level',
    'error',
    ...args,
  );
  expect(stderr).toMatch(sentence);
  expect(stderr.trimEnd().split('\n'), 'one sentence').toHaveLength(1);
  expect(stderr).toMatch(/^berth: /);
  expect(stdout).not.toContain('API ');
  expect(code).toBe(1);
}

test('a port that is taken: one sentence, exit code 1, and the folder as it was', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const before = await hashes(used);
  try {
    await refuses(
      used,
      new RegExp(`port ${port} on 127.0.0.1 is taken: stop what uses it, or choose another with --port`),
      '--port',
      String(port),
    );
  } finally {
    server.close();
  }
  expect(await hashes(used)).toEqual(before);
});

test('a folder that cannot be made: one sentence, exit code 1', async () => {
  const file = join(folder.path, 'a-file');
  await writeFile(file, 'text');
  await refuses(
    join(file, 'data'),
    /the data folder .*a-file\/data cannot be made \(ENOTDIR\): choose another with --data-dir/,
  );
  expect(await readFile(file, 'utf8')).toBe('text');
});

// Permissions do not stop root, who runs the tests in many a container; nobody at all can make a file in /proc.
test('a folder that cannot be written to: one sentence, exit code 1', async () => {
  await refuses('/proc/self', /the folder \/proc\/self cannot be written to .*choose another data folder/);
});

test('a folder in use by another process: one sentence, exit code 1, and the other goes on', async () => {
  const data = join(folder.path, 'shared');
  const running = await start(data);
  try {
    const kubeconfig = await readFile(running.process.kubeconfig, 'utf8');
    await refuses(data, /berth\.db is in use by another process: stop the other one, or choose another data folder/);
    expect(await readFile(running.process.kubeconfig, 'utf8')).toBe(kubeconfig);
    await running.project().create(Network, networkObject('later'));
    expect(await running.project().get(Network, { namespace: 'default', name: 'later' })).toBeDefined();
  } finally {
    expect(await running.interrupt()).toBe(0);
  }
});

test.each([
  [
    'damaged at its beginning',
    async (file: string) => {
      const handle = await open(file, 'r+');
      await handle.write(Buffer.alloc(64, 0x58), 0, 64, 0);
      await handle.close();
    },
    /berth\.db is damaged \(.*\): put a backup in its place, or move it away to start empty/,
  ],
  [
    'damaged further in',
    async (file: string) => {
      const handle = await open(file, 'r+');
      const { size } = await handle.stat();
      for (let at = 8192; at < size; at += 4096) await handle.write(Buffer.alloc(64, 0x58), 0, 64, at);
      await handle.close();
    },
    /berth\.db is damaged \(.*\): put a backup in its place, or move it away to start empty/,
  ],
  [
    'written by a newer version',
    (file: string) => {
      const database = new DatabaseSync(file);
      database.exec('PRAGMA user_version = 999');
      database.close();
    },
    /berth\.db was written by a newer version of Berth \(format 999, this one knows \d+\): start that version, or put an older backup in its place/,
  ],
  [
    'of another program',
    (file: string) => {
      const database = new DatabaseSync(file);
      database.exec('PRAGMA application_id = 7');
      database.close();
    },
    /berth\.db is a database of another program: choose another data folder/,
  ],
])('a database %s: one sentence, exit code 1, nothing overwritten', async (name, damage, sentence) => {
  const data = await damaged(name.replaceAll(' ', '-'), damage);
  const before = await hashes(data);
  await refuses(data, sentence);
  expect(await hashes(data)).toEqual(before);
});

const pemOf = (namedCurve: string) =>
  generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const restore = 'put it back from a backup, or delete ca.crt to have another authority made';

test.each([
  ['certificate that is nonsense', 'ca.crt', (file: string) => writeFile(file, 'nonsense'), `is damaged: ${restore}`],
  ['certificate that is cut off', 'ca.crt', (file: string) => truncate(file, 200), `is damaged: ${restore}`],
  ['certificate that is empty', 'ca.crt', (file: string) => truncate(file, 0), `is damaged: ${restore}`],
  ['key that is nonsense', 'ca.key', (file: string) => writeFile(file, 'nonsense'), `is damaged: ${restore}`],
  ['key that is gone', 'ca.key', (file: string) => rm(file), `is missing: ${restore}`],
  [
    'key of another certificate',
    'ca.key',
    (file: string) => writeFile(file, pemOf('P-256')),
    `is not the key of ca.crt: ${restore}`,
  ],
  [
    'folder in place of its certificate',
    'ca.crt',
    async (file: string) => {
      await rm(file);
      await mkdir(file);
    },
    'cannot be read \\(EISDIR',
  ],
  [
    'list of tokens that is cut off',
    'tokens.json',
    (file: string) => truncate(file, 100),
    'is damaged: put it back from a backup, or delete it to have new tokens made, which invalidates every kubeconfig',
  ],
  [
    'key for accounts that is nonsense',
    'accounts.key',
    (file: string) => writeFile(file, 'nonsense'),
    'is damaged: put it back from a backup, or delete it to have a new key made, which invalidates every token',
  ],
  [
    'key for accounts of another kind',
    'accounts.key',
    (file: string) => writeFile(file, pemOf('P-384')),
    'is damaged: put it back from a backup',
  ],
])('a %s: one sentence, exit code 1, nothing overwritten', async (name, secret, damage, sentence) => {
  const data = await damaged(name.replaceAll(' ', '-'), (database) => damage(join(database, '../secrets', secret)));
  const before = await hashes(data);
  await refuses(data, new RegExp(`secrets/${secret.replace('.', '\\.')} ${sentence}`));
  const after = await hashes(data);
  for (const file of Object.keys(before).filter((each) => !each.startsWith('berth.db'))) {
    expect([file, after[file]]).toEqual([file, before[file]]);
  }
});

test('a certificate to serve with that is damaged is made anew: nobody had to trust it', async () => {
  const data = await damaged('serving', (database) => writeFile(join(database, '../secrets/server.crt'), 'nonsense'));
  const kubeconfig = await readFile(join(data, 'kubeconfig'), 'utf8');
  const trusted = (text: string) => /certificate-authority-data: (\S+)/.exec(text)?.[1];
  const running = await start(data);
  expect(trusted(await readFile(running.process.kubeconfig, 'utf8'))).toBe(trusted(kubeconfig));
  expect(await running.project().get(Network, { namespace: 'default', name: 'kept' })).toBeDefined();
  expect(await running.interrupt()).toBe(0);
});

test('after all of that, the folder starts as ever', async () => {
  const running = await start(used);
  expect(await running.project().get(Network, { namespace: 'default', name: 'kept' })).toBeDefined();
  expect(await running.interrupt()).toBe(0);
});
