import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { postgresSchema } from './postgres-schema.ts';

test('the tables in PostgreSQL have another version whenever they are others: those of the version are not looked at again', () => {
  const { version, text } = postgresSchema;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  expect({ version, digest }).toEqual({ version: 3, digest: '44c448994c68d13e' });
});
