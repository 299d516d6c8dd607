import { networkingLabels } from '../../../api/index.ts';
import type { Step as ClaimStep, decide as decideClaim } from '../claim/decide.ts';
import type { Snapshot } from '../claim/snapshot.ts';
import { contextOfNet, now, snapshotOf } from '../claim/testing.ts';
import type { decide as decideInterface } from '../interface/decide.ts';
import {
  blockOf,
  blocksOf,
  type Claim,
  claimText,
  freshUid,
  holderOf,
  type Interface,
  interfaceText,
  isLiving,
  keyOf,
  numbered,
  type Pass,
  type Policy,
  passText,
  type Slot,
  type SlotIndex,
  slotName,
  slotText,
  surroundings,
  type World,
  wholeClaim,
  wholeInterface,
  withBlock,
  withSlot,
} from './world.ts';

/** What the world is put to the test with. */
export interface Deciders {
  claim: typeof decideClaim;
  interface: typeof decideInterface;
}

/** Who did what, and what came of it. `by` is absent for what people and other services do. */
export interface Move {
  what: string;
  by?: SlotIndex;
  to: World;
  /** Blocks that a controller gave back. */
  freed?: readonly number[];
}

const slots = [0, 1] as const;

/**
 * Everything that may happen next. While something is under way for one slot, the other stays as it is: they meet in IPAM
 * alone, whose answers are single writes, so the order of what else they do makes no difference. (That neither touches what
 * is the other's is one of the rules that are checked.)
 */
export function movesOf(world: World, deciders: Deciders): Move[] {
  const busy = slots.filter((slot) => isBusy(world.slots[slot]));
  const moving = busy.length === 0 ? slots : busy;
  return [
    ...eventsOf(world),
    ...moving.flatMap((slot) => [...slotEvents(world, slot), ...controllersOf(world, slot, deciders)]),
  ];
}

function isBusy({ pass, finishing }: Slot): boolean {
  return pass !== undefined || finishing !== undefined;
}

/** What the controllers may do next for a slot: one write, or one look. */
export function controllersOf(world: World, slot: SlotIndex, deciders: Deciders): Move[] {
  return [claimMove(world, slot, deciders), interfaceMove(world, slot, deciders)].filter((move) => move !== undefined);
}

/** What people, other services and mishaps do. */
function eventsOf(world: World): Move[] {
  const moves: Move[] = [
    ...(world.labelled
      ? [{ what: world.present ? 'presence goes' : 'presence comes', to: { ...world, present: !world.present } }]
      : []),
    ...(world.present
      ? [{ what: world.labelled ? 'labels go' : 'labels come', to: { ...world, labelled: !world.labelled } }]
      : []),
    ...blockEvents(world),
  ];
  if (world.slots.some(isBusy)) {
    const forgotten = world.slots.map((slot): Slot => ({ ...slot, pass: undefined, finishing: undefined }));
    moves.push({ what: 'crash', to: { ...world, slots: forgotten as [Slot, Slot] } });
  }
  return moves;
}

/** Somebody else takes the last free block, or gives one back. */
function blockEvents(world: World): Move[] {
  const taken = world.blocks.indexOf('other');
  if (taken >= 0) return [{ what: 'another gives back', to: withBlock(world, taken, undefined) }];
  const free = world.blocks.lastIndexOf(undefined);
  return free < 0 ? [] : [{ what: 'another takes a block', to: withBlock(world, free, 'other') }];
}

function slotEvents(world: World, slot: SlotIndex): Move[] {
  const moves: Move[] = [];
  const { claim, networkInterface, owed } = world.slots[slot];
  const name = slotName(slot);
  if (claim === undefined) {
    for (const policy of ['Delete', 'Retain'] as const satisfies Policy[]) {
      for (const holding of world.labelled ? [false, true] : [false]) {
        const made: Claim = { uid: freshUid(world), policy, holding, shows: undefined, deleted: 0 };
        const what = `claim ${name} is made, ${policy}${holding ? ', admitted' : ''}`;
        moves.push({ what, to: withSlot(world, slot, { claim: made }) });
      }
    }
  } else if (claim.deleted === 0) {
    for (const deleted of seconds(networkInterface?.deleted)) {
      const gone = claim.holding ? { ...claim, deleted } : undefined;
      moves.push({
        what: `claim ${name} is deleted${together(deleted, networkInterface?.deleted)}`,
        to: withSlot(world, slot, { claim: gone }),
      });
    }
  }
  if (networkInterface !== undefined && networkInterface.deleted === 0) {
    for (const deleted of seconds(claim?.deleted)) {
      // Deleted under a living claim it comes back; deleted later, whoever deletes it gives it back.
      const kept = networkInterface.holder !== undefined && isLiving(world, networkInterface.holder);
      const to = withSlot(world, slot, {
        networkInterface: { ...networkInterface, deleted },
        owed: kept ? owed : undefined,
      });
      moves.push({ what: `interface ${name} is deleted${together(deleted, claim?.deleted)}`, to });
    }
    if (networkInterface.holder === undefined && !networkInterface.asked) {
      const to = withSlot(world, slot, { networkInterface: { ...networkInterface, asked: true }, owed: undefined });
      moves.push({ what: `interface ${name} is asked back`, to });
    }
  }
  return moves;
}

