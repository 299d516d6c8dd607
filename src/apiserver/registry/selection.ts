import { decode, labelsOf } from '../codec.ts';
import { badRequest } from '../errors.ts';
import { Recent } from '../recent.ts';
import { type FieldRequirement, parseFieldSelector, parseLabelSelector } from '../selectors.ts';
import type { Served } from '../served.ts';
import type { StoredRecord } from '../storage/storage.ts';

/** Of a record or an event, whose value is read only where it is needed. */
type Test = (state: Pick<StoredRecord, 'key' | 'value'>) => boolean;

export interface Selection {
  /** Undefined where everything in the range is selected. */
  readonly matches: Test | undefined;
  /** The one name that can match. */
  readonly name: string | undefined;
}

/** The request's labelSelector and fieldSelector. Throws 400. */
export function selectionOf(served: Served, query: URLSearchParams): Selection {
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '');
  let name: string | undefined;
  const tests: Test[] = [];
  for (const requirement of fields) {
    if (requirement.field === 'metadata.name' && requirement.equals) name = requirement.value;
    tests.push(fieldTest(served, requirement));
  }
  if (labels !== undefined) tests.push((state) => labels(labelsOf(state)));
  if (tests.length === 0) return { matches: undefined, name };
  if (tests.length === 1) return { matches: tests[0]!, name };
  return { matches: (state) => tests.every((test) => test(state)), name };
}

function fieldTest(served: Served, requirement: FieldRequirement): Test {
  const { field, equals, value: wanted } = requirement;
  if (field === 'metadata.name') return ({ key }) => (key.name === wanted) === equals;
  if (field === 'metadata.namespace' && served.resource.namespaced) {
    return ({ key }) => (key.namespace === wanted) === equals;
  }
  const fields = served.strategy.fields;
  if (fields === undefined || !Object.hasOwn(fields, field)) {
    const plain = !served.strategy.custom && fields === undefined;
    const known = 'is not a known field selector: only "metadata.name", "metadata.namespace"';
    throw badRequest(plain ? `${JSON.stringify(field)} ${known}` : `field label not supported: ${field}`);
  }
  const read = fields[field]!;
  // Remembered, so that watchers with the same selector parse an event once.
  const seen = fieldsBy(read);
  return (state) => {
    let found = seen.get(state);
    if (found === undefined) {
      found = read(decode(served, state.value, Number.MAX_SAFE_INTEGER));
      seen.set(state, found);
    }
    return (found === wanted) === equals;
  };
}

const fields = new WeakMap<object, Recent<object, string>>();

function fieldsBy(read: object): Recent<object, string> {
  let recent = fields.get(read);
  if (recent === undefined) {
    recent = new Recent(512);
    fields.set(read, recent);
  }
  return recent;
}
