import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Clock } from '../clock/clock.ts';
import { systemClock } from '../clock/system.ts';
import type { Transport } from '../transport.ts';
import { type HttpTransportOptions, httpTransport } from './http-transport.ts';

/** Ways to authenticate that need more than the file. */
const unsupportedUserFields = ['exec', 'auth-provider', 'username', 'password', 'as', 'as-groups', 'as-uid'] as const;
const tokenFileSeconds = 60;

type Section = Record<string, unknown>;

/**
 * The transport of a context of a kubeconfig file (the current one where `context` is absent): its server with path and
 * authority, and a token, token file or client certificate. Throws one sentence naming the file and what is wrong in it.
 */
export function kubeconfigTransport(file: string, context?: string, clock: Clock = systemClock): Transport {
  return httpTransport(readKubeconfig(file, context, clock));
}

/** What `kubeconfigTransport` finds in the file. */
export function readKubeconfig(
  file: string,
  context?: string,
  clock: Pick<Clock, 'monotonic'> = systemClock,
): HttpTransportOptions {
  const config = readFile(file);
  const fail = (what: string): never => {
    throw new Error(`kubeconfig ${file}: ${what}`);
  };

  const find = (list: string, field: string, name: unknown): Section => {
    const entries = Array.isArray(config[list]) ? (config[list] as Section[]) : [];
    const entry = entries.find((some) => some?.name === name);
    if (entry === undefined) {
      const names = entries.map((some) => String(some?.name)).join(', ') || 'none';
      return fail(`${field} ${JSON.stringify(name)} is not in ${list} (there: ${names})`);
    }
    return isMap(entry[field]) ? entry[field] : {};
  };

  const contextName = context ?? config['current-context'];
  if (typeof contextName !== 'string' || contextName === '')
    fail('no context was named and current-context is not set');
  const chosen = find('contexts', 'context', contextName);
  const cluster = find('clusters', 'cluster', chosen.cluster);
  const user = chosen.user === undefined || chosen.user === '' ? {} : find('users', 'user', chosen.user);

  const said = unsupportedUserFields.find((field) => user[field] !== undefined && user[field] !== '');
  if (said !== undefined) {
    fail(
      `user ${JSON.stringify(chosen.user)} has ${said}, which Berth cannot use; give it a token or a client certificate`,
    );
  }
  if (cluster['proxy-url'] !== undefined)
    fail(`cluster ${JSON.stringify(chosen.cluster)} has proxy-url, which Berth cannot use`);

  const texts = (section: Section, field: string): string | undefined => {
    const value = section[field];
    if (value === undefined || value === '') return undefined;
    return typeof value === 'string' ? value : fail(`${field} must be a text`);
  };
  const pathOf = (name: string) => resolve(dirname(file), name);
  const content = (section: Section, field: string): Buffer | undefined => {
    const data = texts(section, `${field}-data`);
    if (data !== undefined) return Buffer.from(data, 'base64');
    const name = texts(section, field);
    if (name === undefined) return undefined;
    try {
      return readFileSync(pathOf(name));
    } catch (error) {
      return fail(`${field}: ${(error as Error).message}`);
    }
  };

  const server = texts(cluster, 'server') ?? fail(`cluster ${JSON.stringify(chosen.cluster)} has no server`);
  const tokenFile = texts(user, 'tokenFile');
  const token = tokenFile === undefined ? texts(user, 'token') : freshToken(pathOf(tokenFile), clock);
  const ca = content(cluster, 'certificate-authority');
  const cert = content(user, 'client-certificate');
  const key = content(user, 'client-key');
  const serverName = texts(cluster, 'tls-server-name');
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    ...(token === undefined ? {} : { token }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(cluster['insecure-skip-tls-verify'] === true ? { insecure: true } : {}),
  };
}

function readFile(file: string): Section {
  let config: unknown;
  try {
    config = parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`kubeconfig ${file}: ${(error as Error).message.split('\n')[0]}`);
  }
  if (!isMap(config)) throw new Error(`kubeconfig ${file}: it is not a kubeconfig`);
  return config;
}

/** Tokens in files are replaced while we run: the file is read again each minute. */
function freshToken(file: string, clock: Pick<Clock, 'monotonic'>): () => string {
  let token = '';
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.monotonic() - readAt >= tokenFileSeconds * 1000) {
      token = readFileSync(file, 'utf8').trim();
      readAt = clock.monotonic();
    }
    return token;
  };
}

function isMap(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
