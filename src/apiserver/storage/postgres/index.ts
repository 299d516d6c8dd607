import type { PostgresOptions } from './open.ts';
import type { PostgresStorage } from './storage.ts';

export type { PostgresOptions, PostgresStorage };

/** See `open.ts`: loaded with the first call, because a platform of one machine never needs the library behind it. */
export async function openPostgresStorage(options: PostgresOptions): Promise<PostgresStorage> {
  const { openPostgresStorage } = await import('./open.ts');
  return openPostgresStorage(options);
}
