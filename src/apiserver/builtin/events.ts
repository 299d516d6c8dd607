import { type KubeObject, parseTime } from '../../meta/index.ts';
import { humanDuration } from '../table/index.ts';
import { ageColumn, builtin, int32, object, string, time } from './define.ts';
import { type CoreEvent, type Reference, validateEvent, validateNewEvent } from './event-rules.ts';

/**
 * core/v1 and events.k8s.io/v1 Events are one stored object in two shapes: stored as core/v1, which has every field of
 * the other under its own name.
 */

interface NewEvent extends KubeObject {
  regarding?: Reference;
  related?: Reference;
  reason?: string;
  note?: string;
  type?: string;
  action?: string;
  eventTime?: string | null;
  reportingController?: string;
  reportingInstance?: string;
  series?: { count?: number; lastObservedTime?: string };
  deprecatedCount?: number;
  deprecatedFirstTimestamp?: string | null;
  deprecatedLastTimestamp?: string | null;
  deprecatedSource?: { component?: string; host?: string };
}

function defined<T extends object>(value: T): T {
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) if (fields[key] === undefined) delete fields[key];
  return value;
}

function toCore(event: NewEvent): CoreEvent {
  const {
    regarding,
    note,
    reportingController,
    deprecatedCount,
    deprecatedFirstTimestamp,
    deprecatedLastTimestamp,
    deprecatedSource,
    ...same
  } = event;
  return defined({
    ...same,
    apiVersion: 'v1',
    involvedObject: regarding,
    message: note,
    reportingComponent: reportingController,
    count: deprecatedCount,
    firstTimestamp: deprecatedFirstTimestamp,
    lastTimestamp: deprecatedLastTimestamp,
    source: deprecatedSource,
  } as CoreEvent);
}

function fromCore(event: CoreEvent): NewEvent {
  const { involvedObject, message, reportingComponent, count, firstTimestamp, lastTimestamp, source, ...same } = event;
  const instance = event.reportingInstance ?? '';
  return defined({
    ...same,
    apiVersion: 'events.k8s.io/v1',
    regarding: involvedObject,
    note: message,
    // Not shown where empty, other than in core/v1.
    reportingController: reportingComponent === '' ? undefined : reportingComponent,
    reportingInstance: instance === '' ? undefined : instance,
    deprecatedCount: count,
    deprecatedFirstTimestamp: firstTimestamp,
    deprecatedLastTimestamp: lastTimestamp,
    deprecatedSource: source,
  } as NewEvent);
}

const shared = { involvedObject: {}, source: {}, firstTimestamp: null, lastTimestamp: null, eventTime: null };
const coreZero = { ...shared, reportingComponent: '', reportingInstance: '' };
const newZero = {
  eventTime: null,
  regarding: {},
  deprecatedSource: {},
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
};

/** Events show these fields whether they were said or not. */
function fill(event: KubeObject, zero: Readonly<Record<string, unknown>>): void {
  const fields = event as unknown as Record<string, unknown>;
  for (const [key, value] of Object.entries(zero)) fields[key] ??= structuredClone(value);
}

/** How long ago it was last seen, by whichever of its times says so. */
function lastSeen(event: CoreEvent, now: number): string {
  const { series, lastTimestamp, eventTime, firstTimestamp, metadata } = event;
  const text = series?.lastObservedTime || lastTimestamp || eventTime || firstTimestamp || metadata.creationTimestamp;
  const time = parseTime(text);
  return time === undefined ? '<unknown>' : humanDuration(now - time);
}

const referenceFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;

/** Selectable fields of the object an event is about: `<prefix>.kind` and the others. */
function fieldsOf(
  prefix: string,
  reference: (event: KubeObject) => Reference | undefined,
): Record<string, (event: KubeObject) => string> {
  return Object.fromEntries(
    referenceFields.map((name) => [`${prefix}.${name}`, (event: KubeObject) => reference(event)?.[name] ?? '']),
  );
}

function objectOf({ kind = '', name = '' }: Reference = {}): string {
  return `${kind.toLowerCase()}/${name}`;
}

