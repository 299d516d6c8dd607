import { closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { keptBytes } from './checkpoints.ts';
import { StorageOpenError } from './errors.ts';

/** `Brth`: what `file` and SQLite's own tools show as the application of the database. */
export const applicationId = 0x42727468;
export const schemaVersion = 1;

/** Checked whole at opening up to this size, some 50 ms; what is larger is checked where it is read. */
const quickCheckBytes = 32 * 2 ** 20;

/**
 * Values are written once, to `store_log`, in the order of commits; `store_live` says which entry is the newest of a key.
 * Measured against one table of live rows and a copy in a history table: 2 to 4 times the rows per second, a third of the
 * file. An entry is removed once it has been replaced and the event that replaced it has left the history.
 */
const schema = `
  CREATE TABLE IF NOT EXISTS store_meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS store_collection (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    plane TEXT NOT NULL,
    resource TEXT NOT NULL,
    dropped INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS store_collection_in_use ON store_collection (plane, resource) WHERE dropped = 0;
  CREATE TABLE IF NOT EXISTS store_dropped (plane TEXT PRIMARY KEY, revision INTEGER NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS store_live (
    collection INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    entry INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (collection, namespace, name)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS store_log (
    id INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL,
    collection INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    deleted INTEGER NOT NULL,
    previous INTEGER NOT NULL,
    value BLOB NOT NULL
  ) STRICT;
  INSERT OR IGNORE INTO store_meta VALUES ('schema', ${schemaVersion});
`;

/** Pages that were read stay at hand: SQLite's own 2 MiB are fewer than a commit of 64 allocations among a million asks for twice. */
const cacheKibibytes = 32_768;

/** Small pages: where keys are spread over a million rows, a commit writes one for each of its rows. */
const layout = 'PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL;';
const identity = `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion};`;

export interface OpenedDatabase {
  database: DatabaseSync;
  close(): void;
}

/**
 * Opens or creates the database, for this process alone. Throws `StorageOpenError` and leaves the file as it was when
 * the folder or the file cannot be used, another process has it open, or it is damaged, foreign or of a newer version.
 */
export function openDatabase(file: string): OpenedDatabase {
  if (file === ':memory:') {
    const database = new DatabaseSync(file);
    database.exec(`${layout} ${identity} ${schema}`);
    return { database, close: () => database.close() };
  }
  checkPlace(file);
  const lock = takeLock(file);
  let database: DatabaseSync | undefined;
  try {
    createPrivately(file);
    database = new DatabaseSync(file, { timeout: 5000 });
    prepare(database, file);
  } catch (error) {
    if (database?.isOpen) database.close();
    lock.close();
    throw explained(error, file);
  }
  const opened = database;
  return {
    database,
    close() {
      opened.close();
      lock.close();
    },
  };
}

/** A failure of SQLite as a sentence about the file, or the error itself when it is something else. */
export function explained(error: unknown, file: string): unknown {
  switch (sqliteCode(error)) {
    case 11:
    case 26:
      return new StorageOpenError(
        `${file} is damaged (${(error as Error).message}): put a backup in its place, or move it away to start empty`,
      );
    case 5:
    case 6:
      return inUse(file);
    case 3:
    case 8:
    case 14:
      return new StorageOpenError(
        `${file} cannot be opened for writing (${(error as Error).message}): check the permissions of the file and of its folder`,
      );
    case 10:
    case 13:
      return new StorageOpenError(
        `${file} cannot be read or written (${(error as Error).message}): check the disk and the free space on it`,
      );
    default:
      return error;
  }
}

/** SQLite's primary result code, or undefined for another kind of error. */
export function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : undefined;
}

function checkPlace(file: string): void {
  const folder = dirname(file);
  const place = statSync(folder, { throwIfNoEntry: false });
  if (place === undefined) {
    throw new StorageOpenError(`the folder ${folder} does not exist: create it, or choose another data folder`);
  }
  if (!place.isDirectory()) {
    throw new StorageOpenError(`${folder} is not a folder: choose another data folder`);
  }
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    throw new StorageOpenError(`${file} is a folder: the database must be a file, choose another name`);
  }
}

/**
 * Makes the file where there is none, for its owner alone whatever the process's mask: objects hold secrets. SQLite gives
 * the files beside a database the mode of the database. What cannot be made here is refused by SQLite, with its reason.
 */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It is there, or cannot be.
  }
}

/**
 * A lock of the operating system, which ends with the process, on a second, always empty database. The database itself
 * stays open to readers: a backup reads it while commits go on.
 */
function takeLock(file: string): DatabaseSync {
  const path = `${file}.lock`;
  let lock: DatabaseSync | undefined;
  try {
    createPrivately(path);
    lock = new DatabaseSync(path, { timeout: 0 });
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    if (lock?.isOpen) lock.close();
    switch (sqliteCode(error)) {
      case 5:
      case 6:
        throw inUse(file);
      case 26:
        throw new StorageOpenError(`${path} is not the lock file of a Berth database: remove it`);
      default:
        throw new StorageOpenError(
          `the folder ${dirname(file)} cannot be written to (${(error as Error).message}): check its permissions, or choose another data folder`,
        );
    }
  }
}

function inUse(file: string): StorageOpenError {
  return new StorageOpenError(
    `${file} is in use by another process: stop the other one, or choose another data folder`,
  );
}

function prepare(database: DatabaseSync, file: string): void {
  const application = pragma(database, 'application_id');
  const version = pragma(database, 'user_version');
  const tables = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()!.tables as number;
  const empty = application === 0 && version === 0 && tables === 0;
  if (!empty && application !== applicationId) {
    throw new StorageOpenError(`${file} is a database of another program: choose another data folder`);
  }
  if (version > schemaVersion) {
    throw new StorageOpenError(
      `${file} was written by a newer version of Berth (format ${version}, this one knows ${schemaVersion}): start that version, or put an older backup in its place`,
    );
  }
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= quickCheckBytes) {
    const found = database.prepare('PRAGMA quick_check(1)').get()?.quick_check;
    if (found !== 'ok') {
      const said = String(found).replace('*** in database main ***', '').replace(/\s+/g, ' ').trim();
      throw new StorageOpenError(
        `${file} is damaged (${said}): put a backup in its place, or move it away to start empty`,
      );
    }
  }
  // Layout and identity have to be there before the first page is written to the write-ahead log.
  if (empty) {
    database.exec(`${layout} BEGIN IMMEDIATE; ${identity} COMMIT`);
  }
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode;
  if (mode !== 'wal') {
    throw new StorageOpenError(`${file} is on a file system without write-ahead logging: choose a local disk`);
  }
  database.exec(`PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${keptBytes}; PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -${cacheKibibytes};
    BEGIN IMMEDIATE; ${schema} COMMIT`);
}

function pragma(database: DatabaseSync, name: string): number {
  return database.prepare(`PRAGMA ${name}`).get()![name] as number;
}
