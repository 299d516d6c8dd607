import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type Random, systemClock } from '../../../src/kube/index.ts';

/** How a connection ends: as a process that dies ends it, as a load balancer does, or by falling silent. */
type Ending = 'reset' | 'close' | 'silence';

/** The longest a connection lives while the proxy breaks them. */
const longestMilliseconds = 250;
const mostBytes = 40_000;

/**
 * A TCP proxy in front of a server that breaks every connection at a random point: before the first byte, within the TLS
 * handshake, within a line or between two, or after a time. The server behind it may come and go.
 */
export class BreakingProxy {
  /** Connections it has broken. */
  broken = 0;
  breaking = true;
  /** Nobody gets through: what is open breaks, what comes is refused. */
  #down = false;
  readonly #random: Random;
  readonly #target: () => number;
  readonly #server = createServer({ allowHalfOpen: false }, (socket) => this.#carry(socket));
  readonly #open = new Set<Socket>();

  /** `target`: the port to connect to just now. */
  constructor(random: Random, target: () => number) {
    this.#random = random;
    this.#target = target;
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  set down(down: boolean) {
    this.#down = down;
    if (down) for (const socket of this.#open) socket.destroy();
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
    await once(this.#server, 'close');
  }

  #carry(near: Socket): void {
    if (this.#down) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(this.#target(), '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#open.delete(socket);
        other.destroy();
      });
    }
    near.pipe(far);
    const left = this.breaking ? Math.floor(this.#random.next() ** 2 * mostBytes) : Number.POSITIVE_INFINITY;
    if (this.breaking) {
      const timer = systemClock.after(this.#random.next() * longestMilliseconds, () => this.#break(near, far));
      near.once('close', () => timer.cancel());
    }
    let passed = 0;
    far.on('data', (chunk: Buffer) => {
      if (passed >= left) return;
      const part = chunk.subarray(0, left - passed);
      passed += part.length;
      if (!near.write(part)) {
        far.pause();
        near.once('drain', () => far.resume());
      }
      if (passed >= left) this.#break(near, far);
    });
    far.on('end', () => near.end());
  }

  #break(near: Socket, far: Socket): void {
    if (near.destroyed || far.destroyed) return;
    this.broken++;
    const chance = this.#random.next();
    const ending: Ending = chance < 0.45 ? 'reset' : chance < 0.97 ? 'close' : 'silence';
    if (ending === 'silence') {
      near.unpipe(far);
      far.removeAllListeners('data');
      far.pause();
    } else {
      if (ending === 'reset') near.resetAndDestroy();
      // What was written before may still arrive.
      else near.end(() => near.destroy());
      far.resetAndDestroy();
    }
  }
}
