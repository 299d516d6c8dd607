import { expect, it } from 'vitest';
import type { Client } from '../kube/index.ts';
import {
  formatTime,
  type KubeObject,
  type ManagedFieldsEntry,
  type ObjectMeta,
  parseTime,
  type Stored,
} from '../meta/index.ts';
import { lostMark, unknownSource } from './mark.ts';

const type = { group: 'test.example', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true };

function thing(uid: string, second: number, more: Partial<ObjectMeta> = {}): Stored<KubeObject> {
  const creationTimestamp = formatTime(parseTime('2026-01-01T00:00:00Z')! + second * 1000);
  return {
    apiVersion: 'test.example/v1',
    kind: 'Thing',
    metadata: { name: 'a', namespace: 'ns', uid, resourceVersion: '1', creationTimestamp, ...more },
  };
}

function writtenBy(manager: string, subresource?: string): { managedFields: ManagedFieldsEntry[] } {
  const entry = { manager, operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} } as const;
  return { managedFields: [{ ...entry, ...(subresource === undefined ? {} : { subresource }) }] };
}

const asked = (live: Stored<KubeObject> | undefined, source: Stored<KubeObject> | undefined) =>
  lostMark({
    client: { get: async () => live } as unknown as Client,
    type,
    copy: thing('c', 100),
    source,
    isMaker: (name) => name === 'agent',
  });

it('is the source\u2019s UID for what the agent wrote, and none for what it did not, whoever else reports on it', async () => {
  const source = thing('s', 99);
  expect(await asked(thing('c', 100, writtenBy('agent')), source)).toBe('s');
  expect(await asked(thing('c', 100, writtenBy('kubectl')), source)).toBeUndefined();
  expect(await asked(thing('c', 100, writtenBy('agent', 'status')), source)).toBeUndefined();
  expect(await asked(thing('c', 100), source)).toBeUndefined();
  expect(await asked(thing('another', 100, writtenBy('agent')), source)).toBeUndefined();
  expect(await asked(undefined, source)).toBeUndefined();
});

it('is nobody\u2019s where the source is gone, or came after the copy by more than clocks differ', async () => {
  const copy = thing('c', 100, writtenBy('agent'));
  expect(await asked(copy, undefined)).toBe(unknownSource);
  expect(await asked(copy, thing('s', 150))).toBe('s');
  expect(await asked(copy, thing('s', 161))).toBe(unknownSource);
});
