import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { unionAuthenticator } from './authenticators.ts';
import { adminIdentity, projectIdentity, serviceAccountIdentity } from './identities.ts';
import { TokenAuthenticator, TokenStore } from './tokens.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-tokens-'));
});
afterEach(() => rm(folder, { recursive: true }));

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('a token is made once, kept 0600, and says who its holder is after a restart', async () => {
  const first = await TokenStore.open(folder);
  const admin = await first.ensure('admin', adminIdentity);
  const alpha = await first.ensure('project-alpha', projectIdentity('alpha'));
  expect((await stat(join(folder, 'tokens.json'))).mode & 0o777).toBe(0o600);
  const second = await TokenStore.open(folder);
  expect(await second.ensure('admin', adminIdentity)).toBe(admin);
  const authenticator = new TokenAuthenticator(second);
  expect(authenticator.authenticate(bearer(admin))).toEqual({
    user: 'admin',
    groups: ['system:masters', 'system:authenticated'],
  });
  expect(authenticator.authenticate(bearer(alpha))).toEqual({
    user: 'project-alpha',
    groups: ['system:authenticated'],
  });
});

test('a revoked token is nobody, now and after a restart, and a new one is another', async () => {
  const store = await TokenStore.open(folder);
  const identity = serviceAccountIdentity('claims');
  const old = await store.ensure('claims', identity);
  expect(await store.revoke('claims')).toBe(true);
  expect(await store.revoke('claims')).toBe(false);
  expect(new TokenAuthenticator(store).authenticate(bearer(old))).toBeUndefined();
  expect(new TokenAuthenticator(await TokenStore.open(folder)).authenticate(bearer(old))).toBeUndefined();
  const renewed = await store.ensure('claims', identity);
  expect(renewed).not.toBe(old);
  expect(new TokenAuthenticator(store).authenticate(bearer(renewed))?.groups).toEqual([
    'system:serviceaccounts',
    'system:serviceaccounts:berth-system',
    'system:authenticated',
  ]);
});

test('a name that becomes another identity gets another token', async () => {
  const store = TokenStore.inMemory();
  const before = await store.ensure('ops', adminIdentity);
  const after = await store.ensure('ops', projectIdentity('alpha'));
  expect(after).not.toBe(before);
  expect(store.identify(before)).toBeUndefined();
});

test('ten tokens made at once are all on disk', async () => {
  const store = await TokenStore.open(folder);
  const names = Array.from({ length: 10 }, (_, index) => `project-${index}`);
  await Promise.all(names.map((name) => store.ensure(name, { user: name, groups: [] })));
  expect((await TokenStore.open(folder)).names()).toEqual(names);
});

test.each(['', 'Basic YTpi', 'Bearer', 'Bearer a b', 'Bearer __proto__', `Bearer ${'x'.repeat(43)}`])(
  'header %j is nobody',
  async (authorization) => {
    const store = TokenStore.inMemory();
    await store.ensure('admin', adminIdentity);
    expect(new TokenAuthenticator(store).authenticate({ authorization })).toBeUndefined();
  },
);

test('a damaged or newer file is told, and left as it is', async () => {
  const file = join(folder, 'tokens.json');
  for (const [text, message] of [
    ['{"version":1,"tokens":[{"name":"admin"}]}', /tokens\.json is damaged/],
    ['not json', /tokens\.json is damaged/],
    ['{"version":2}', /newer version of Berth/],
  ] as const) {
    await writeFile(file, text);
    await expect(TokenStore.open(folder)).rejects.toThrow(message);
    expect(await readFile(file, 'utf8')).toBe(text);
  }
});

test('without credentials a request is anonymous only where that is wanted; wrong ones never are', async () => {
  const tokens = new TokenAuthenticator(TokenStore.inMemory());
  expect(await unionAuthenticator([tokens]).authenticate({}, undefined)).toBeUndefined();
  const open = unionAuthenticator([tokens], { anonymous: true });
  expect(await open.authenticate({}, undefined)).toEqual({
    user: 'system:anonymous',
    groups: ['system:unauthenticated'],
  });
  expect(await open.authenticate(bearer('wrong'), undefined)).toBeUndefined();
});

test('a request to act as somebody else is not run as oneself', async () => {
  const store = TokenStore.inMemory();
  const token = await store.ensure('admin', adminIdentity);
  const union = unionAuthenticator([new TokenAuthenticator(store)]);
  expect((await union.authenticate(bearer(token), undefined))?.user).toBe('admin');
  expect(await union.authenticate({ ...bearer(token), 'impersonate-user': 'ada' }, undefined)).toBeUndefined();
});
