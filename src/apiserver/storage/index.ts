export { backupDatabase } from './backup.ts';
export { enclosedFiles, forgetEnclosed } from './enclosed.ts';
export { StorageClosed, StorageOpenError } from './errors.ts';
export type { HistoryLimits } from './history.ts';
export { openStorage, type StorageOptions } from './open.ts';
export { openPostgresStorage, type PostgresOptions, type PostgresStorage } from './postgres/index.ts';
export * from './storage.ts';
