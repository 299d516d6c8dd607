import { type MessagePort, parentPort } from 'node:worker_threads';
import type { Checkpoints } from './checkpoints.ts';
import { Engine } from './engine.ts';
import { StorageOpenError } from './errors.ts';
import type { LoadedEntry } from './protocol.ts';
import { type Answer, packOutcomes, type Request, unpack } from './wire.ts';

/** Entry point of the storage worker: the thread that owns the database. */

const port = parentPort as MessagePort;
let engine: Engine | undefined;
let checkpoints: Checkpoints | undefined;
let parts: Iterator<LoadedEntry[], void> | undefined;
let failed = false;

// Messages are taken one at a time also while the first, opening, waits for the modules of procedures.
let last: Promise<void> = Promise.resolve();
port.on('message', (request: Request) => {
  if (request.kind === 'open') last = last.then(() => open(request));
  else if (engine === undefined) last = last.then(() => answer(request));
  else answer(request);
});

async function open(request: Extract<Request, { kind: 'open' }>): Promise<void> {
  try {
    engine = await Engine.open(request.options);
    checkpoints = engine.checkpoints();
    post({ kind: 'opened', opened: engine.opened() });
  } catch (error) {
    fail(error);
  }
}

function answer(request: Exclude<Request, { kind: 'open' }>): void {
  if (failed && request.kind !== 'close') return;
  try {
    work(request);
  } catch (error) {
    failed = true;
    fail(error);
  }
}

function work(request: Exclude<Request, { kind: 'open' }>): void {
  if (request.kind === 'close') {
    void close();
    return;
  }
  if (engine === undefined) return;
  switch (request.kind) {
    case 'load':
      parts = engine.load(new Set(request.uncached));
      postPart();
      return;
    case 'more':
      postPart();
      return;
    case 'run':
      post(packOutcomes(engine.run(unpack(request.batch))));
      checkpoints?.committed();
      return;
    case 'get':
      post({ kind: 'got', record: engine.get(request.key) });
      return;
    case 'range':
      post({ kind: 'range', range: engine.range(request.query) });
      return;
    case 'count':
      post({ kind: 'count', count: engine.count(request.query) });
      return;
  }
}

function postPart(): void {
  const part = parts?.next().value ?? undefined;
  post(
    { kind: 'part', part },
    part?.map((entry) => entry.value.buffer as ArrayBuffer),
  );
}

async function close(): Promise<void> {
  await checkpoints?.close();
  engine?.close();
  post({ kind: 'closed' });
  port.close();
}

function fail(error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  post({
    kind: 'failed',
    message,
    openError: error instanceof StorageOpenError,
    ...(stack === undefined ? {} : { stack }),
  });
}

function post(message: Answer, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer);
}
