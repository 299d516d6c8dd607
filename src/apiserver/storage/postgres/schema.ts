/**
 * Records (`berth_live`), and every change of the last while in order (`berth_log`), which is what watches on all servers
 * are fed from. Text is compared by code point, as the keys of the embedded store are. A row of the log without a resource
 * says that its plane was dropped.
 */
export const schema = `
CREATE TABLE IF NOT EXISTS berth_meta (key TEXT PRIMARY KEY, value BIGINT NOT NULL);
INSERT INTO berth_meta VALUES ('revision', 0), ('horizon', 0) ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS berth_live (
  plane TEXT COLLATE "C" NOT NULL, resource TEXT COLLATE "C" NOT NULL,
  namespace TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL,
  revision BIGINT NOT NULL, value BYTEA NOT NULL,
  PRIMARY KEY (plane, resource, namespace, name)
);
CREATE TABLE IF NOT EXISTS berth_log (
  revision BIGINT NOT NULL, seq INTEGER NOT NULL,
  plane TEXT COLLATE "C" NOT NULL, resource TEXT COLLATE "C" NOT NULL,
  namespace TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL,
  deleted BOOLEAN NOT NULL, value BYTEA NOT NULL, previous BYTEA, previous_revision BIGINT,
  PRIMARY KEY (revision, seq)
);
`;

/** Advisory locks, per database: who holds the first writes, and gives out revisions; the second is for making tables. */
export const writeLock = 4_804_111_913;
export const schemaLock = 4_804_111_914;
/** Raised with every change of these tables. */
export const schemaVersion = 1;

export const channel = 'berth_commit';
