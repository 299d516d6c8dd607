import { openPostgresStorage, openStorage, type Storage } from '../apiserver/index.ts';
import { systemClock } from '../kube/index.ts';
import { death } from './death-steps.fixture.ts';

/** A process that makes one write and dies at a statement of it: `node death.fixture.ts STORE REQUEST STATEMENT`. */

const [store = '', request = '{}', statement = '0'] = process.argv.slice(2);
const options = {
  clock: systemClock,
  log: () => {},
  procedures: [new URL('./death-steps.fixture.ts', import.meta.url).href],
  onFatal: (error: Error) => {
    throw error;
  },
};
const storage: Storage = store.startsWith('postgres://')
  ? await openPostgresStorage({ ...options, url: store })
  : await openStorage({
      ...options,
      file: store,
      host: 'inline',
      uncached: (resource) => resource.startsWith('ipam.miloapis.com/'),
    });
death.at = Number(statement);
await storage.call('ipam.write', JSON.parse(request));
await storage.close();
