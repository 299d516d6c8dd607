import type { Storage } from '../storage.ts';
import type { PostgresOptions } from './open.ts';

export type { PostgresOptions };

/** See `open.ts`: loaded with the first call, because a platform of one machine never needs the library behind it. */
export async function openPostgresStorage(options: PostgresOptions): Promise<Storage> {
  const { openPostgresStorage } = await import('./open.ts');
  return openPostgresStorage(options);
}
