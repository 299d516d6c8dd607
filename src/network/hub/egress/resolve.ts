import {
  type InternetEgressClass,
  type Network,
  type NetworkContext,
  networkingAnnotations,
} from '../../../api/index.ts';
import { isTerminating } from '../../../meta/index.ts';

/** What a context says about the internet. */
export type Intent = NonNullable<NonNullable<NonNullable<NetworkContext['spec']>['egress']>['internet']>;

/** What a network's wish comes to; refused with the reason, in words that end a sentence. */
export type Resolution = { intent: Intent } | { refused: string };

/** The classes there are. */
export interface Classes {
  get(name: string): InternetEgressClass | undefined;
  /** Those marked as the default. */
  readonly defaults: readonly InternetEgressClass[];
}

export function isDefaultClass({ metadata }: InternetEgressClass): boolean {
  return metadata.annotations?.[networkingAnnotations.isDefaultClass] === 'true';
}

/** The class a network asks for; '' for the default one, undefined where it asks for none. */
export function classNameOf({ spec }: Network): string | undefined {
  const { mode = 'Disabled', class: name = '' } = spec.egress?.internet ?? {};
  return mode === 'Enabled' ? name : undefined;
}

/**
 * Pure. A network's wish and its class make what cells are told (reference A.3). A network that says nothing has egress
 * Disabled. There is no falling back from a class that is named to the default one, and no choice between two defaults.
 */
export function resolveEgress(network: Network, classes: Classes): Resolution {
  const name = classNameOf(network);
  if (name === undefined) return { intent: { mode: 'Disabled' } };
  const chosen = choose(name, classes);
  if ('refused' in chosen) return chosen;
  const { metadata, spec } = chosen.class;
  const declared = network.spec.egress?.internet?.reach;
  const reach = declared === undefined ? spec.reach : spec.reach.filter((family) => declared.includes(family));
  if (reach.length === 0) {
    const wanted = declared?.join(', ');
    return { refused: `InternetEgressClass ${metadata.name} reaches ${spec.reach.join(', ')}, not ${wanted}` };
  }
  return { intent: { mode: 'Enabled', reach: [...reach], className: metadata.name, ...termsOf(chosen.class) } };
}

/** What a class says beyond its reach. */
export function termsOf({ spec }: InternetEgressClass): Pick<Intent, 'sharing' | 'parametersRef'> {
  const { sharing, parametersRef } = spec;
  return { sharing, ...(parametersRef === undefined ? {} : { parametersRef }) };
}

function choose(name: string, classes: Classes): { class: InternetEgressClass } | { refused: string } {
  if (name !== '') {
    const named = classes.get(name);
    return named === undefined || isTerminating(named)
      ? { refused: `there is no InternetEgressClass ${name}` }
      : { class: named };
  }
  const [only, ...others] = classes.defaults.filter((each) => !isTerminating(each));
  if (only === undefined) {
    return { refused: 'no InternetEgressClass is the default: name one in spec.egress.internet.class' };
  }
  if (others.length > 0) {
    const names = [only, ...others].map(({ metadata }) => metadata.name).sort();
    return {
      refused: `${names.length} InternetEgressClasses are the default (${names.join(', ')}): name one in spec.egress.internet.class`,
    };
  }
  return { class: only };
}
