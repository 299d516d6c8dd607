import { mkdir } from 'node:fs/promises';
import type { ApiServer } from '../apiserver/index.ts';
import { Access, type AccessOptions } from './access.ts';

/** A service cannot be started as asked: one sentence that says why and what to do. */
export class StartError extends Error {}

/** @throws {StartError} */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StartError(
      `the data folder ${folder} cannot be made (${reasonOf(error)}): choose another with --data-dir`,
    );
  }
}

/** @throws {StartError} where certificates and tokens cannot be read or made. */
export async function openAccess(options: AccessOptions): Promise<Access> {
  try {
    return await Access.open(options);
  } catch (error) {
    throw new StartError(`certificates and tokens of ${options.folder} cannot be used: ${(error as Error).message}`);
  }
}

/** @throws {StartError} where the kubeconfig cannot be written. */
export async function kubeconfigWritten<T>(file: string, writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    throw new StartError(`${file} cannot be written (${reasonOf(error)}): remove what is there, or check the disk`);
  }
}

/** Listens; answers the port. @throws {StartError} */
export async function listen(
  server: ApiServer,
  { host, port }: { host: string; port: number },
  { authority }: Access,
): Promise<number> {
  const { certificate: cert, key } = authority.serving;
  try {
    return (await server.listen({ host, port, tls: { cert, key, clientCa: authority.caCertificate } })).port;
  } catch (error) {
    throw cannotListen(error, host, port);
  }
}

/** Why a port cannot be listened on. */
export function cannotListen(error: unknown, host: string, port: number): StartError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return new StartError(`port ${port} on ${host} is taken: stop what uses it, or choose another with --port`);
  }
  if (code === 'EACCES') return new StartError(`port ${port} may not be used: choose one above 1023 with --port`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new StartError(`${host} is no address of this machine: choose another with --host`);
  }
  return new StartError(`port ${port} on ${host} cannot be listened on: ${message}`);
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
}