/** Deleted first, in the same second as the other, or in a later one. */
function seconds(other: 0 | 1 | 2 | undefined): (1 | 2)[] {
  return other === undefined || other === 0 ? [1] : [1, 2];
}

/** Said of a deletion in the very second in which the other was deleted. */
function together(deleted: 1 | 2, other: 0 | 1 | 2 | undefined): string {
  return other === deleted ? ' in the same second' : '';
}

function laterThan(other: 0 | 1 | 2 | undefined): 1 | 2 {
  return other === undefined || other === 0 ? 1 : 2;
}

function snapshotOfPass(world: World, slot: SlotIndex, pass: Pass): Snapshot {
  const { claim, networkInterface, outcome, released, restored } = pass;
  return snapshotOf({
    claim: wholeClaim(slot, claim),
    networkInterface: networkInterface === undefined ? undefined : wholeInterface(slot, networkInterface),
    contexts: world.present
      ? [contextOfNet({ metadata: { labels: { [networkingLabels.networkUID]: 'net-uid' } } })]
      : [],
    ...(world.labelled ? {} : { namespaceLabels: {} }),
    ...(outcome === undefined ? {} : { outcome: outcomeOf(slot, outcome) }),
    done: { ...(released ? { released } : {}), ...(restored ? { restored } : {}) },
  });
}

function outcomeOf(slot: SlotIndex, outcome: NonNullable<Pass['outcome']>): NonNullable<Snapshot['outcome']> {
  if (typeof outcome === 'string') {
    const reason = outcome === 'exhausted' ? 'AddressPoolExhausted' : 'RetainedAddressConflict';
    return { refusal: { reason, message: outcome, dependsOn: [] }, request: 'f-ipv4' };
  }
  const cidr = wholeInterface(slot, {
    uid: 0,
    policy: 'Delete',
    holder: undefined,
    block: outcome.block,
    asked: false,
    deleted: 0,
  }).spec.addresses![0]!.address;
  const name = `${slotName(slot)}-f-ipv4`;
  return { allocations: [{ request: { family: 'IPv4' }, name, uid: 'allocation', cidr, created: outcome.created }] };
}

/** A pass begins with a look, and each later move is one write of it; the world may have moved on in between. */
function claimMove(world: World, slot: SlotIndex, deciders: Deciders): Move | undefined {
  const { claim, networkInterface, pass: going } = world.slots[slot];
  if (going !== undefined) return passMove(world, slot, going, deciders);
  // One that would change nothing is of no interest: a claim that is refused is refused again and again.
  if (claim === undefined || isIdle(world, slot, deciders)) return undefined;
  const to = withSlot(world, slot, { pass: { claim, networkInterface } });
  return { what: `claim ${slotName(slot)} is looked at`, by: slot, to };
}

function passMove(world: World, slot: SlotIndex, pass: Pass, deciders: Deciders): Move & { step: ClaimStep } {
  const step = decided(world, slot, pass, deciders);
  const done = carryOut(step, world, slot, pass) ?? { to: withSlot(world, slot, { pass: undefined }) };
  return { what: `claim ${slotName(slot)}: ${step.do}`, by: slot, ...done, step };
}

/** Decisions are pure: what was once decided of a slot is decided of it in every world that shows it the same. */
const remembered = new WeakMap<Deciders, { steps: Map<string, ClaimStep>; idle: Map<string, boolean> }>();

function memoryOf(deciders: Deciders) {
  const memory = remembered.get(deciders) ?? { steps: new Map<string, ClaimStep>(), idle: new Map<string, boolean>() };
  remembered.set(deciders, memory);
  return memory;
}

function decided(world: World, slot: SlotIndex, pass: Pass, deciders: Deciders): ClaimStep {
  const { steps } = memoryOf(deciders);
  const key = `${slot}${passText(pass)}|${world.present ? 1 : 0}${world.labelled ? 1 : 0}`;
  const step = steps.get(key) ?? deciders.claim(snapshotOfPass(world, slot, pass));
  steps.set(key, step);
  return step;
}