const microTime = { type: 'string', format: 'date-time', nullable: true };
const nullableTime = { ...time, nullable: true };
const reference = {
  'x-kubernetes-map-type': 'atomic',
  ...object(Object.fromEntries(referenceFields.map((name) => [name, string]))),
};
const source = object({ component: string, host: string });
const series = object({ count: int32, lastObservedTime: microTime });

export const coreEvents = builtin({
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
  shortNames: ['ev'],
  description: 'Event is a report of an event somewhere in the cluster.',
  properties: {
    involvedObject: reference,
    related: reference,
    reason: string,
    message: string,
    source,
    firstTimestamp: nullableTime,
    lastTimestamp: nullableTime,
    count: int32,
    type: string,
    eventTime: microTime,
    series,
    action: string,
    reportingComponent: string,
    reportingInstance: string,
  },
  columns: [
    { name: 'Last Seen', type: 'string', jsonPath: '.lastTimestamp' },
    { name: 'Type', type: 'string', jsonPath: '.type' },
    { name: 'Reason', type: 'string', jsonPath: '.reason' },
    { name: 'Object', type: 'string', jsonPath: '.involvedObject.name' },
    { name: 'Message', type: 'string', jsonPath: '.message' },
  ],
  strategy: {
    createOnUpdate: true,
    zero: coreZero,
    prepareCreate: (event) => fill(event, coreZero),
    prepareUpdate: (event) => fill(event, coreZero),
    cells: { 'Last Seen': lastSeen, Object: (event) => objectOf((event as CoreEvent).involvedObject) },
    validate: (event) => validateEvent(event as CoreEvent, 'reportingComponent'),
    fields: {
      ...fieldsOf('involvedObject', (event) => (event as CoreEvent).involvedObject),
      reason: (event) => (event as CoreEvent).reason ?? '',
      reportingComponent: (event) => (event as CoreEvent).reportingComponent ?? '',
      source: (event) => (event as CoreEvent).source?.component ?? (event as CoreEvent).reportingComponent ?? '',
      type: (event) => (event as CoreEvent).type ?? '',
    },
  },
});

export const newEvents = builtin({
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
  shortNames: ['ev'],
  description: 'Event is a report of an event somewhere in the cluster.',
  stored: { group: '', version: 'v1' },
  properties: {
    eventTime: microTime,
    series,
    reportingController: string,
    reportingInstance: string,
    action: string,
    reason: string,
    regarding: reference,
    related: reference,
    note: string,
    type: string,
    deprecatedSource: source,
    deprecatedFirstTimestamp: nullableTime,
    deprecatedLastTimestamp: nullableTime,
    deprecatedCount: int32,
  },
  columns: [
    { name: 'Last Seen', type: 'string', jsonPath: '.eventTime' },
    { name: 'Type', type: 'string', jsonPath: '.type' },
    { name: 'Reason', type: 'string', jsonPath: '.reason' },
    { name: 'Object', type: 'string', jsonPath: '.regarding.name' },
    { name: 'Message', type: 'string', jsonPath: '.note' },
    { ...ageColumn, priority: 1 },
  ],
  strategy: {
    createOnUpdate: true,
    zero: newZero,
    prepareCreate: (event) => fill(event, newZero),
    prepareUpdate: (event) => fill(event, newZero),
    cells: {
      'Last Seen': (event, now) => lastSeen(toCore(event), now),
      Object: (event) => objectOf((event as NewEvent).regarding),
    },
    convert: { toStored: (event) => toCore(event), fromStored: (event) => fromCore(event) },
    validate: (event, old) => validateNewEvent(toCore(event), old === undefined ? undefined : toCore(old)),
    fields: {
      ...fieldsOf('regarding', (event) => (event as NewEvent).regarding),
      reason: (event) => (event as NewEvent).reason ?? '',
      reportingController: (event) => (event as NewEvent).reportingController ?? '',
      type: (event) => (event as NewEvent).type ?? '',
    },
  },
});
