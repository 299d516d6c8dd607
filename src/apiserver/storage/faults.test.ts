import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { StorageClosed, StorageOpenError } from './errors.ts';
import { key, open, put, temporaryFolder, text } from './testing.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const holder = fileURLToPath(new URL('./holder.fixture.ts', import.meta.url));

describe.each(['inline', 'worker'] as const)('faults of the store (%s)', (host) => {
  const fileOf = (name: string) => join(folder.path, `${host}-${name}`);

  const refusal = async (file: string): Promise<string> => {
    const error = await open(file, host).then(
      async (storage) => {
        await storage.close();
        return undefined;
      },
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(StorageOpenError);
    return (error as Error).message;
  };

  it('a folder that is missing, is not a folder, or cannot be written to', async () => {
    expect(await refusal(join(folder.path, 'none', 'x.sqlite'))).toBe(
      `the folder ${join(folder.path, 'none')} does not exist: create it, or choose another data folder`,
    );
    writeFileSync(fileOf('plain'), 'x');
    expect(await refusal(join(fileOf('plain'), 'x.sqlite'))).toContain('is not a folder');
    expect(await refusal('/proc/x.sqlite')).toMatch(
      /^the folder \/proc cannot be written to .*: check its permissions/,
    );
    mkdirSync(fileOf('folder'));
    expect(await refusal(fileOf('folder'))).toContain('is a folder: the database must be a file');
  });

  it('a file that is not a database is refused and left as it was', async () => {
    const file = fileOf('text');
    writeFileSync(file, 'these are notes of mine\n'.repeat(1000));
    const before = readFileSync(file);
    expect(await refusal(file)).toContain(`${file} is damaged (file is not a database): put a backup in its place`);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('damage that is only found while the last of a large database is read is told like any other', async () => {
    const file = fileOf('large');
    const storage = await open(file, host);
    for (let n = 0; n < 360; n += 1) void storage.commit(put(key(`${n}`), 'x'.repeat(100_000)));
    await storage.commit({});
    await storage.close();
    const bytes = readFileSync(file);
    expect(bytes.length).toBeGreaterThan(32 * 2 ** 20);
    writeFileSync(file, bytes.fill(0xff, 30 * 2 ** 20, bytes.length - 2 ** 20));
    expect(await refusal(file)).toMatch(/ is damaged \(.*\): put a backup in its place/s);
  });

  it('a damaged database is refused and left as it was, wherever the damage is', async () => {
    const file = fileOf('damaged');
    const storage = await open(file, host);
    for (let n = 0; n < 400; n += 1) void storage.commit(put(key(`${n}`), 'x'.repeat(1400)));
    await storage.commit({});
    await storage.close();
    const whole = readFileSync(file);
    const damages: [string, (bytes: Buffer) => Buffer][] = [
      ['the end cut off', (bytes) => bytes.subarray(0, bytes.length / 2)],
      ['the first page zeroed', (bytes) => bytes.fill(0, 0, 4096)],
      ['pages in the middle overwritten', (bytes) => bytes.fill(0xa5, 4096 * 40, 4096 * 60)],
      [
        'every page header overwritten',
        (bytes) => {
          for (let at = 4096 * 3; at < bytes.length; at += 4096) bytes.fill(0xff, at, at + 16);
          return bytes;
        },
      ],
    ];
    for (const [what, damage] of damages) {
      const damaged = damage(Buffer.from(whole));
      writeFileSync(file, damaged);
      expect(await refusal(file), what).toMatch(/ is damaged \(.*\): put a backup in its place/s);
      expect(readFileSync(file).equals(damaged), what).toBe(true);
    }
  });

  it('a database of a newer version, or of another program, is refused and left as it was', async () => {
    const file = fileOf('newer');
    await (await open(file, host)).close();
    const newer = new DatabaseSync(file);
    newer.exec('PRAGMA journal_mode = DELETE; PRAGMA user_version = 7');
    newer.close();
    const before = readFileSync(file);
    expect(await refusal(file)).toBe(
      `${file} was written by a newer version of Berth (format 7, this one knows 1): start that version, or put an older backup in its place`,
    );
    expect(readFileSync(file).equals(before)).toBe(true);
    const foreign = new DatabaseSync(fileOf('foreign'));
    foreign.exec('CREATE TABLE notes (text)');
    foreign.close();
    expect(await refusal(fileOf('foreign'))).toContain('is a database of another program');
  });

  it('a file in use by another process, until that process is gone, however it went', async () => {
    const file = fileOf('in-use');
    const child = spawn(process.execPath, [holder, file, host, 'x'], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.stdout.resume();
    expect(await refusal(file)).toBe(
      `${file} is in use by another process: stop the other one, or choose another data folder`,
    );
    const gone = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await gone;
    const storage = await open(file, host);
    expect(await refusal(file)).toContain('is in use');
    await storage.close();
  });

  it('a commit that the disk refuses is fatal, and is not acknowledged', async () => {
    const file = fileOf('full');
    // Writes beyond the limit fail as they do on a full disk, once the signal that would come first is ignored.
    const command = `trap '' XFSZ; ulimit -f 3000; exec "$0" "$@"`;
    const child = spawn('bash', ['-c', command, process.execPath, holder, file, host, 'x'], {
      env: { ...process.env, PADDING: '20000' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (data) => {
      output += data;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    const lines = output.trim().split('\n');
    expect(code).toBe(3);
    expect(lines.filter((line) => line.startsWith('fatal'))).toHaveLength(1);
    const fatal = lines.findIndex((line) => line.startsWith('fatal'));
    expect(lines.slice(fatal + 1).every((line) => line.startsWith('refused the store has failed'))).toBe(true);
    expect(lines.length).toBe(fatal + 1 + 4);
    const storage = await open(file, host);
    const newest = Math.max(...lines.slice(1, fatal).map((line) => Number(line.split(' ')[1])));
    expect(storage.revision).toBeGreaterThanOrEqual(newest);
    const last = lines
      .slice(1, fatal)
      .findLast((line) => line.startsWith('put'))!
      .split(' ');
    expect(text((await storage.get(key(last[2]!, 'n', 'g/left')))?.value)?.split(' ')[0]).toBe(last[3]);
    await storage.close();
  });

  it('a database that another program writes to is not served any further', async () => {
    const file = fileOf('meddled');
    let fatal: Error | undefined;
    const storage = await open(file, host, {
      onFatal: (error) => {
        fatal = error;
      },
    });
    await storage.commit(put(key('a'), 'x'));
    const other = new DatabaseSync(file);
    other.exec('DELETE FROM store_live');
    other.close();
    await expect(storage.commit(put(key('a'), 'y'))).rejects.toThrow(StorageClosed);
    expect(fatal?.message).toBe(`${file} was changed by another program while it was open`);
    await expect(storage.commit(put(key('a'), 'y'))).rejects.toThrow('the store has failed');
    await storage.close();
  });

  it('a module of procedures that cannot be loaded names itself', async () => {
    const procedures = [new URL('./key.ts', import.meta.url).href];
    await expect(open(fileOf('modules'), host, { procedures })).rejects.toThrow('key.ts must export `schema`');
    await (await open(fileOf('modules'), host)).close();
  });
});
