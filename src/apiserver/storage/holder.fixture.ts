import { systemClock } from '../../kube/index.ts';
import { openStorage } from './open.ts';

/** A process of its own that writes until it is killed: `node holder.fixture.ts FILE HOST PREFIX`; prints what it was promised. */

const [file, host, prefix] = process.argv.slice(2) as [string, 'inline' | 'worker', string];
const say = (line: string) => process.stdout.write(`${line}\n`);

const storage = await openStorage({
  file,
  host,
  clock: systemClock,
  log: () => {},
  procedures: [new URL('./procedures.fixture.ts', import.meta.url).href],
  uncached: (resource) => resource.startsWith('ipam/'),
  onFatal: (error) => {
    say(`fatal ${error.message}`);
    process.exitCode = 3;
    systemClock.after(50, () => process.exit());
  },
});
say(`open ${storage.revision}`);

const encoder = new TextEncoder();
const padding = 'x'.repeat(Number(process.env.PADDING ?? 700));

/** Two keys that always carry the same value, and every fourth time a lease: what is torn shows. */
async function write(writer: number): Promise<void> {
  for (let n = 0; ; n += 1) {
    const value = `${prefix}.${writer}.${n}`;
    const name = `${writer}-${n % 20}`;
    const encode = () => encoder.encode(`${value} ${padding}`);
    const keyOf = (resource: string) => ({ plane: 'p', resource, namespace: 'n', name });
    try {
      const { revision } = await storage.commit({
        puts: [
          { key: keyOf('g/left'), encode },
          { key: keyOf('g/right'), encode },
        ],
      });
      say(`put ${revision} ${name} ${value}`);
      if (n % 4 === 3) {
        const lease = `${prefix}-${writer}-${n}`;
        const called = await storage.call('lease', { name: lease });
        say(`lease ${called.revision} ${lease}`);
      }
    } catch (error) {
      say(`refused ${(error as Error).message}`);
      return;
    }
  }
}
for (let writer = 0; writer < 4; writer += 1) void write(writer);
