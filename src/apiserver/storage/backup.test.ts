import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { StorageOpenError } from './errors.ts';
import { hosts, key, open, put, temporaryFolder, text } from './testing.ts';

describe.each(hosts)('backup (%s)', (host) => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());
  const fileOf = (name: string) => join(folder.path, name);

  it('is one state of a running store, with everything acknowledged before it', async () => {
    const storage = await open(fileOf('x'), host);
    let stop = false;
    let acknowledged = 0;
    const write = async () => {
      for (let n = 1; !stop; n += 1) {
        const value = `${n} ${'x'.repeat(1400)}`;
        await storage.commit({ puts: [...put(key('left'), value).puts!, ...put(key('right'), value).puts!] });
        await storage.commit(put(key(`${n % 200}`, 'm'), value));
        acknowledged = n;
      }
    };
    const writing = write();
    for (let n = 0; n < 100; n += 1) await storage.call('lease', { name: `${n}` });
    const before = { acknowledged, revision: storage.revision };
    await storage.backup(fileOf('copy'));
    stop = true;
    await writing;
    await storage.close();
    const copy = await open(fileOf('copy'), host === 'memory' ? 'inline' : host);
    expect(copy.revision).toBeGreaterThanOrEqual(before.revision);
    const left = text((await copy.get(key('left')))?.value);
    expect(left).toBe(text((await copy.get(key('right')))?.value));
    expect(Number(left?.split(' ')[0])).toBeGreaterThanOrEqual(before.acknowledged);
    expect((await copy.call<unknown[]>('leases', {})).result).toHaveLength(100);
    expect((await copy.commit(put(key('a'), 'x'))).revision).toBe(copy.revision);
    await copy.close();
  });

  it('refuses a file that exists and a folder that does not, and leaves nothing behind', async () => {
    const storage = await open(fileOf('y'), host);
    await storage.commit(put(key('a'), 'x'));
    writeFileSync(fileOf('precious'), 'precious');
    await expect(storage.backup(fileOf('precious'))).rejects.toThrow(
      new StorageOpenError(`${fileOf('precious')} exists already: choose a new file for the backup`),
    );
    await expect(storage.backup(join(fileOf('none'), 'z'))).rejects.toThrow('none does not exist: create it');
    await expect(storage.backup('/proc/z')).rejects.toThrow(/^the backup \/proc\/z could not be written/);
    await storage.commit(put(key('a'), 'y'));
    await storage.close();
    expect(readdirSync(folder.path).filter((name) => name.includes('partial'))).toEqual([]);
  });
});
