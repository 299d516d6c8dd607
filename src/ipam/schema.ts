/**
 * IPAM's own tables, beside the objects. A pool's addresses are in one or more *spaces* (one per combination of its
 * classes' `uniqueWithin` roles): within a space no two live blocks overlap, which a trigger enforces whatever the code
 * does. Root pools are the blocks of a space of their own per project and family (`pool` 0), so that they cannot overlap
 * either. What of a space is neither reserved, held nor resting is in `ipam_free`, always joined to the largest blocks.
 * A space is `stale` until the status of its pool says what it says, and the pool is in `ipam_freed` where something of it was freed.
 * Starts and ends are 16-byte big-endian numbers, IPv4 in the low four bytes: bytes order as numbers do.
 */
export const schema = `
CREATE TABLE IF NOT EXISTS ipam_class (
  plane TEXT NOT NULL, name TEXT NOT NULL, family INTEGER NOT NULL, is_default INTEGER NOT NULL,
  spec TEXT NOT NULL, stale INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (plane, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ipam_class_default ON ipam_class (plane, family, name) WHERE is_default = 1;
CREATE INDEX IF NOT EXISTS ipam_class_stale ON ipam_class (stale) WHERE stale = 1;

CREATE TABLE IF NOT EXISTS ipam_pool (
  id INTEGER PRIMARY KEY, plane TEXT NOT NULL, name TEXT NOT NULL, family INTEGER NOT NULL,
  start BLOB NOT NULL, length INTEGER NOT NULL, parent INTEGER,
  class TEXT, digest TEXT, holder TEXT, roles TEXT,
  strategy TEXT NOT NULL, min_length INTEGER, max_length INTEGER, rest INTEGER, max_lease INTEGER,
  reserved TEXT NOT NULL,
  UNIQUE (plane, name), UNIQUE (plane, class, digest)
);
CREATE UNIQUE INDEX IF NOT EXISTS ipam_pool_holder ON ipam_pool (plane, holder) WHERE holder IS NOT NULL;
CREATE INDEX IF NOT EXISTS ipam_pool_parent ON ipam_pool (parent) WHERE parent IS NOT NULL;

CREATE TABLE IF NOT EXISTS ipam_offer (
  plane TEXT NOT NULL, class TEXT NOT NULL, pool_name TEXT NOT NULL, pool INTEGER NOT NULL,
  PRIMARY KEY (plane, class, pool_name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ipam_offer_pool ON ipam_offer (pool);

CREATE TABLE IF NOT EXISTS ipam_space (
  id INTEGER PRIMARY KEY, plane TEXT NOT NULL, pool INTEGER NOT NULL, digest TEXT NOT NULL,
  used TEXT NOT NULL, live INTEGER NOT NULL, stale INTEGER NOT NULL,
  UNIQUE (pool, digest)
);
CREATE INDEX IF NOT EXISTS ipam_space_plane ON ipam_space (plane);
CREATE INDEX IF NOT EXISTS ipam_space_stale ON ipam_space (stale) WHERE stale = 1;

CREATE TABLE IF NOT EXISTS ipam_freed (pool INTEGER NOT NULL, PRIMARY KEY (pool)) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS ipam_free (
  space INTEGER NOT NULL, length INTEGER NOT NULL, start BLOB NOT NULL,
  PRIMARY KEY (space, length, start)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS ipam_block (
  space INTEGER NOT NULL, start BLOB NOT NULL, last BLOB NOT NULL, length INTEGER NOT NULL,
  plane TEXT NOT NULL, state TEXT NOT NULL, purpose TEXT NOT NULL, due INTEGER,
  namespace TEXT, name TEXT, claim TEXT, class TEXT, scope TEXT, reclaim TEXT, lease INTEGER,
  PRIMARY KEY (space, start)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ipam_block_due ON ipam_block (due) WHERE due IS NOT NULL;
CREATE INDEX IF NOT EXISTS ipam_block_resting ON ipam_block (space, due) WHERE state = 'resting';

CREATE TRIGGER IF NOT EXISTS ipam_block_no_overlap BEFORE INSERT ON ipam_block
WHEN (SELECT last FROM ipam_block WHERE space = NEW.space AND start <= NEW.last ORDER BY start DESC LIMIT 1) >= NEW.start
BEGIN
  SELECT RAISE(ABORT, 'ipam: two live blocks of one address space would overlap');
END;
CREATE TRIGGER IF NOT EXISTS ipam_block_stays BEFORE UPDATE OF space, start, last, length ON ipam_block
BEGIN
  SELECT RAISE(ABORT, 'ipam: a block never moves');
END;

CREATE TABLE IF NOT EXISTS ipam_identity (
  plane TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
  cell_uid TEXT NOT NULL, interface_namespace TEXT NOT NULL, interface_name TEXT NOT NULL,
  PRIMARY KEY (plane, namespace, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ipam_identity_interface
  ON ipam_identity (plane, cell_uid, interface_namespace, interface_name);
`;

/** What older versions had. */
export const outdated = [{ table: 'ipam_space', column: 'heads' }, { index: 'ipam_block_name' }];
