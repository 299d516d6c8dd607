export { StorageClosed, StorageOpenError } from './errors.ts';
export type { HistoryLimits } from './history.ts';
export { openStorage, type StorageOptions } from './open.ts';
export { openPostgresStorage, type PostgresOptions } from './postgres/open.ts';
export * from './storage.ts';
