/** The store could not be opened (or a backup not written). The message is one sentence for a person: what and what to do. */
export class StorageOpenError extends Error {
  override readonly name = 'StorageOpenError';
}

/**
 * The store has closed, or the disk refused a commit: what was asked for was not acknowledged. Whether it is on disk is
 * known only to whoever opens the file next.
 */
export class StorageClosed extends Error {
  override readonly name = 'StorageClosed';
}
