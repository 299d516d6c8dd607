import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { VirtualClock } from '../clock/virtual.ts';
import { readKubeconfig } from './kubeconfig.ts';

const folder = mkdtempSync(join(tmpdir(), 'berth-kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true }));

function configWith(user: object, cluster: object = {}): string {
  const file = join(folder, 'config');
  writeFileSync(
    file,
    stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'hub',
      contexts: [
        { name: 'hub', context: { cluster: 'c', user: 'u' } },
        { name: 'lost', context: { cluster: 'elsewhere', user: 'u' } },
      ],
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443/planes/hub', ...cluster } }],
      users: [{ name: 'u', user }],
    }),
  );
  return file;
}

describe('readKubeconfig', () => {
  it('takes server, authority and token', () => {
    const file = configWith({ token: 't' }, { 'certificate-authority-data': Buffer.from('PEM').toString('base64') });
    const expected = { server: 'https://127.0.0.1:6443/planes/hub', ca: Buffer.from('PEM'), token: 't' };
    expect(readKubeconfig(file)).toEqual(expected);
    expect(readKubeconfig(file, 'hub')).toEqual(expected);
  });

  it('takes certificates from files beside it', () => {
    writeFileSync(join(folder, 'c.pem'), 'cert');
    const file = configWith(
      { 'client-certificate': 'c.pem', 'client-key-data': Buffer.from('key').toString('base64') },
      { 'insecure-skip-tls-verify': true, 'tls-server-name': 'api' },
    );
    expect(readKubeconfig(file)).toEqual({
      server: 'https://127.0.0.1:6443/planes/hub',
      cert: Buffer.from('cert'),
      key: Buffer.from('key'),
      insecure: true,
      serverName: 'api',
    });
  });

  it('reads a token file again after a minute', async () => {
    const clock = new VirtualClock();
    const name = join(folder, 'token');
    writeFileSync(name, 'first\n');
    const { token } = readKubeconfig(configWith({ tokenFile: 'token' }), undefined, clock);
    const now = token as () => string;
    expect(now()).toBe('first');
    writeFileSync(name, 'second\n');
    await clock.advance(59_000);
    expect(now()).toBe('first');
    await clock.advance(1_000);
    expect(now()).toBe('second');
  });

  it('says in a sentence what it cannot use', () => {
    const file = configWith({ exec: { command: 'aws' } });
    expect(() => readKubeconfig(file)).toThrow(
      `kubeconfig ${file}: user "u" has exec, which Berth cannot use; give it a token or a client certificate`,
    );
    expect(() => readKubeconfig(configWith({}), 'nope')).toThrow(
      'context "nope" is not in contexts (there: hub, lost)',
    );
    expect(() => readKubeconfig(configWith({}), 'lost')).toThrow('cluster "elsewhere" is not in clusters (there: c)');
    expect(() => readKubeconfig(configWith({}, { server: 7 }))).toThrow('server must be a text');
    expect(() => readKubeconfig(configWith({ 'client-key': 'missing.pem' }))).toThrow('client-key: ENOENT');
    expect(() => readKubeconfig(join(folder, 'none'))).toThrow('ENOENT');
    writeFileSync(join(folder, 'bad'), 'a: [');
    expect(() => readKubeconfig(join(folder, 'bad'))).toThrow(`kubeconfig ${join(folder, 'bad')}: `);
    writeFileSync(join(folder, 'list'), '- a');
    expect(() => readKubeconfig(join(folder, 'list'))).toThrow('it is not a kubeconfig');
  });
});
