import { PageNotFound } from './errors.ts';
import { type ApiResponse, text } from './http/message.ts';

/** A named condition of readiness. */
export interface ReadyCheck {
  readonly name: string;
  ready(): boolean;
}

/**
 * What `/livez`, `/readyz` and `/healthz` answer, alone or with the name of one check behind them; undefined for any other
 * path. Throws 404 for a check that there is not.
 */
export function healthOf(
  path: string,
  query: URLSearchParams,
  readyChecks: readonly ReadyCheck[],
): ApiResponse | undefined {
  const asked = /^\/(livez|readyz|healthz)(?:\/([^/]+))?$/.exec(path);
  if (asked === null) return undefined;
  const [, endpoint, only] = asked;
  const ping = { name: 'ping', ready: () => true };
  const checks = [ping, ...(endpoint === 'livez' ? [] : readyChecks)];
  const chosen = only === undefined ? checks : checks.filter((check) => check.name === only);
  if (chosen.length === 0) throw new PageNotFound();
  const excluded = new Set(query.getAll('exclude'));
  const lines = chosen.map((check) => {
    if (excluded.has(check.name)) return { ok: true, line: `[+]${check.name} excluded: ok` };
    const ok = check.ready();
    return { ok, line: ok ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld` };
  });
  const passed = lines.every(({ ok }) => ok);
  if (passed && !query.has('verbose')) return text(200, 'ok');
  const verdict = `${endpoint} check ${passed ? 'passed' : 'failed'}`;
  return text(passed ? 200 : 500, `${lines.map(({ line }) => line).join('\n')}\n${verdict}\n`);
}
