import { type Logger, pino, stdTimeFunctions } from 'pino';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

const pretty = process.stderr.isTTY ? (await import('pino-pretty')).default : undefined;

/** JSON lines on standard error; for people where that is a terminal. */
export function createLogger(level: LogLevel): Logger {
  const options = { level, base: null, timestamp: stdTimeFunctions.isoTime };
  const stream =
    pretty?.({ destination: 2, sync: true, colorize: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' }) ??
    pino.destination({ dest: 2, sync: false });
  return pino(options, stream);
}