/** Whether a pass would change nothing. */
function isIdle(world: World, slot: SlotIndex, deciders: Deciders): boolean {
  if (world.slots[slot].claim === undefined) return true;
  const { idle } = memoryOf(deciders);
  const key = `${slot}${slotText(world.slots[slot])}|${surroundings(world)}`;
  const known = idle.get(key) ?? runPass(world, slot, deciders).to === world;
  idle.set(key, known);
  return known;
}

/** A whole pass in which nothing else happens: what is so after it (the same world, where nothing is written), and the refusal it ends in. */
export function runPass(world: World, slot: SlotIndex, deciders: Deciders): { to: World; refused?: string } {
  const { claim, networkInterface } = world.slots[slot];
  if (claim === undefined) return { to: world };
  let current = withSlot(world, slot, { pass: { claim, networkInterface } });
  let refused: string | undefined;
  for (let pass = current.slots[slot].pass; pass !== undefined; pass = current.slots[slot].pass) {
    const move = passMove(current, slot, pass, deciders);
    if (move.step.do === 'publish') refused = move.step.refused?.reason;
    current = move.to;
  }
  const texts = [world, current].map((each) => `${slotText(each.slots[slot])}|${surroundings(each)}`);
  const to = texts[0] === texts[1] ? world : current;
  return refused === undefined ? { to } : { to, refused };
}

type Done = Pick<Move, 'to' | 'freed'>;

/** The write of a step. Nothing: it conflicts with what has happened since, and the pass ends. */
function carryOut(step: ClaimStep, world: World, slot: SlotIndex, pass: Pass): Done | undefined {
  const { claim, networkInterface } = world.slots[slot];
  const moved = interfaceText(networkInterface) !== interfaceText(pass.networkInterface);
  const unmoved = moved ? undefined : pass.networkInterface;
  const goOn = (change: Partial<Slot>, next: Partial<Pass>, of = world): Done => ({
    to: withSlot(of, slot, { ...change, pass: { ...pass, ...next } }),
  });
  switch (step.do) {
    case 'hold': {
      if (claimText(claim) !== claimText(pass.claim)) return undefined;
      const held = { ...pass.claim, holding: true };
      return goOn({ claim: held }, { claim: held });
    }
    case 'allocate':
      return allocate(world, slot, pass);
    case 'create': {
      const wanted: Interface = {
        uid: freshUid(world),
        policy: step.object.spec.reclaimPolicy ?? 'Delete',
        holder: uidOf(step.object.spec.claimRef?.uid),
        block: blockOf(step.object.spec.addresses?.[0]?.address),
        asked: false,
        deleted: 0,
      };
      if (networkInterface === undefined) return goOn({ networkInterface: wanted }, { networkInterface: wanted });
      if (networkInterface.holder === pass.claim.uid) return goOn({}, { networkInterface });
      return giveBack(world, slot, pass);
    }
    case 'bind': {
      const other = blocksOf(world, slot).find((index) => holderOf(world, index) !== pass.claim.uid);
      if (other !== undefined) return goOn({}, {}, withBlock(world, other, { slot, holder: pass.claim.uid }));
      if (unmoved === undefined) return undefined;
      const bound = { ...unmoved, holder: pass.claim.uid, asked: false };
      return goOn({ networkInterface: bound }, { networkInterface: bound });
    }
    case 'update': {
      if (unmoved === undefined) return undefined;
      if (!unmoved.asked) throw new Error(`the model does not know this update: ${JSON.stringify(step.patch)}`);
      const updated = { ...unmoved, asked: false };
      return goOn({ networkInterface: updated }, { networkInterface: updated });
    }
    case 'publish': {
      if (step.networkInterface === undefined || claimText(claim) !== claimText(pass.claim)) return undefined;
      const shows = blockOf(step.claimStatus.addresses?.[0]?.address);
      const owed = pass.claim.policy === 'Retain' ? { owed: shows } : {};
      return { to: withSlot(world, slot, { claim: { ...pass.claim, shows }, ...owed, pass: undefined }) };
    }
    case 'unbind': {
      if (unmoved === undefined) return undefined;
      const unheld = { ...unmoved, holder: undefined };
      return goOn({ networkInterface: unheld }, { networkInterface: unheld });
    }
    case 'release': {
      const freed = blocksOf(world, slot).filter((index) => holderOf(world, index) === pass.claim.uid);
      return { ...goOn({}, { released: true }, free(world, freed)), freed };
    }
    case 'restore': {
      const [block] = blocksOf(world, slot).filter((index) => holderOf(world, index) === pass.claim.uid);
      if (block === undefined) return goOn({}, { restored: true });
      if (networkInterface !== undefined) return undefined;
      const { policy } = pass.claim;
      const restored: Interface = { uid: freshUid(world), policy, holder: undefined, block, asked: false, deleted: 0 };
      return goOn({ networkInterface: restored }, { restored: true });
    }
    case 'delete': {
      if (networkInterface === undefined || networkInterface.uid !== pass.networkInterface?.uid) return undefined;
      const deleted = networkInterface.deleted !== 0 ? networkInterface.deleted : laterThan(claim?.deleted);
      const going = { ...networkInterface, deleted };
      return goOn({ networkInterface: going }, { networkInterface: going });
    }
    case 'remove':
      return networkInterface?.uid === pass.networkInterface?.uid
        ? goOn({ networkInterface: undefined }, { networkInterface: undefined })
        : undefined;
    case 'let-go':
      return claim?.uid === pass.claim.uid && claim.deleted !== 0
        ? { to: withSlot(world, slot, { claim: undefined, pass: undefined }) }
        : undefined;
    default:
      return undefined;
  }
}

