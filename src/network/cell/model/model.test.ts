import { describe, expect, it } from 'vitest';
import { networkingFinalizers } from '../../../api/index.ts';
import { type Step as ClaimStep, decide as decideClaim } from '../claim/decide.ts';
import type { Snapshot } from '../claim/snapshot.ts';
import { decide as decideInterface, type Step as InterfaceStep } from '../interface/decide.ts';
import { recordAnnotations } from '../routing.ts';
import type { Deciders } from './moves.ts';
import { explore } from './rules.ts';

const real: Deciders = { claim: decideClaim, interface: decideInterface };

/** One slot, in whatever surroundings: presence and labels that go and come, and somebody else who takes addresses. */
const oneSlot = (what: string) => !what.includes('nic-1');

/**
 * Two slots that share two addresses. What one slot alone has shown already is left out; MODEL=all leaves out surroundings
 * only (some 420,000 states).
 */
const left = process.env.MODEL === 'all' ? /presence|labels/ : /presence|labels|another|same second/;
const twoSlots = (what: string) => !left.test(what);

describe('what must always hold', () => {
  it('holds for one slot, whatever happens around it', () => {
    const { states, moves, broken } = explore(real, oneSlot);
    console.log(`one slot: ${states} states, ${moves} moves`);
    expect(broken).toBeUndefined();
    expect(states).toBeGreaterThan(3_000);
  });

  it('holds for two slots that share two addresses', { timeout: 600_000 }, () => {
    const { states, moves, broken } = explore(real, twoSlots);
    console.log(`two slots: ${states} states, ${moves} moves`);
    expect(broken).toBeUndefined();
    expect(states).toBeGreaterThan(100_000);
  });
});

/** Each row: what somebody might get wrong, how, and the rule that is broken then. */
const wrong: [string, Partial<Deciders>, string, ((what: string) => boolean)?][] = [
  ['allocates before it is written down where', claim('hold', unrecorded), '8: a block is taken before'],
  [
    'lets go of a claim and forgets its addresses',
    claim('release', () => ({ do: 'let-go' })),
    '1: block 0 is held for nic-0',
  ],
  [
    'takes a retained interface away',
    claim('unbind', (step) => ({ ...(step as ClaimStep & { do: 'unbind' }), do: 'delete' })),
    '1: block 0 was retained for nic-0, and is lost',
  ],
  ['never lets go of a retained interface', claim('unbind', () => ({ do: 'rest' })), '3: claim nic-0 stays'],
  ['gives the wrong reason', claim('publish', misnamed), '4: claim nic-0 waits and says NetworkMismatch'],
  [
    'makes nothing of what it allocated',
    claim('create', () => ({ do: 'rest' })),
    '4: claim nic-0 waits and says undefined',
  ],
  [
    'gives addresses back before anybody knows that the interface goes',
    claim('delete', (_, { done }, routing) => (done?.released ? undefined : { do: 'release', routing })),
    '1: nic-0 and nic-1 both have block 0',
    twoSlots,
  ],
  [
    'forgets the addresses of an interface that is given back',
    face('release', () => ({ do: 'let-go' })),
    '1: block 0 is held for nic-0, and nothing names it',
  ],
  [
    'removes what nobody holds',
    face('settle', () => ({ do: 'delete', reason: 'InterfaceReturned' })),
    '1: block 0 was retained for nic-0, and is lost',
  ],
  [
    'takes the interface of a living claim for nobody’s',
    face('rest', () => ({ do: 'delete' })),
    '5: it does not come to rest',
  ],
];

describe('a decision that is wrong is found out', () => {
  for (const [what, decider, rule, happens = oneSlot] of wrong) {
    it(`${what}: rule ${rule}`, { timeout: 600_000 }, () => {
      const { broken } = explore({ ...real, ...decider }, happens);
      expect(broken?.rule).toContain(rule);
      expect(broken?.trace.some((each) => each.startsWith('claim nic-0 is made'))).toBe(true);
    });
  }
});

type Routing = Extract<ClaimStep, { do: 'hold' }>['routing'];

/** The real decision, but for one step. */
function claim(
  instead: ClaimStep['do'],
  of: (step: ClaimStep, snapshot: Snapshot, routing: Routing) => ClaimStep | undefined,
): Partial<Deciders> {
  const routing = { project: 'project-alpha', namespace: 'default', location: 'us-central-1' };
  return {
    claim(snapshot) {
      const step = decideClaim(snapshot);
      return (step.do === instead ? of(step, snapshot, routing) : undefined) ?? step;
    },
  };
}

function face(instead: InterfaceStep['do'], of: () => InterfaceStep): Partial<Deciders> {
  return {
    interface(snapshot) {
      const step = decideInterface(snapshot);
      return step.do === instead ? of() : step;
    },
  };
}

/** As if the finalizer and the record were there. */
function unrecorded(_: ClaimStep, snapshot: Snapshot, routing: Routing): ClaimStep {
  const { metadata } = snapshot.claim;
  const finalizers = [networkingFinalizers.claimRelease];
  const held = { ...metadata, finalizers, annotations: recordAnnotations(routing) };
  return decideClaim({ ...snapshot, claim: { ...snapshot.claim, metadata: held } });
}

function misnamed(step: ClaimStep): ClaimStep | undefined {
  if (step.do !== 'publish' || step.refused === undefined) return undefined;
  return { ...step, refused: { ...step.refused, reason: 'NetworkMismatch' } };
}
