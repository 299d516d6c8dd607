import { type Deciders, type Move, movesOf, runPass, settle } from './moves.ts';
import { blocksOf, holderOf, keyOf, numbered, type SlotIndex, slotName, start, type World } from './world.ts';

/** The rules of architecture.md, *What must always hold*, as far as claims and interfaces of a cell can break them. */

export interface Exploration {
  /** Worlds that can be reached, but for the names of UIDs. */
  states: number;
  moves: number;
  /** The first rule that was broken, with how it came to that. */
  broken: { rule: string; trace: string[] } | undefined;
}

const slots = [0, 1] as const;

/**
 * Looks at every world that can come about, breadth first: so what is found first is the shortest way to it. `happens`
 * says which moves count, by their description.
 */
export function explore(deciders: Deciders, happens: (what: string) => boolean): Exploration {
  const from = new Map<string, { before: string; what: string } | undefined>([[keyOf(start), undefined]]);
  const known = new Map<string, World>();
  let moves = 0;
  const broken = (rule: string, key: string, last?: string) => {
    const trace = last === undefined ? [] : [last];
    for (let at = from.get(key); at !== undefined; at = from.get(at.before)) trace.unshift(at.what);
    return { states: from.size, moves, broken: { rule, trace } };
  };
  let edge: [key: string, world: World][] = [[keyOf(start), start]];
  while (edge.length > 0) {
    const next: typeof edge = [];
    for (const [key, world] of edge) {
      const wrong = brokenBy(world) ?? brokenAtRest(world, deciders, known);
      if (wrong !== undefined) return broken(wrong, key);
      for (const move of movesOf(world, deciders)) {
        if (!happens(move.what)) continue;
        moves++;
        const offence = brokenOnTheWay(world, move);
        if (offence !== undefined) return broken(offence, key, move.what);
        const to = numbered(move.to);
        const reached = keyOf(to);
        if (from.has(reached)) continue;
        from.set(reached, { before: key, what: move.what });
        next.push([reached, to]);
      }
    }
    edge = next;
  }
  return { states: from.size, moves, broken: undefined };
}

/** What a controller must never do, whatever it is up to. */
function brokenOnTheWay(world: World, { by, to, freed = [] }: Move): string | undefined {
  if (by === undefined) return undefined;
  for (const block of freed) {
    for (const slot of slots) {
      const { claim, networkInterface } = world.slots[slot];
      if (networkInterface === undefined || networkInterface.block !== block) continue;
      if (claim?.deleted === 0 && claim.shows === block) return `2: a living claim’s block ${block} is given back`;
      const retained = networkInterface.policy === 'Retain' && networkInterface.holder === undefined;
      if (retained && networkInterface.deleted === 0) return `1: block ${block} is retained, and given back`;
    }
  }
  for (const slot of slots) {
    const before = world.slots[slot];
    const after = to.slots[slot];
    const renumbered =
      before.claim?.shows !== undefined &&
      after.claim?.uid === before.claim.uid &&
      after.claim.shows !== before.claim.shows;
    if (renumbered) return `2: claim ${slotName(slot)} is renumbered`;
    if (slot !== by && before !== after) return `6: ${slotName(by)} touches ${slotName(slot)}`;
    const { networkInterface } = before;
    const removed = networkInterface?.deleted === 0 && (after.networkInterface?.deleted ?? 1) !== 0;
    if (!removed || networkInterface === undefined) continue;
    if (networkInterface.policy === 'Retain' && !networkInterface.asked) return `7: a retained interface is removed`;
    const held = before.claim?.deleted === 0 && networkInterface.holder === before.claim.uid;
    if (held) return `2: the interface of a living claim is removed`;
  }
  const took = to.blocks.some((block, index) => block !== undefined && world.blocks[index] === undefined);
  const { claim } = world.slots[by];
  // Where it was recorded, the record is used; without a record, labels have to say whose it is.
  if (took && !claim?.holding) return '8: a block is taken before it is recorded where';
  return undefined;
}

/** What must be so at any moment. */
function brokenBy(world: World): string | undefined {
  const shown = new Map<number, SlotIndex>();
  for (const slot of slots) {
    const { claim, networkInterface } = world.slots[slot];
    if (networkInterface?.deleted === 0) {
      const other = shown.get(networkInterface.block);
      if (other !== undefined)
        return `1: ${slotName(other)} and ${slotName(slot)} both have block ${networkInterface.block}`;
      shown.set(networkInterface.block, slot);
    }
    if (claim === undefined || claim.deleted !== 0 || claim.shows === undefined) continue;
    if (!blocksOf(world, slot).includes(claim.shows))
      return `2: claim ${slotName(slot)} shows what IPAM does not hold for it`;
    const held = networkInterface?.holder === claim.uid && networkInterface.deleted === 0;
    if (held && networkInterface.block !== claim.shows) return `2: claim ${slotName(slot)} and its interface differ`;
  }
  return undefined;
}

/** What must be so once the controllers have done all they can. */
function brokenAtRest(world: World, deciders: Deciders, known: Map<string, World>): string | undefined {
  const rest = settle(world, deciders, known);
  if (rest === undefined) return '5: it does not come to rest';
  for (const slot of slots) {
    const { claim, networkInterface, owed } = rest.slots[slot];
    const name = slotName(slot);
    if (claim !== undefined && claim.deleted !== 0) return `3: claim ${name} stays, although it is deleted`;
    if (networkInterface !== undefined && networkInterface.deleted !== 0)
      return `3: interface ${name} stays, although it is deleted`;
    const held = blocksOf(rest, slot);
    const leaked = held.find((block) => block !== networkInterface?.block && holderOf(rest, block) !== claim?.uid);
    if (leaked !== undefined) return `1: block ${leaked} is held for ${name}, and nothing names it`;
    if (networkInterface !== undefined && !held.includes(networkInterface.block)) {
      return `1: interface ${name} shows what IPAM does not hold for it`;
    }
    if (owed !== undefined && !held.includes(owed)) return `1: block ${owed} was retained for ${name}, and is lost`;
    if (claim === undefined || (claim.shows !== undefined && networkInterface?.holder === claim.uid)) continue;
    const said = runPass(rest, slot, deciders).refused;
    if (said === undefined || !causesOf(rest, slot).includes(said)) return `4: claim ${name} waits and says ${said}`;
  }
  return undefined;
}

/** What is in a claim's way, as it should say it. */
function causesOf(world: World, slot: SlotIndex): string[] {
  const { claim, networkInterface } = world.slots[slot];
  const bound = claim?.shows !== undefined;
  const causes: string[] = [];
  if (!world.labelled && !bound) causes.push('ProjectUnresolved');
  if (!world.present) causes.push('NetworkNotAvailableInLocation');
  if (networkInterface !== undefined && networkInterface.policy !== claim?.policy) causes.push('ReclaimPolicyMismatch');
  if (!world.blocks.includes(undefined)) causes.push('AddressPoolExhausted');
  return causes;
}
