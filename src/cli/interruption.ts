/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once, for when stopping hangs. */
export function interruption(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  let seen = false;
  const heard = (signal: NodeJS.Signals): void => {
    if (seen) process.exit(signal === 'SIGINT' ? 130 : 143);
    seen = true;
    resolve(signal);
  };
  process.on('SIGINT', heard);
  process.on('SIGTERM', heard);
  return promise;
}

/** Waits until what runs is to stop (true), or has failed, which is told on standard error. */
export async function untilStopped(stopped: Promise<unknown>, failure: Promise<Error>): Promise<boolean> {
  const failed = await Promise.race([stopped.then(() => undefined), failure]);
  if (failed !== undefined) process.stderr.write(`berth: ${failed.message}\n`);
  return failed === undefined;
}
