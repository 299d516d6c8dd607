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
