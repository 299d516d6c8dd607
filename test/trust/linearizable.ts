/** Whether a recorded history of one object could have come from one copy of it that did one thing at a time. */

/** What was asked and what was answered. States are named by what was written last: every write writes something else. */
export type Operation =
  /** Found `state`, or nothing. */
  | { kind: 'read'; state: string | undefined }
  /** Made it, where there was nothing. */
  | { kind: 'create'; state: string }
  /** Was told that there is something already. */
  | { kind: 'create-refused' }
  /** Changed it; `from` where the write was guarded by the version of that state. */
  | { kind: 'update'; state: string; from?: string }
  /** Was told that the version is not that of `from` any more. */
  | { kind: 'update-refused'; from: string }
  /** Deleted it; `from` where guarded. */
  | { kind: 'delete'; from?: string }
  | { kind: 'delete-refused'; from: string }
  /** A write was told that there is nothing. */
  | { kind: 'absent' };

export interface Call {
  operation: Operation;
  /** When it was asked, counted in calls and answers. */
  asked: number;
  /** When it was answered; undefined where no answer came: it may have been done at any time since, or never. */
  answered: number | undefined;
}

/** The state after the operation, or `impossible` where it cannot have been answered so in `state`. */
function after(state: string | undefined, operation: Operation): string | undefined | typeof impossible {
  switch (operation.kind) {
    case 'read':
      return operation.state === state ? state : impossible;
    case 'create':
      return state === undefined ? operation.state : impossible;
    case 'create-refused':
      return state === undefined ? impossible : state;
    case 'update':
      if (state === undefined || (operation.from !== undefined && operation.from !== state)) return impossible;
      return operation.state;
    case 'update-refused':
    case 'delete-refused':
      return state !== undefined && state !== operation.from ? state : impossible;
    case 'delete':
      return state === undefined || (operation.from !== undefined && operation.from !== state) ? impossible : undefined;
    case 'absent':
      return state === undefined ? undefined : impossible;
  }
}
const impossible = Symbol('impossible');

/** A history that takes more has too many calls at once; real ones take little more than a step per call. */
const mostSteps = 2_000_000;

export interface Verdict {
  linearizable: boolean;
  /** Where it is not: the end of the longest order found, and calls none of which can come next. */
  explanation: string;
}

/**
 * Looks for an order of the calls in which each was done at once, between being asked and being answered, and was answered
 * rightly (Herlihy and Wing 1990; the search is Wing and Gong's with Lowe's memory of what was tried). Calls without an
 * answer may be left out. `versions` gives the version of a state where it was told to anybody: along the order they must rise.
 * Throws where that cannot be told in reasonable time.
 */
export function checkLinearizable(calls: readonly Call[], versions: ReadonlyMap<string, number>): Verdict {
  const search = new Search(calls, versions);
  return search.run()
    ? { linearizable: true, explanation: '' }
    : { linearizable: false, explanation: search.explanation() };
}

/** One call put into the order, and what to restore when it is taken back. */
interface Step {
  position: number;
  state: string | undefined;
  written: number;
}

class Search {
  /** Calls by position: those that were answered, then the others, each by when they were asked. */
  readonly #calls: readonly Call[];
  readonly #answered: number;
  readonly #versions: ReadonlyMap<string, number>;
  /** Versions of all writes that have one. A write that has one was done, and in the order of these. */
  readonly #rising: readonly number[];
  /** States that somebody was told. */
  readonly #seen = new Set<string>();
  readonly #done: Uint8Array;
  readonly #tried = new Set<string>();
  #order: Step[] = [];
  #longest: number[] = [];
  #state: string | undefined;
  /** How many of `#rising` are done. */
  #written = 0;
  /** Position before which every answered call is done. */
  #first = 0;
  #left: number;

  constructor(calls: readonly Call[], versions: ReadonlyMap<string, number>) {
    const byTime = [...calls].sort((a, b) => a.asked - b.asked);
    const answered = byTime.filter((call) => call.answered !== undefined);
    this.#calls = [...answered, ...byTime.filter((call) => call.answered === undefined)];
    this.#answered = answered.length;
    this.#left = answered.length;
    this.#versions = versions;
    this.#done = new Uint8Array(calls.length);
    for (const call of calls) for (const state of toldBy(call)) this.#seen.add(state);
    this.#rising = calls.flatMap(({ operation }) => this.#versionOf(operation) ?? []).sort((a, b) => a - b);
  }

