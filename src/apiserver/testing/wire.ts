import type { Transport, TransportRequest, TransportResponse } from '../../kube/index.ts';
import { parseResourcePath } from '../http/path.ts';

/** A request of a controller. */
export interface Sent {
  /** The controller, or `berth-informers`. */
  by: string;
  /** Id of the plane it went to. */
  plane: string;
  method: TransportRequest['method'];
  /** Path in the plane, without its query: `/apis/networking.datumapis.com/v1alpha/namespaces/ns-1/subnets/a/status`. */
  path: string;
  /** What it was answered with: 4xx are writes that wrote nothing. Absent until then, and where no answer came. */
  status?: number;
}

/** What is written, as `POST vpcattachments`, `PUT vpcattachments/status`. */
export function verbAndResource({ method, path }: Pick<Sent, 'method' | 'path'>): string {
  const { plural = path, subresource = '' } = parseResourcePath(path) ?? {};
  return `${method} ${plural}${subresource === '' ? '' : `/${subresource}`}`;
}

/** What passes from controllers to the planes, and where it is cut. */
export class Wire {
  /** Writes since it was last emptied; Events are not among them. */
  readonly writes: Sent[] = [];
  /** Told of every request before it is sent; what it throws is what the controller sees. */
  onRequest: ((sent: Sent) => void) | undefined;
  /** Waited for before each write, with its body, reaches its plane; what it throws is what the controller sees. */
  beforeWrite: ((write: Sent, body: TransportRequest['body']) => Promise<void>) | undefined;
  /** Waited for after each write was made, before its answer comes. */
  afterWrite: ((write: Sent) => Promise<void>) | undefined;
  /** The process ends at this write (counted in `writes`, from 1): before it, or after it and before its answer. */
  crash: { at: number; applied: boolean } | undefined;
  crashed = false;

  /** `transport` as the controller `by` has it, to a plane whose API is below `basePath`. */
  through(transport: Transport, by: string, plane: string, basePath: string): Transport {
    return {
      request: (request) => this.#pass(transport, request, by, plane, basePath),
      close: () => transport.close(),
    };
  }

  async #pass(
    transport: Transport,
    request: TransportRequest,
    by: string,
    plane: string,
    basePath: string,
  ): Promise<TransportResponse> {
    if (this.crashed) throw new Error('the process has ended');
    const { method } = request;
    const path = request.path.slice(basePath.length).replace(/\?.*$/, '');
    const sent: Sent = { by, plane, method, path };
    this.onRequest?.(sent);
    if (method === 'GET' || path.startsWith('/apis/events.k8s.io/')) return transport.request(request);
    const { crash } = this;
    const last = this.writes.push(sent) === crash?.at;
    await this.beforeWrite?.(sent, request.body);
    if (last) {
      if (crash?.applied) await transport.request(request).catch(() => undefined);
      this.crashed = true;
      throw new Error('the process has ended');
    }
    const answer = await transport.request(request);
    sent.status = answer.status;
    await this.afterWrite?.(sent);
    return answer;
  }
}