/** One write of `allocate`: what is there already is used, taken over, or given back first. */
function allocate(world: World, slot: SlotIndex, pass: Pass): Done {
  const goOn = (outcome: NonNullable<Pass['outcome']>, of = world): Done => ({
    to: withSlot(of, slot, { pass: { ...pass, outcome } }),
  });
  const { uid, policy } = pass.claim;
  const [held] = blocksOf(world, slot);
  if (held !== undefined) {
    const holder = holderOf(world, held);
    if (holder === uid) return goOn({ block: held, created: false });
    if (isLiving(world, holder)) return goOn('conflict');
    if (policy === 'Retain')
      return goOn({ block: held, created: false }, withBlock(world, held, { slot, holder: uid }));
    return { to: free(world, [held]), freed: [held] };
  }
  const found = world.blocks.indexOf(undefined);
  return found < 0
    ? goOn('exhausted')
    : goOn({ block: found, created: true }, withBlock(world, found, { slot, holder: uid }));
}

/** The interface was made by somebody else meanwhile: what this pass took goes back. */
function giveBack(world: World, slot: SlotIndex, pass: Pass): Done {
  const over = withSlot(world, slot, { pass: undefined });
  const { outcome } = pass;
  const made = typeof outcome === 'object' && outcome.created ? outcome.block : undefined;
  if (made === undefined || holderOf(world, made) !== pass.claim.uid) return { to: over };
  return { to: free(over, [made]), freed: [made] };
}

function free(world: World, blocks: readonly number[]): World {
  return blocks.reduce((next, block) => withBlock(next, block, undefined), world);
}

function uidOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text.replace('claim-', ''));
}

/** The interface controller decides on live reads; between giving addresses back and the finalizer there is a write. */
function interfaceMove(world: World, slot: SlotIndex, { interface: decide }: Deciders): Move | undefined {
  const { claim, networkInterface, finishing } = world.slots[slot];
  const name = slotName(slot);
  if (finishing !== undefined) {
    const gone = networkInterface?.uid === finishing ? { networkInterface: undefined } : {};
    return {
      what: `interface ${name}: finalizer off`,
      by: slot,
      to: withSlot(world, slot, { ...gone, finishing: undefined }),
    };
  }
  if (networkInterface === undefined) return undefined;
  const holder = networkInterface.holder === undefined || claim === undefined ? undefined : wholeClaim(slot, claim);
  const step = decide({ networkInterface: wholeInterface(slot, networkInterface), holder, lease: 'forever', now });
  const move = (change: Partial<Slot>, of = world): Move => ({
    what: `interface ${name}: ${step.do}`,
    by: slot,
    to: withSlot(of, slot, change),
  });
  switch (step.do) {
    case 'release': {
      const freed = blocksOf(world, slot).filter((index) => !isLiving(world, holderOf(world, index)));
      return { ...move({ finishing: networkInterface.uid }, free(world, freed)), freed };
    }
    case 'let-go':
      return move({ networkInterface: undefined });
    case 'unbind':
      return move({ networkInterface: { ...networkInterface, holder: undefined } });
    case 'delete':
      return move({ networkInterface: { ...networkInterface, deleted: laterThan(claim?.deleted) } });
    default:
      return undefined;
  }
}

/** Lets the controllers do all they can, and nothing else happen. Undefined: they do not come to rest. */
export function settle(world: World, deciders: Deciders, known: Map<string, World>): World | undefined {
  const passed: string[] = [];
  let current = world;
  for (let moves = 0; moves < 200; moves++) {
    const key = keyOf(current);
    const settled = known.get(key);
    const [next] = settled === undefined ? slots.flatMap((slot) => controllersOf(current, slot, deciders)) : [];
    if (settled !== undefined || next === undefined) {
      const rest = settled ?? current;
      for (const each of [...passed, key]) known.set(each, rest);
      return rest;
    }
    passed.push(key);
    current = numbered(next.to);
  }
  return undefined;
}
