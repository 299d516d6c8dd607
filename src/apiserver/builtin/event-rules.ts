import { jsonEqual, type KubeObject } from '../../meta/index.ts';
import { fieldInvalid, fieldRequired } from '../errors.ts';
import type { FieldError } from '../schema/schema.ts';
import { refuse } from '../validation/metadata.ts';
import { qualifiedName } from '../validation/names.ts';

/** What an Event must be (kubernetes `pkg/apis/core/validation/events.go`), in the shape of core/v1. */

export interface Reference {
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  apiVersion?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

export interface CoreEvent extends KubeObject {
  involvedObject?: Reference;
  related?: Reference;
  reason?: string;
  message?: string;
  type?: string;
  action?: string;
  count?: number;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  source?: { component?: string; host?: string };
  reportingComponent?: string;
  reportingInstance?: string;
  series?: { count?: number; lastObservedTime?: string };
}

const longestName = 128;
const longestMessage = 1024;

/** The rules of both groups. `reporter` is what the group calls the reporting controller. */
export function validateEvent(event: CoreEvent, reporter: string): FieldError[] {
  const own = event.metadata.namespace ?? '';
  const about = event.involvedObject?.namespace ?? '';
  const mismatch = fieldInvalid('involvedObject.namespace', about, 'does not match event.namespace');
  if ((event.eventTime ?? '') === '') {
    // Recorded the old way: an object without a namespace has its events in `default`.
    return own === (about === '' ? 'default' : about) ? [] : [mismatch];
  }
  const errors: FieldError[] = [];
  if (about === '' && own !== 'default' && own !== 'kube-system') errors.push(mismatch);
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '', message = '' } = event;
  if (reportingComponent === '') errors.push(fieldRequired(reporter, ''));
  refuse(reporter, reportingComponent, qualifiedName(reportingComponent), errors);
  for (const [field, value] of Object.entries({ reportingInstance, action, reason })) {
    if (value === '') errors.push(fieldRequired(field, ''));
    if (Buffer.byteLength(value) > longestName) errors.push(tooLong(field, longestName));
  }
  if (Buffer.byteLength(message) > longestMessage) errors.push(tooLong('message', longestMessage));
  return errors;
}

function tooLong(field: string, limit: number): FieldError {
  return fieldInvalid(field, '', `can have at most ${limit} characters`);
}

const fixed = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
] as const;

/** What events.k8s.io/v1 asks beyond that: nothing of the old shape in a new Event, and only its series changes later. */
export function validateNewEvent(event: CoreEvent, old: CoreEvent | undefined): FieldError[] {
  const errors = validateEvent(event, 'reportingController');
  if (old !== undefined) return [...errors, ...validateChange(event, old)];
  errors.push(...validateSeries(event));
  if ((event.eventTime ?? '') === '') errors.push(fieldRequired('eventTime', ''));
  const { type = '', count = 0, source = {} } = event;
  if (type !== 'Normal' && type !== 'Warning') errors.push(fieldInvalid('type', '', `has invalid value: ${type}`));
  const unset = (field: string): void => void errors.push(fieldInvalid(field, '', 'needs to be unset'));
  if ((event.firstTimestamp ?? '') !== '') unset('firstTimestamp');
  if ((event.lastTimestamp ?? '') !== '') unset('lastTimestamp');
  if (count !== 0) unset('count');
  if ((source.component ?? '') !== '' || (source.host ?? '') !== '') unset('source');
  return errors;
}

function validateChange(event: CoreEvent, old: CoreEvent): FieldError[] {
  const errors = jsonEqual(event.series, old.series) ? [] : validateSeries(event);
  const check = (field: string, after: unknown, before: unknown): void => {
    if (!jsonEqual(after ?? null, before ?? null))
      errors.push(fieldInvalid(field, after ?? null, 'field is immutable'));
  };
  for (const field of fixed) check(field, event[field], old[field]);
  check('reportingController', event.reportingComponent, old.reportingComponent);
  check('reportingInstance', event.reportingInstance, old.reportingInstance);
  return errors;
}

function validateSeries({ series }: CoreEvent): FieldError[] {
  const errors: FieldError[] = [];
  if (series === undefined) return errors;
  if ((series.count ?? 0) < 2) errors.push(fieldInvalid('series.count', '', 'should be at least 2'));
  if ((series.lastObservedTime ?? '') === '') errors.push(fieldRequired('series.lastObservedTime', ''));
  return errors;
}
