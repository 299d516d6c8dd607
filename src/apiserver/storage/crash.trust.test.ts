import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../kube/index.ts';
import { open, Recorder, temporaryFolder, text, turns } from './testing.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const holder = fileURLToPath(new URL('./holder.fixture.ts', import.meta.url));

/** Starts a writing process, kills it with SIGKILL after `lines` acknowledgements and a bit, answers all it printed. */
function writeAndKill(file: string, host: string, prefix: string, lines: number, bitMilliseconds: number) {
  return new Promise<string[]>((resolve, reject) => {
    const child = spawn(process.execPath, [holder, file, host, prefix], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    let dying = false;
    child.stderr.on('data', (data) => {
      errors += data;
    });
    child.stdout.on('data', (data) => {
      output += data;
      if (dying || output.split('\n').length < lines) return;
      dying = true;
      systemClock.after(bitMilliseconds, () => child.kill('SIGKILL'));
    });
    child.on('close', () => {
      if (!dying) reject(new Error(`the writer ended by itself: ${output.slice(-500)} ${errors}`));
      // The last line may be cut in the middle.
      else resolve(output.slice(0, output.lastIndexOf('\n')).split('\n'));
    });
  });
}

describe.each([
  ['worker', 10],
  ['inline', 3],
] as const)('kill -9 (%s)', (host, rounds) => {
  it(`${rounds} times at any moment: everything acknowledged is there, nothing is torn, watches resume`, async () => {
    const file = join(folder.path, `${host}.sqlite`);
    const promised = new Map<string, { revision: number; value: string }>();
    const leases = new Map<string, number>();
    let newest = 0;
    let resume = 0;
    const followed = new Map<string, string>();
    for (let round = 0; round < rounds; round += 1) {
      for (const line of await writeAndKill(file, host, `${round}`, 40 + round * 17, round * 3)) {
        const [what, revision, name, value] = line.split(' ') as [string, string, string, string];
        newest = Math.max(newest, Number(revision));
        if (what === 'put') promised.set(name, { revision: Number(revision), value });
        else if (what === 'lease') leases.set(name, Number(revision));
        else expect(what).toBe('open');
      }
      const storage = await open(file, host);
      expect(storage.revision).toBeGreaterThanOrEqual(newest);
      newest = storage.revision;
      const left = await storage.list({ plane: 'p', resource: 'g/left' });
      const right = await storage.list({ plane: 'p', resource: 'g/right' });
      const state = (page: typeof left) =>
        page.records.map((record) => `${record.key.name} ${record.revision} ${text(record.value)}`);
      expect(state(left)).toEqual(state(right));
      const held = new Map(left.records.map((record) => [record.key.name, record]));
      for (const [name, { revision, value }] of promised) {
        const record = held.get(name)!;
        if (record.revision === revision) expect(text(record.value)?.split(' ')[0]).toBe(value);
        else expect(record.revision).toBeGreaterThan(revision);
      }
      const rows = (await storage.call<{ name: string }[]>('leases', {})).result.map((row) => row.name);
      const claims = await storage.list({ plane: 'p', resource: 'ipam/claims' });
      expect(claims.records.map((record) => record.key.name)).toEqual(rows);
      for (const name of leases.keys()) expect(rows).toContain(name);
      const recorder = new Recorder();
      storage.watch({ plane: 'p', resource: 'g/left', from: resume }, recorder);
      await turns();
      for (const event of recorder.seen) {
        expect(text(event.previous?.value)).toBe(followed.get(event.key.name));
        followed.set(event.key.name, text(event.value)!);
      }
      resume = recorder.revision;
      expect([...followed].sort()).toEqual(
        left.records.map((record) => [record.key.name, text(record.value)]).sort() as [string, string][],
      );
      newest = storage.revision;
      await storage.close();
    }
    // Enough was acknowledged for the comparison to mean something.
    expect(promised.size).toBeGreaterThanOrEqual(20);
    expect(leases.size).toBeGreaterThan(0);
  }, 120_000);
});
