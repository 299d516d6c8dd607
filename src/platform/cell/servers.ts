import {
  type Client,
  type Clock,
  createClient,
  errorOf,
  type HttpTransportOptions,
  httpTransport,
  readKubeconfig,
  type Transport,
} from '../../kube/index.ts';
import { ApiError, isApiError, type PolicyRule, type ResourceType } from '../../meta/index.ts';
import { StartError } from '../start.ts';

/** A server as it is named on the command line. */
export interface ServerOptions {
  /** Name of the option, for what is said of it: `--hub-kubeconfig`. */
  option: string;
  file: string;
  /** The file's current context where absent. */
  context?: string;
}

const patienceMilliseconds = 10_000;

/** One of the API servers a cell's process works with. Every transport to it is watched for whether it is answered. */
export class Server {
  readonly option: string;
  /** The base that has the role its user needs. */
  readonly #base: string;
  readonly #http: HttpTransportOptions;
  readonly #clock: Clock;
  #answered = true;

  /** @throws {StartError} where the kubeconfig cannot be used. */
  constructor({ option, file, context }: ServerOptions, base: string, clock: Clock) {
    this.option = option;
    this.#base = base;
    this.#clock = clock;
    try {
      this.#http = readKubeconfig(file, context, clock);
      // Whether what it says makes a connection at all.
      void httpTransport(this.#http).close();
    } catch (error) {
      throw new StartError(`${option}: ${(error as Error).message}`);
    }
  }

  get url(): string {
    return this.#http.server;
  }

  /** Whether the last request was answered, with whatever. */
  get answered(): boolean {
    return this.#answered;
  }

  open(): Transport {
    const transport = httpTransport(this.#http);
    return {
      request: async (request) => {
        try {
          const response = await transport.request(request);
          this.#answered = true;
          return response;
        } catch (error) {
          if (!request.signal?.aborted) this.#answered = false;
          throw error;
        }
      },
      close: () => transport.close(),
    };
  }

  /**
   * Asks the server something before anything is begun.
   * @throws {StartError} with what is wrong and what would be right.
   */
  async ask<T>(question: (client: Client, signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#patiently(async (transport, signal) => {
      const client = createClient({ transport, basePath: '', clock: this.#clock, userAgent: 'berth/cell' });
      return question(client, signal);
    });
  }

  /** @throws {StartError} where it does not answer, or does not know us. */
  async askVersion(): Promise<void> {
    await this.#patiently(async (transport, signal) => {
      const { status, body } = await transport.request({ method: 'GET', path: '/version', signal });
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      if (status >= 400) throw errorOf(status, Buffer.concat(chunks).toString());
    });
  }

  /** @throws {StartError} where a kind that `rules` let us get is not served, or may not be read. */
  async askFor(kinds: readonly ResourceType[], rules: readonly PolicyRule[]): Promise<void> {
    const read = kinds.filter(({ group, plural }) =>
      rules.some(
        ({ apiGroups, resources, verbs }) =>
          apiGroups?.includes(group) && resources?.includes(plural) && verbs.includes('get'),
      ),
    );
    await this.ask(async (client, signal) => {
      for (const type of read) {
        try {
          await client.get(type, { namespace: type.namespaced ? 'default' : '', name: 'none' }, signal);
        } catch (error) {
          if (!isApiError(error, 'NotFound')) throw error;
          throw new StartError(
            `${this.option}: ${this.url} does not serve ${type.plural}.${type.group}: apply deploy/crds there`,
          );
        }
      }
    });
  }

  async #patiently<T>(work: (transport: Transport, signal: AbortSignal) => Promise<T>): Promise<T> {
    const transport = this.open();
    const ending = new AbortController();
    const silence = `no answer within ${patienceMilliseconds / 1000} s`;
    const timer = this.#clock.after(patienceMilliseconds, () => ending.abort(new Error(silence)));
    try {
      return await work(transport, ending.signal);
    } catch (error) {
      throw error instanceof StartError ? error : new StartError(this.#sentence(error));
    } finally {
      timer.cancel();
      await transport.close();
    }
  }

  #sentence(error: unknown): string {
    const { option, url } = this;
    if (isApiError(error, 'Unauthorized')) {
      return `${option}: ${url} does not know the user of that kubeconfig: its token or certificate is not good there`;
    }
    if (isApiError(error, 'Forbidden'))
      return `${option}: ${error.message}: apply ${this.#base} there, whose role its user must have`;
    if (error instanceof ApiError) return `${option}: ${url} answers ${error.status.code}: ${error.message}`;
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = message === '' || code === 'ECONNREFUSED' ? code : message;
    return `${option}: ${url} cannot be reached (${reason}): check the server in that kubeconfig, and that it runs`;
  }
}
