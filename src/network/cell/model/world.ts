import {
  type NetworkInterface,
  type NetworkInterfaceClaim,
  networkingAnnotations,
  networkingFinalizers,
} from '../../../api/index.ts';
import type { Stored } from '../../../meta/index.ts';
import { claimOf, interfaceOf, now, routing } from '../claim/testing.ts';
import { unheldStamp } from '../interface/lease.ts';
import { recordAnnotations } from '../routing.ts';

/**
 * A cell that is small enough to be looked at whole: two slots, each with at most one claim and one interface, and an IPAM
 * of two blocks. Objects are reduced to what decisions can tell apart, and made whole again for the real `decide`.
 */

export type Policy = 'Delete' | 'Retain';
export type SlotIndex = 0 | 1;

/** In which second something was deleted: of two things, in the same one or in a later one. 0: it is not deleted. */
export type Deleted = 0 | 1 | 2;

export interface Claim {
  uid: number;
  policy: Policy;
  /** Whether it has the release finalizer and the record of where it allocates. */
  holding: boolean;
  /** The block its status shows. */
  shows: number | undefined;
  deleted: Deleted;
}

export interface Interface {
  uid: number;
  policy: Policy;
  /** UID of the claim that holds it. */
  holder: number | undefined;
  block: number;
  /** Whether its tenant has asked to give it back. */
  asked: boolean;
  deleted: Deleted;
}

/** A pass of the claim controller that has begun: what it saw, and what it has learned since. A crash forgets it. */
export interface Pass {
  claim: Claim;
  networkInterface: Interface | undefined;
  outcome?: { block: number; created: boolean } | 'exhausted' | 'conflict';
  released?: true;
  restored?: true;
}

export interface Slot {
  claim: Claim | undefined;
  networkInterface: Interface | undefined;
  pass: Pass | undefined;
  /** UID of an interface whose addresses the interface controller has given back, and whose finalizer it is about to take off. */
  finishing: number | undefined;
  /** The block that was promised to stay: shown under Retain, and not given back since. */
  owed: number | undefined;
}

/** An allocation of a slot's interface, or of somebody else. */
export type Block = { slot: SlotIndex; holder: number } | 'other' | undefined;

export interface World {
  slots: readonly [Slot, Slot];
  blocks: readonly [Block, Block];
  /** Whether the network is present in the location. */
  present: boolean;
  /** Whether the namespace says whose it is. */
  labelled: boolean;
}

const emptySlot: Slot = {
  claim: undefined,
  networkInterface: undefined,
  pass: undefined,
  finishing: undefined,
  owed: undefined,
};

export const start: World = {
  slots: [emptySlot, emptySlot],
  blocks: [undefined, undefined],
  present: true,
  labelled: true,
};

export function withSlot(world: World, index: SlotIndex, change: Partial<Slot>): World {
  const slots: [Slot, Slot] = [...world.slots];
  slots[index] = { ...slots[index], ...change };
  return { ...world, slots };
}

export function withBlock(world: World, index: number, block: Block): World {
  const blocks: [Block, Block] = [...world.blocks];
  blocks[index] = block;
  return { ...world, blocks };
}

/** Blocks that IPAM holds for a slot's interface. */
export function blocksOf(world: World, slot: SlotIndex): number[] {
  return [0, 1].filter((index) => {
    const block = world.blocks[index];
    return typeof block === 'object' && block.slot === slot;
  });
}

export function holderOf(world: World, index: number): number | undefined {
  const block = world.blocks[index];
  return typeof block === 'object' ? block.holder : undefined;
}

/** Whether a claim of this UID is there, and not at its end. */
export function isLiving(world: World, uid: number | undefined): boolean {
  return world.slots.some(({ claim }) => claim !== undefined && claim.uid === uid && claim.deleted === 0);
}

/** A UID nothing in the world has. */
export function freshUid(world: World): number {
  return uidsOf(world).reduce((most, uid) => Math.max(most, uid), 0) + 1;
}

function uidsOf({ slots, blocks }: World): number[] {
  const found: (number | undefined)[] = [];
  for (const { claim, networkInterface, pass, finishing } of slots) {
    found.push(claim?.uid, networkInterface?.uid, networkInterface?.holder, finishing);
    found.push(pass?.claim.uid, pass?.networkInterface?.uid, pass?.networkInterface?.holder);
  }
  for (const block of blocks) found.push(typeof block === 'object' ? block.holder : undefined);
  return found.filter((uid) => uid !== undefined);
}

/** The same world with UIDs numbered from 1 in the order in which they are found. */
export function numbered(world: World): World {
  const names = new Map<number, number>();
  for (const uid of uidsOf(world)) if (!names.has(uid)) names.set(uid, names.size + 1);
  if ([...names].every(([uid, name]) => uid === name)) return world;
  const of = (uid: number): number => names.get(uid) ?? uid;
  const claim = (each: Claim): Claim => ({ ...each, uid: of(each.uid) });
  const face = (each: Interface | undefined): Interface | undefined =>
    each && { ...each, uid: of(each.uid), holder: each.holder === undefined ? undefined : of(each.holder) };
  const slot = (each: Slot): Slot => ({
    ...each,
    claim: each.claim && claim(each.claim),
    networkInterface: face(each.networkInterface),
    pass: each.pass && {
      ...each.pass,
      claim: claim(each.pass.claim),
      networkInterface: face(each.pass.networkInterface),
    },
    finishing: each.finishing === undefined ? undefined : of(each.finishing),
  });
  const block = (each: Block): Block => (typeof each === 'object' ? { ...each, holder: of(each.holder) } : each);
  return {
    ...world,
    slots: [slot(world.slots[0]), slot(world.slots[1])],
    blocks: [block(world.blocks[0]), block(world.blocks[1])],
  };
}

