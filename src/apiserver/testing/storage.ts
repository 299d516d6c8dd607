import { systemClock } from '../../kube/index.ts';
import { openStorage, type StorageOptions } from '../storage/open.ts';
import type { Storage } from '../storage/storage.ts';

/** A store as a test needs it: in memory and without procedures where nothing else is said. A fatal error is thrown. */
export function openTestStorage(options: Partial<StorageOptions> = {}): Promise<Storage> {
  return openStorage({
    file: ':memory:',
    clock: systemClock,
    log: () => {},
    procedures: [],
    onFatal: (error) => {
      throw error;
    },
    ...options,
  });
}
