import { type IpFamily, IpPrefix } from '../address/index.ts';
import { numberOf, toHex } from './bytes.ts';
import { Known } from './known.ts';
import type { IPAllocation, IPClaim, IPPool } from './objects.ts';
import { poolOf } from './pool-record.ts';
import type { TestIpam } from './testing.ts';
import type { Row } from './work.ts';

/** What is wrong with a project's address space, as sentences: nothing, at any moment, is what IPAM promises. */
export function audit(ipam: TestIpam, project: string): string[] {
  const plane = `project/${project}`;
  const all = (sql: string, ...parameters: (string | number)[]) => ipam.store.database.prepare(sql).all(...parameters);
  const wrong: string[] = [];
  const pools = new Map(all('SELECT * FROM ipam_pool WHERE plane = ?', plane).map((row) => [row.id, row]));
  const prefixOf = (row: Record<string, unknown>, family: unknown) =>
    IpPrefix.of(Number(family) as IpFamily, numberOf(row.start), Number(row.length));

  const named = new Map<string, string>();
  for (const space of all('SELECT * FROM ipam_space WHERE plane = ?', plane)) {
    const root = String(space.digest).endsWith('IPv4') ? 4 : 6;
    const family = space.pool === 0 ? root : pools.get(space.pool!)?.family;
    if (family === undefined) {
      wrong.push(`space ${space.id} belongs to no pool`);
      continue;
    }
    const whole = space.pool === 0 ? IpPrefix.of(root, 0n, 0) : prefixOf(pools.get(space.pool!)!, family);
    const blocks = all('SELECT * FROM ipam_block WHERE space = ?', space.id as number);
    const free = all('SELECT * FROM ipam_free WHERE space = ?', space.id as number);
    let at = whole.start;
    const parts = [...blocks, ...free].map((row) => prefixOf(row, family)).sort((a, b) => a.compare(b));
    for (const part of parts) {
      if (part.start < at) wrong.push(`${part} overlaps what comes before it in ${whole}`);
      if (part.start > at) wrong.push(`what comes before ${part} in ${whole} is neither free nor held`);
      at = part.end + 1n;
    }
    if (at !== whole.end + 1n) wrong.push(`the end of ${whole} is neither free nor held`);
    const used = blocks.reduce((sum, row) => sum + prefixOf(row, family).size, 0n);
    if (String(used) !== space.used) wrong.push(`${whole} says ${space.used} used, it is ${used}`);
    const live = blocks.filter(
      (row) => row.state !== 'resting' && row.purpose !== 'Reservation' && row.purpose !== 'Excluded',
    ).length;
    if (live !== space.live) wrong.push(`${whole} says ${space.live} live, it is ${live}`);
    const known = Known.of(ipam.store.kept).spaces.get(Number(space.id));
    if (known !== undefined) {
      if (String(known.used) !== space.used || known.live !== space.live)
        wrong.push(`${whole} is remembered otherwise`);
      const byLength = Map.groupBy(free, (row) => Number(row.length));
      for (const length of new Set([...byLength.keys(), ...Object.keys(known.free).map(Number)])) {
        const there = (byLength.get(length) ?? []).map((row) => toHex(row.start)).sort();
        const remembered = known.free[length] ?? { starts: [], whole: true };
        const shown = remembered.whole ? there : there.slice(0, remembered.starts.length);
        if (String(shown) !== String(remembered.starts))
          wrong.push(`free /${length} of ${whole} are remembered otherwise`);
      }
    }
    const starts = new Set(free.map((row) => prefixOf(row, family).toString()));
    for (const row of free) {
      const block = prefixOf(row, family);
      if (block.length > whole.length && starts.has(block.sibling()!.toString())) wrong.push(`${block} is not joined`);
    }
    for (const row of blocks) {
      if (row.name !== null) named.set(`${row.namespace}/${row.name}`, prefixOf(row, family).toString());
    }
  }

  for (const [asked, record] of Known.of(ipam.store.kept).records) {
    const [kind, id] = asked.split('/');
    if (kind !== 'pool') continue;
    const row = ipam.store.database.prepare('SELECT * FROM ipam_pool WHERE id = ?').get(id!);
    const text = (pool: unknown) =>
      JSON.stringify(pool, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    if (row === undefined || text(record) !== text(poolOf(row as Row)))
      wrong.push(`pool ${id} is remembered otherwise`);
  }

  const objects = new Map(
    ipam
      .list<IPAllocation>(project, 'ipallocations')
      .map((each) => [`${each.metadata.namespace}/${each.metadata.name}`, each]),
  );
  for (const [name, cidr] of named) {
    if (objects.get(name)?.status?.allocatedCIDR !== cidr) wrong.push(`block ${cidr} is not shown as ${name}`);
  }
  for (const name of objects.keys()) if (!named.has(name)) wrong.push(`IPAllocation ${name} holds nothing`);

  const claims = new Set<string>();
  for (const claim of ipam.list<IPClaim>(project, 'ipclaims')) {
    const name = `${claim.metadata.namespace}/${claim.metadata.name}`;
    claims.add(name);
    if (claim.spec?.target === 'ScopeRange') {
      const held = [...pools.values()].find((row) => row.holder === name);
      if (held?.name !== claim.status?.poolRef?.name) wrong.push(`claim ${name} holds no range`);
      continue;
    }
    const allocation = objects.get(`${claim.metadata.namespace}/${claim.status?.boundAllocationRef?.name}`);
    if (allocation?.status?.allocatedCIDR !== claim.status?.allocatedCIDR) wrong.push(`claim ${name} holds nothing`);
    if (allocation?.spec?.claimRef?.uid !== claim.metadata.uid) wrong.push(`allocation of ${name} names another claim`);
  }
  for (const row of all(`SELECT claim FROM ipam_block WHERE plane = ? AND claim IS NOT NULL`, plane)) {
    if (!claims.has(row.claim as string)) wrong.push(`a block is held by ${row.claim}, which is not there`);
  }

  const rootBlocks = all(`SELECT * FROM ipam_block WHERE plane = ? AND purpose = 'Root' AND state = 'held'`, plane);
  const familyOf = new Map(
    all('SELECT id, digest FROM ipam_space WHERE plane = ? AND pool = 0', plane).map((row) => [
      row.id,
      String(row.digest).endsWith('IPv4') ? 4 : 6,
    ]),
  );
  const roots = new Set(rootBlocks.map((row) => prefixOf(row, familyOf.get(row.space!)).toString()));
  const shown = new Map(ipam.list<IPPool>(project, 'ippools').map((each) => [each.metadata.name, each]));
  for (const row of pools.values()) {
    const prefix = prefixOf(row, row.family).toString();
    if (shown.get(row.name as string)?.status?.allocatedCIDR !== prefix) wrong.push(`pool ${row.name} is not shown`);
    shown.delete(row.name as string);
    if (row.parent === null) {
      if (!roots.delete(prefix)) wrong.push(`root pool ${row.name} has no range of its own`);
      continue;
    }
    const carved = all(
      `SELECT count(*) AS n FROM ipam_block b JOIN ipam_space s ON s.id = b.space
       WHERE s.pool = ? AND b.purpose = 'PoolCarve' AND b.state = 'held' AND b.length = ?`,
      row.parent as number,
      row.length as number,
    );
    if (Number(carved[0]!.n) === 0) wrong.push(`pool ${row.name} is not carved from its parent`);
  }
  const freed = ipam.store.database.prepare(
    'SELECT count(*) AS n FROM ipam_freed WHERE pool NOT IN (SELECT id FROM ipam_pool)',
  );
  if (Number(freed.get()!.n) > 0) wrong.push('something was freed in a pool that is not there');
  for (const name of shown.keys()) wrong.push(`pool ${name} has no range`);
  for (const range of roots) wrong.push(`${range} is held by a root pool that is not there`);
  return wrong;
}
