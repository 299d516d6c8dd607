import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { stringify } from 'yaml';
import type { KeyPair } from './certificates.ts';
import { writePrivateFile } from './private-file.ts';

export interface KubeconfigContext {
  /** `hub`, `cell-us-central-1`, `project-alpha`. */
  name: string;
  /** Path of the plane under the server, `/planes/hub`; '' for the root. */
  path: string;
  /** How its user proves who it is. */
  credential: { token: string } | KeyPair;
  /** Namespace of commands that name none; kubectl's `default` where absent. */
  namespace?: string;
}

export interface KubeconfigOptions {
  /** File to write. */
  file: string;
  /** `https://127.0.0.1:6443`, without a path. */
  server: string;
  /** PEM of the certificate authority. */
  caCertificate: string;
  contexts: readonly KubeconfigContext[];
  /** Name of the current context: one of `contexts`. */
  current: string;
}

/**
 * A kubeconfig (client-go v1 Config) with one cluster, user and context per plane, all of the context's name: context
 * names stay what people type, and no two planes share a credential's name (clients cache by it).
 */
export function kubeconfigText(options: Omit<KubeconfigOptions, 'file'>): string {
  const { server, contexts, current } = options;
  if (!contexts.some((context) => context.name === current)) {
    throw new Error(`the current context ${JSON.stringify(current)} is none of the kubeconfig's contexts`);
  }
  const ca = base64(options.caCertificate);
  const address = server.replace(/\/+$/, '');
  const head = { apiVersion: 'v1', kind: 'Config', preferences: {}, 'current-context': current };
  const clusters = contexts.map(({ name, path }) => ({
    name,
    cluster: { server: `${address}${path}`, 'certificate-authority-data': ca },
  }));
  const named = contexts.map(({ name, namespace }) => ({
    name,
    context: { cluster: name, user: name, ...(namespace === undefined ? {} : { namespace }) },
  }));
  const users = contexts.map(({ name, credential }) => ({ name, user: userOf(credential) }));
  return [yaml(head), section('clusters', clusters), section('contexts', named), section('users', users)].join('');
}

function userOf(credential: KubeconfigContext['credential']): object {
  if ('token' in credential) return { token: credential.token };
  return {
    'client-certificate-data': base64(credential.certificate),
    'client-key-data': base64(credential.key),
  };
}

function yaml(value: object): string {
  // A certificate is one long line: folding it would still be YAML, and no longer something to copy.
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

const written = new Map<string, string>();
const writtenLimit = 10_000;

/** Of a platform with a thousand projects all but one entry is as it was the last time: writing YAML is slow. */
function section(name: string, entries: readonly object[]): string {
  const lines = entries.map((entry) => {
    const key = JSON.stringify(entry);
    let text = written.get(key);
    if (text === undefined) {
      if (written.size >= writtenLimit) written.clear();
      text = yaml([entry]).replace(/^/gm, '  ').replace(/ +$/, '');
      written.set(key, text);
    }
    return text;
  });
  return `${name}:\n${lines.join('')}`;
}

/** Writes it in one step, mode 0600. Its folder is made where it is not there. */
export async function writeKubeconfig(options: KubeconfigOptions): Promise<void> {
  const text = kubeconfigText(options);
  await mkdir(dirname(options.file), { recursive: true, mode: 0o700 });
  await writePrivateFile(options.file, text);
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