/** One text for all worlds that differ in nothing but the numbers of UIDs and which slot is called the first. */
export function keyOf(world: World): string {
  return [textFrom(world, 0), textFrom(world, 1)].sort()[0]!;
}

/** What a UID is called in a text. */
type Naming = (uid: number) => number;
const asItIs: Naming = (uid) => uid;

/** The world as it is told beginning with one slot, UIDs numbered in the order in which they come up. */
function textFrom({ slots, blocks, present, labelled }: World, first: SlotIndex): string {
  const names = new Map<number, number>();
  const of: Naming = (uid) => {
    const name = names.get(uid) ?? names.size + 1;
    names.set(uid, name);
    return name;
  };
  const told = `${slotText(slots[first], of)}|${slotText(slots[first === 0 ? 1 : 0], of)}`;
  const block = (each: Block) => (typeof each === 'object' ? `${each.slot ^ first}.${of(each.holder)}` : (each ?? ''));
  return `${told}|${block(blocks[0])},${block(blocks[1])},${present ? 1 : 0}${labelled ? 1 : 0}`;
}

/** What decisions about a slot can tell apart besides the slot itself. */
export function surroundings({ blocks, present, labelled }: World): string {
  const block = (each: Block) => (typeof each === 'object' ? `${each.slot}.${each.holder}` : (each ?? ''));
  return `${block(blocks[0])},${block(blocks[1])},${present ? 1 : 0}${labelled ? 1 : 0}`;
}

/** A text that only a slot like this one has. */
export function slotText({ claim, networkInterface, pass, finishing, owed }: Slot, of = asItIs): string {
  const ended = finishing === undefined ? '' : of(finishing);
  return `${claimText(claim, of)},${interfaceText(networkInterface, of)},${passText(pass, of)},${ended},${owed ?? ''}`;
}

export function claimText(claim: Claim | undefined, of = asItIs): string {
  if (claim === undefined) return '';
  return `${of(claim.uid)}${claim.policy[0]}${claim.holding ? 1 : 0}${claim.shows ?? '-'}${claim.deleted}`;
}

export function interfaceText(object: Interface | undefined, of = asItIs): string {
  if (object === undefined) return '';
  const { uid, policy, holder, block, asked, deleted } = object;
  return `${of(uid)}${policy[0]}${holder === undefined ? '-' : of(holder)}.${block}${asked ? 1 : 0}${deleted}`;
}

export function passText(pass: Pass | undefined, of = asItIs): string {
  if (pass === undefined) return '';
  const { claim, networkInterface, outcome, released, restored } = pass;
  const learned = typeof outcome === 'object' ? `${outcome.block}${outcome.created ? 1 : 0}` : (outcome ?? '');
  return `${claimText(claim, of)};${interfaceText(networkInterface, of)};${learned};${released ? 1 : 0}${restored ? 1 : 0}`;
}

const blockTexts = ['10.128.0.2/32', '10.128.0.3/32'];

export function slotName(slot: SlotIndex): string {
  return `nic-${slot}`;
}

function deletedAt(deleted: Deleted): { deletionTimestamp?: string } {
  return deleted === 0 ? {} : { deletionTimestamp: `2026-01-01T00:00:0${deleted}Z` };
}

/** The claim as a server would store it. */
export function wholeClaim(slot: SlotIndex, claim: Claim): Stored<NetworkInterfaceClaim> {
  const name = slotName(slot);
  const addresses = claim.shows === undefined ? [] : [addressOf(claim.shows)];
  return claimOf({
    metadata: {
      name,
      uid: `claim-${claim.uid}`,
      ...deletedAt(claim.deleted),
      ...(claim.holding
        ? { finalizers: [networkingFinalizers.claimRelease], annotations: recordAnnotations(routing) }
        : {}),
    },
    spec: { ipFamilies: ['IPv4'], reclaimPolicy: claim.policy },
    ...(claim.shows === undefined ? {} : { status: { networkInterfaceRef: { name }, addresses } }),
  });
}

/** The interface as a server would store it. */
export function wholeInterface(slot: SlotIndex, object: Interface): Stored<NetworkInterface> {
  const uid = `interface-${object.uid}`;
  const { claimRef: _, ...spec } = interfaceOf().spec;
  return interfaceOf({
    metadata: {
      name: slotName(slot),
      uid,
      ...deletedAt(object.deleted),
      annotations: {
        ...recordAnnotations(routing),
        ...(object.holder === undefined ? unheldStamp(now) : {}),
        ...(object.asked ? { [networkingAnnotations.returnRequested]: uid } : {}),
      },
    },
    spec: {
      ...spec,
      claimRef: object.holder === undefined ? undefined : { name: slotName(slot), uid: `claim-${object.holder}` },
      addresses: [addressOf(object.block)],
      reclaimPolicy: object.policy,
    } as Partial<NetworkInterface['spec']>,
  });
}

function addressOf(block: number) {
  return { family: 'IPv4' as const, address: blockTexts[block]!, primary: true };
}

/** The number of a block by its text. */
export function blockOf(address: string | undefined): number {
  return blockTexts.indexOf(address ?? '');
}
