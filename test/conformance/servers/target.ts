/** A server under comparison. */
export interface Target {
  readonly name: 'kubernetes' | 'berth';
  readonly port: number;
  /** PEM of who signed its certificate. */
  readonly ca: string;
  /**
   * Has garbage collected, deleted namespaces emptied and aggregated roles filled from now on. Resolves when that is going
   * on; answers false where there is nothing that does it.
   */
  startControllers(): Promise<boolean>;
  stop(): Promise<void>;
}

/** Bearer tokens both servers know, by user. `admin` is of system:masters, `alice` has no rights of her own. */
export const tokens = { admin: 'admin-token', alice: 'alice-token' } as const;

export type User = keyof typeof tokens | 'wrong' | 'nobody';
