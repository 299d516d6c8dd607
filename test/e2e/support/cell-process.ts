/** A cluster that is a cell, and `berth run cell` as a process of its own, as an operator sets both up. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import {
  type Client,
  createClient,
  type HttpTransportOptions,
  httpTransport,
  readKubeconfig,
  systemClock,
  type Transport,
} from '../../../src/kube/index.ts';
import type { KubeObject } from '../../../src/meta/index.ts';
import { cellAccount } from '../../../src/platform/index.ts';

const root = new URL('../../..', import.meta.url).pathname;

/** Any API server, by what a kubeconfig says of it. */
export class Cluster {
  readonly options: HttpTransportOptions;
  readonly client: Client;
  readonly #transport: Transport;

  constructor(kubeconfig: string, context?: string) {
    this.options = readKubeconfig(kubeconfig, context);
    this.#transport = httpTransport(this.options);
    this.client = createClient({ transport: this.#transport, basePath: '', clock: systemClock });
  }

  async request(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object, type = 'application/json') {
    const headers = { 'content-type': type, accept: 'application/json' };
    const response = await this.#transport.request({
      ...{ method, path, headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    if (response.status >= 400) throw new Error(`${method} ${path}: ${text}`);
    return JSON.parse(text);
  }

  /** What `kubectl apply --server-side -f` does with every manifest of a folder of deploy/. */
  async apply(folder: string): Promise<void> {
    const files = (await readdir(join(root, 'deploy', folder))).filter((name) => name !== 'kustomization.yaml');
    for (const file of files) {
      const text = await readFile(join(root, 'deploy', folder, file), 'utf8');
      for (const document of parseAllDocuments(text)) await this.#apply(document.toJS() as KubeObject);
    }
  }

  async #apply(object: KubeObject): Promise<void> {
    const { apiVersion, kind, metadata } = object;
    const base = `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}`;
    const { resources } = await this.request('GET', base);
    const { name: plural } = resources.find((each: { kind: string; name: string }) => each.kind === kind);
    const scope = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
    const path = `${base}${scope}/${plural}/${metadata.name}`;
    await this.request('PATCH', `${path}?fieldManager=operator&force=true`, object, 'application/apply-patch+yaml');
    if (kind !== 'CustomResourceDefinition') return;
    for (;;) {
      const { status } = await this.request('GET', path);
      const conditions: { type: string; status: string }[] = status?.conditions ?? [];
      if (conditions.some((each) => each.type === 'Established' && each.status === 'True')) return;
      await systemClock.sleep(20);
    }
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }

  /** A kubeconfig of the service account of deploy/cell. */
  async writeAccountKubeconfig(file: string): Promise<string> {
    const { name, namespace } = cellAccount;
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
    const { status } = await this.request('POST', path, review);
    return this.writeKubeconfig(file, status.token);
  }

  /** A kubeconfig of whoever has that token. */
  async writeKubeconfig(file: string, token: string, server = this.options.server): Promise<string> {
    const { ca, insecure, serverName } = this.options;
    const cluster = {
      server,
      ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
      ...(insecure ? { 'insecure-skip-tls-verify': true } : {}),
      ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
    };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'cell',
      clusters: [{ name: 'cell', cluster }],
      contexts: [{ name: 'cell', context: { cluster: 'cell', user: 'cell' } }],
      users: [{ name: 'cell', user: { token } }],
    };
    await writeFile(file, stringify(config));
    return file;
  }
}

/** One `berth run cell`. */
export class CellProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  #printed = '';
  /** What it says was looked for from here on. */
  #read = 0;
  #heard = Promise.withResolvers<void>();

  constructor(args: readonly string[]) {
    const { FORCE_COLOR: _, ...env } = process.env;
    this.#child = spawn(process.execPath, ['src/cli/berth.mjs', 'run', 'cell', '--port', '0', ...args], {
      cwd: root,
      env: { ...env, CI: 'true' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const hear = (chunk: Buffer): void => {
      this.#printed += chunk.toString();
      this.#heard.resolve();
      this.#heard = Promise.withResolvers();
    };
    this.#child.stdout?.on('data', hear);
    this.#child.stderr?.on('data', hear);
    this.#exited = once(this.#child, 'close').then(([code]) => code as number | null);
  }

  get printed(): string {
    return this.#printed;
  }

  /** Waits until it has said that, after what was waited for before. */
  async says(text: string): Promise<void> {
    const ended = this.#exited.then((code) => {
      throw new Error(`berth run cell ended with ${code}: ${this.#printed}`);
    });
    ended.catch(() => {});
    for (;;) {
      const at = this.#printed.indexOf(text, this.#read);
      if (at >= 0) {
        this.#read = at + text.length;
        return;
      }
      await Promise.race([this.#heard.promise, ended]);
    }
  }

  get health(): string {
    return /health +(\S+)/.exec(this.#printed)?.[1] ?? '';
  }

  /** Resolves with the exit code. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal);
    return this.#exited;
  }
}
