import type { TUnsafe } from 'typebox';
import type { Condition } from '../meta/index.ts';
import type { PrinterColumn } from './kind.ts';
import { listMap } from './schema.ts';

const condition = {
  type: 'object',
  description: 'One aspect of the state of the object.',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: {
      type: 'string',
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
      description: 'Which aspect: CamelCase, optionally with a DNS prefix.',
    },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'], description: 'Unknown means: not looked at yet.' },
    reason: {
      type: 'string',
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      description: 'Why, as one word a program can compare. docs/reasons.md lists them.',
    },
    message: { type: 'string', maxLength: 32768, description: 'Why, as a sentence for a person.' },
    lastTransitionTime: { type: 'string', format: 'date-time', description: 'When status last changed.' },
    observedGeneration: {
      type: 'integer',
      format: 'int64',
      minimum: 0,
      description: 'The metadata.generation this was decided for.',
    },
  },
} as unknown as TUnsafe<Condition>;

/** A condition list: a map keyed by type, so that two controllers can own different conditions of one object. */
export function conditions(types: string) {
  return listMap(`Conditions: ${types}.`, ['type'], condition);
}

/** A condition an object is created with: nothing has looked at it yet. */
export function seed(type: string, reason = 'Pending', message = 'Waiting for controller'): Condition {
  return { type, status: 'Unknown', reason, message, lastTransitionTime: '1970-01-01T00:00:00Z' };
}

/** The columns most kinds share. */
export const age: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

export function conditionColumn(type: string, name = type): PrinterColumn {
  return { name, type: 'string', jsonPath: `.status.conditions[?(@.type=="${type}")].status` };
}

export function reasonColumn(type: string, name = 'Reason'): PrinterColumn {
  return { name, type: 'string', jsonPath: `.status.conditions[?(@.type=="${type}")].reason` };
}

export function column(name: string, jsonPath: string, type: PrinterColumn['type'] = 'string'): PrinterColumn {
  return { name, type, jsonPath };
}

export function wide(shown: PrinterColumn): PrinterColumn {
  return { ...shown, priority: 1 };
}