  run(): boolean {
    let from = this.#first;
    for (let steps = 0; this.#left > 0; steps++) {
      if (steps > mostSteps) throw new Error(`${this.#calls.length} calls are more than can be told about`);
      const next = this.#candidate(from);
      if (next !== undefined) {
        this.#put(next.position, next.becomes);
        const key = this.#key();
        const isNew = !this.#tried.has(key);
        this.#tried.add(key);
        from = isNew ? this.#first : this.#takeBack();
      } else if (this.#order.length > 0) from = this.#takeBack();
      else return false;
    }
    return true;
  }

  explanation(): string {
    const said = new Set(this.#longest);
    const rest = this.#calls.filter((_, position) => !said.has(position)).slice(0, 12);
    const shown = (some: readonly Call[]) => some.map((call) => JSON.stringify(call)).join('\n  ');
    const last = this.#longest.slice(-8).map((position) => this.#calls[position]!);
    return `after\n  ${shown(last)}\nnone of these can be next:\n  ${shown(rest)}`;
  }

  /**
   * The next call that may come now, from a position on. Those that were answered are tried first: few histories need a call
   * done that nobody heard of.
   */
  #candidate(from: number): { position: number; becomes: string | undefined } | undefined {
    const soonest = this.#soonest();
    for (let position = from; position < this.#calls.length; position++) {
      const { asked, operation } = this.#calls[position]!;
      if (asked > soonest) {
        if (position >= this.#answered) return undefined;
        position = this.#answered - 1;
        continue;
      }
      if (this.#done[position] === 1) continue;
      const version = this.#versionOf(operation);
      if (version !== undefined && version !== this.#rising[this.#written]) continue;
      const becomes = after(this.#state, operation);
      if (becomes === impossible) continue;
      if (position >= this.#answered && this.#isNeedless(position, becomes)) continue;
      return { position, becomes };
    }
    return undefined;
  }

  /** When the first of the calls that are not done was answered: what was asked later cannot come before it. */
  #soonest(): number {
    let soonest = Number.POSITIVE_INFINITY;
    for (let position = this.#first; position < this.#answered; position++) {
      const { asked, answered } = this.#calls[position]!;
      if (asked > soonest) break;
      if (this.#done[position] === 0) soonest = Math.min(soonest, answered!);
    }
    return soonest;
  }

  /**
   * Of the calls without an answer whose state nobody saw: whether this one changes nothing anybody could tell, or an
   * earlier one of its kind would do as well.
   */
  #isNeedless(position: number, becomes: string | undefined): boolean {
    const { operation } = this.#calls[position]!;
    if (this.#wasSeen(operation)) return false;
    if (this.#told(becomes) === this.#told(this.#state)) return true;
    if (isGuarded(operation)) return false;
    for (let earlier = this.#answered; earlier < position; earlier++) {
      if (this.#done[earlier] === 0 && this.#isLike(earlier, operation)) return true;
    }
    return false;
  }

  #isLike(position: number, { kind }: Operation): boolean {
    const { operation } = this.#calls[position]!;
    return operation.kind === kind && !isGuarded(operation) && !this.#wasSeen(operation);
  }

  #put(position: number, becomes: string | undefined): void {
    const { operation } = this.#calls[position]!;
    this.#order.push({ position, state: this.#state, written: this.#written });
    if (this.#order.length > this.#longest.length) this.#longest = this.#order.map((step) => step.position);
    this.#done[position] = 1;
    if (position < this.#answered) this.#left--;
    if (this.#versionOf(operation) !== undefined) this.#written++;
    this.#state = becomes;
    while (this.#first < this.#answered && this.#done[this.#first] === 1) this.#first++;
  }

  /** Takes the last call back; answers where to go on looking. */
  #takeBack(): number {
    const { position, state, written } = this.#order.pop()!;
    this.#done[position] = 0;
    if (position < this.#answered) {
      this.#left++;
      this.#first = Math.min(this.#first, position);
    }
    this.#state = state;
    this.#written = written;
    return position + 1;
  }

  /**
   * All that what can still come depends on. States nobody saw are alike. Of the calls without an answer guarded ones can only
   * come in the state they name, which never comes again; of those whose state nobody saw it matters how many of a kind are left.
   */
  #key(): string {
    let last = this.#answered - 1;
    while (last >= this.#first && this.#done[last] === 0) last--;
    const undone: number[] = [];
    for (let position = this.#first; position < last; position++) {
      if (this.#done[position] === 0) undone.push(position);
    }
    const used: Record<string, number> = {};
    const seen: number[] = [];
    for (let position = this.#answered; position < this.#calls.length; position++) {
      const { operation } = this.#calls[position]!;
      if (this.#done[position] === 0) continue;
      if (this.#wasSeen(operation)) seen.push(position);
      else if (!isGuarded(operation)) used[operation.kind] = (used[operation.kind] ?? 0) + 1;
    }
    const lost = `${seen.join()} ${used.create} ${used.update} ${used.delete}`;
    return `${Math.max(last, this.#first - 1)}-${undone.join()} ${lost} ${this.#told(this.#state)}`;
  }

  #told(state: string | undefined): string | undefined {
    return state === undefined || this.#seen.has(state) ? state : '(seen by nobody)';
  }

  #wasSeen(operation: Operation): boolean {
    const writes = operation.kind === 'create' || operation.kind === 'update';
    return writes && this.#seen.has(operation.state);
  }

  /** Of a write whose state somebody was told with its version. */
  #versionOf(operation: Operation): number | undefined {
    const writes = operation.kind === 'create' || operation.kind === 'update';
    return writes ? this.#versions.get(operation.state) : undefined;
  }
}

/** The states a call shows that its client was told, by this answer or one before. */
function toldBy({ operation, answered }: Call): string[] {
  const told = 'from' in operation && operation.from !== undefined ? [operation.from] : [];
  if (answered !== undefined && 'state' in operation && operation.state !== undefined) told.push(operation.state);
  return told;
}

function isGuarded(operation: Operation): boolean {
  return 'from' in operation && operation.from !== undefined;
}
