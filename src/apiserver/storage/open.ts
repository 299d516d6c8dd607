import type { Clock } from '../../kube/index.ts';
import { copyInThread, writeBackup } from './backup.ts';
import { EmbeddedStorage } from './embedded.ts';
import type { HistoryLimits } from './history.ts';
import { openInline } from './inline-host.ts';
import type { Opening } from './protocol.ts';
import type { Storage } from './storage.ts';
import { openInWorker } from './worker-host.ts';

export interface StorageOptions {
  /** Path of the database, created when it is not there (its folder is not); or ':memory:'. */
  file: string;
  clock: Clock;
  /** Where the store says what a person may need to know. */
  log: (level: 'info' | 'warn' | 'error', message: string, data?: Record<string, unknown>) => void;
  /** File URLs of modules with procedures (see `Procedure`). */
  procedures: readonly string[];
  /** Resources that are not kept in memory but read from the database. Default: none. Must not change its mind. */
  uncached?: (resource: string) => boolean;
  history?: HistoryLimits;
  /** How many bytes of values are kept in memory as they are; older ones are packed (see `Packer`). Default 16 MiB. */
  freshBytes?: number;
  /**
   * The disk or the engine failed: nothing on its way was acknowledged, and nothing more will be. Called once; is expected
   * to end the process.
   */
  onFatal: (error: Error) => void;
  /** Where the database runs. Default: a worker thread for a file; ':memory:' is always inline. */
  host?: 'worker' | 'inline';
}

const defaultFreshBytes = 16 * 2 ** 20;

/**
 * Opens the embedded store. Rejects with `StorageOpenError`, whose message says what to do, when the folder is missing
 * or not writable, or the file is in use, damaged, foreign, or of a newer version; the file is then as it was.
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { file, procedures, log, onFatal } = options;
  const uncached = options.uncached ?? (() => false);
  const inMemory = file === ':memory:';
  let storage: EmbeddedStorage | undefined;
  const failed = (error: Error) => {
    if (storage === undefined) onFatal(error);
    else storage.fail(error);
  };
  const finish = async (
    { host, opened, parts }: Opening,
    copy: (target: string) => void | Promise<void>,
  ): Promise<Storage> => {
    const made = new EmbeddedStorage(host, opened, {
      clock: options.clock,
      log,
      uncached,
      history: options.history ?? {},
      freshBytes: options.freshBytes ?? defaultFreshBytes,
      onFatal,
      backup: (target) => writeBackup(target, copy),
    });
    try {
      await made.load(parts);
    } catch (error) {
      await host.close();
      throw error;
    }
    storage = made;
    return made;
  };
  if (inMemory || options.host === 'inline') {
    const { engine, ...opening } = await openInline({ file, procedures }, uncached, failed);
    return finish(opening, inMemory ? (target) => engine.copyInto(target) : (target) => copyInThread(file, target));
  }
  return finish(await openInWorker({ file, procedures }, uncached, failed), (target) => copyInThread(file, target));
}
