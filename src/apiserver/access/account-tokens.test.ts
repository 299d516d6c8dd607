import { afterEach, beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../../kube/index.ts';
import { type KubeObject, parseTime } from '../../meta/index.ts';
import type { Storage } from '../storage/storage.ts';
import { base, type Fixture, startServer } from '../testing/fixture.ts';
import { openTestStorage } from '../testing/storage.ts';
import { AccountAuthenticator } from './account-authenticator.ts';
import { AccountTokens } from './account-tokens.ts';
import { tokenReview } from './token-review.ts';

const accounts = `${base}/api/v1/namespaces/default/serviceaccounts`;
const hour = 3_600_000;

interface Requested extends KubeObject {
  spec: { audiences: string[]; expirationSeconds: number };
  status: { token: string; expirationTimestamp: string };
}

let clock: VirtualClock;
let storage: Storage;
let authenticator: AccountAuthenticator;
let server: Fixture;

beforeEach(async () => {
  clock = new VirtualClock(parseTime('2026-01-01T00:00:00Z')!);
  storage = await openTestStorage();
  const accountTokens = AccountTokens.inMemory(clock);
  authenticator = new AccountAuthenticator(accountTokens, storage);
  const statics = { identify: (token: string) => (token === 'admin' ? { user: 'admin', groups: ['g'] } : undefined) };
  server = await startServer({ storage, accountTokens, reviews: [tokenReview(statics, authenticator)] });
  await server.send('POST', accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'ci' } });
});
afterEach(() => server.close());

async function request(spec: object = {}, name = 'ci'): Promise<Requested> {
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
  const { status, body } = await server.send<Requested>('POST', `${accounts}/${name}/token`, asked);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

async function userOf(token: string, path = `${base}/api/v1/pods`): Promise<string | undefined> {
  return (await authenticator.authenticate({ authorization: `Bearer ${token}` }, undefined, path))?.user;
}

async function uidOf(path: string): Promise<string | undefined> {
  return (await server.send('GET', path)).body.metadata.uid;
}

test('a token is its account’s until it expires', async () => {
  const { status, spec, metadata } = await request({ expirationSeconds: 7200 });
  expect(spec).toMatchObject({ expirationSeconds: 7200, audiences: [`https://kubernetes.default.svc${base}`] });
  expect(metadata).toMatchObject({ name: 'ci', namespace: 'default' });
  const identity = await authenticator.authenticate({ authorization: `Bearer ${status.token}` }, undefined, base);
  expect(identity).toMatchObject({
    user: 'system:serviceaccount:default:ci',
    uid: await uidOf(`${accounts}/ci`),
    groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
  });
  expect(identity?.extra?.['authentication.kubernetes.io/credential-id']?.[0]).toMatch(/^JTI=/);
  await clock.advance(2 * hour - 1000);
  expect(await userOf(status.token)).toBe('system:serviceaccount:default:ci');
  await clock.advance(1000);
  expect(await userOf(status.token)).toBeUndefined();
  expect(status.expirationTimestamp).toBe('2026-01-01T02:00:00Z');
});

test('it ends with its account, and is not that of another of its name', async () => {
  const { status } = await request();
  await server.send('DELETE', `${accounts}/ci`);
  expect(await userOf(status.token)).toBeUndefined();
  await server.send('POST', accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'ci' } });
  expect(await userOf(status.token)).toBeUndefined();
  expect(await userOf((await request()).status.token)).toBe('system:serviceaccount:default:ci');
});

test('it ends with the secret it was bound to', async () => {
  const secrets = `${base}/api/v1/namespaces/default/secrets`;
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } };
  const made = (await server.send('POST', secrets, secret)).body.metadata;
  const boundObjectRef = { kind: 'Secret', apiVersion: 'v1', name: 's', uid: made.uid };
  const { status } = await request({ boundObjectRef });
  expect(await userOf(status.token)).toBe('system:serviceaccount:default:ci');
  await server.send('DELETE', `${secrets}/s`);
  expect(await userOf(status.token)).toBeUndefined();
});

test('it is good in its own plane and for whom it is meant alone', async () => {
  const { status } = await request();
  expect(await userOf(status.token, '/api/v1/namespaces')).toBeUndefined();
  expect(await userOf(status.token, '/planes/cells/a/api/v1/namespaces')).toBeUndefined();
  const other = await request({ audiences: ['vault'] });
  expect(await userOf(other.status.token)).toBeUndefined();
});

test('one that was changed, signed by somebody else, or no token at all is nobody’s', async () => {
  const { token } = (await request()).status;
  const [header, payload, signature] = token.split('.') as [string, string, string];
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string };
  const raised = Buffer.from(JSON.stringify({ ...claims, sub: 'system:admin' })).toString('base64url');
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
  const strange = AccountTokens.inMemory(clock).issue({
    plane: 'hub',
    base,
    namespace: 'default',
    account: { name: 'ci', uid: (await uidOf(`${accounts}/ci`))! },
    audiences: [`https://kubernetes.default.svc${base}`],
    seconds: 3600,
  });
  const wrong = [
    `${header}.${raised}.${signature}`,
    `${unsigned}.${payload}.`,
    `${header}.${payload}.`,
    `${header}.${payload}`,
    strange.token,
    'a.b.c',
    '..',
    'x',
  ];
  for (const each of wrong) expect([each, await userOf(each)]).toEqual([each, undefined]);
  expect(await userOf(token)).toBe('system:serviceaccount:default:ci');
});

test('what cannot be is refused, naming the field', async () => {
  const refusal = async (spec: object, name = 'ci'): Promise<[number, string]> => {
    const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
    const { body } = await server.send<{ code: number; message: string }>('POST', `${accounts}/${name}/token`, asked);
    return [body.code, body.message];
  };
  expect(await refusal({ expirationSeconds: 599 })).toEqual([
    422,
    'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
  ]);
  expect((await refusal({ expirationSeconds: 2 ** 32 + 1 }))[1]).toContain('larger than 2^32 seconds');
  expect(await refusal({}, 'none')).toEqual([404, 'serviceaccounts "none" not found']);
  expect(await refusal({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } })).toEqual([
    404,
    'pods "p" not found',
  ]);
  expect((await refusal({ audiences: 'x' }))[0]).toBe(400);
  expect((await server.send('GET', `${accounts}/ci/token`)).status).toBe(405);
});

test('a review tells whose a token is, and for whom', async () => {
  const review = async (spec: object): Promise<unknown> => {
    const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec };
    const path = `${base}/apis/authentication.k8s.io/v1/tokenreviews`;
    return (await server.send<{ status: unknown }>('POST', path, asked)).body.status;
  };
  const { token } = (await request({ audiences: ['vault', 'other'] })).status;
  expect(await review({ token, audiences: ['vault', 'third'] })).toMatchObject({
    authenticated: true,
    user: { username: 'system:serviceaccount:default:ci' },
    audiences: ['vault'],
  });
  expect(await review({ token })).toEqual({
    user: {},
    error: `[invalid bearer token, token audiences ["vault" "other"] is invalid for the target audiences ["https://kubernetes.default.svc${base}"]]`,
  });
  expect(await review({ token: 'admin' })).toMatchObject({ authenticated: true, user: { username: 'admin' } });
  expect(await review({ token: 'x' })).not.toHaveProperty('authenticated');
});
