import {
  apiVersionOf,
  Event,
  formatMicroTime,
  isApiError,
  type KubeObject,
  type ObjectReference,
} from '../../meta/index.ts';
import type { Client } from '../client.ts';
import type { Clock, Timer } from '../clock/clock.ts';
import { type Random, systemRandom } from '../random.ts';

export interface RecorderOptions {
  /** Of the plane the objects are in. */
  client: Client;
  clock: Clock;
  random?: Random;
  /** Who found out: the controller's name with its domain. */
  reportingController: string;
  /** Which of its processes. */
  reportingInstance: string;
  /** Hears of events that could not be written. */
  onError?: (error: unknown) => void;
}

export interface EventRecorder {
  /**
   * Writes an Event about `regarding`, in the background: nothing is thrown and nothing waited for. The same (object,
   * reason, note) again becomes a longer series of the same Event, written at most once a second.
   */
  event(
    regarding: KubeObject,
    event: {
      type: 'Normal' | 'Warning';
      reason: string;
      /** What was being done. */
      action: string;
      note: string;
      related?: KubeObject;
    },
  ): void;
  /** Writes nothing more. */
  stop(): void;
}

interface Series {
  event: Event;
  count: number;
  /** What the server knows; 0 before it is created. */
  written: number;
  lastObserved: number;
  failures: number;
  writing: boolean;
  /** Until when the next write waits. */
  pause: Timer | undefined;
}

const betweenWritesMilliseconds = 1_000;
/** After this without the same again, a series is over (client-go tools/events); the next one is a new Event. */
const seriesEndMilliseconds = 360_000;
const mostSeries = 4_096;
const mostFailures = 3;
/** events.k8s.io/v1 takes 1,024 bytes. */
const longestNoteBytes = 1_024;
const longestNamePart = 230;

/** A recorder of events.k8s.io/v1 Events. */
export function createRecorder(options: RecorderOptions): EventRecorder {
  const { client, clock, random = systemRandom, reportingController, reportingInstance } = options;
  /** In order of last use, so that the first is the one to forget. */
  const all = new Map<string, Series>();
  let stopped = false;

  async function write(key: string, series: Series): Promise<void> {
    series.writing = true;
    const { count } = series;
    try {
      if (series.written === 0) await create(series.event);
      else await extend(series);
      series.written = count;
      series.failures = 0;
    } catch (error) {
      series.failures++;
      options.onError?.(error);
      const refused = isApiError(error) && error.code < 500 && error.code !== 429;
      if (refused || series.failures > mostFailures) {
        series.writing = false;
        if (all.get(key) === series) all.delete(key);
        return;
      }
    }
    series.writing = false;
    if (stopped) return;
    series.pause = clock.after(betweenWritesMilliseconds * 2 ** series.failures, () => {
      series.pause = undefined;
      if (!stopped && series.written < series.count) void write(key, series);
    });
  }

  async function create(event: Event): Promise<void> {
    try {
      await client.create(Event, event);
    } catch (error) {
      // The name is ours alone: an earlier try arrived although its answer did not.
      if (!isApiError(error, 'AlreadyExists')) throw error;
    }
  }

  async function extend({ event, count, lastObserved }: Series): Promise<void> {
    const { namespace = '', name } = event.metadata;
    const series = { count, lastObservedTime: formatMicroTime(lastObserved) };
    await client.patch(Event, { namespace, name }, { type: 'merge', body: { series } });
  }

  return {
    event(regarding, { type, reason, action, note, related }) {
      if (stopped) return;
      const now = clock.now();
      const key = JSON.stringify([regarding.metadata.uid, reason, note]);
      let series = all.get(key);
      all.delete(key);
      if (series !== undefined && now - series.lastObserved > seriesEndMilliseconds) series = undefined;
      if (series === undefined) {
        const namespace = regarding.metadata.namespace || 'default';
        const suffix = Buffer.from(random.bytes(8)).toString('hex');
        const event: Event = {
          apiVersion: apiVersionOf(Event),
          kind: Event.kind,
          metadata: {
            name: `${regarding.metadata.name.slice(0, longestNamePart).replace(/[-.]+$/, '')}.${suffix}`,
            namespace,
          },
          eventTime: formatMicroTime(now),
          type,
          reason,
          action,
          note: shortened(note),
          reportingController,
          reportingInstance,
          regarding: referenceTo(regarding),
          ...(related === undefined ? {} : { related: referenceTo(related) }),
        };
        series = { event, count: 0, written: 0, lastObserved: now, failures: 0, writing: false, pause: undefined };
      }
      series.count++;
      series.lastObserved = now;
      all.set(key, series);
      if (all.size > mostSeries) all.delete(all.keys().next().value!);
      if (!series.writing && series.pause === undefined) void write(key, series);
    },

    stop() {
      stopped = true;
      for (const series of all.values()) series.pause?.cancel();
      all.clear();
    },
  };
}

/** `note` within the limit; an ellipsis stands for what is left out. */
function shortened(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= longestNoteBytes) return note;
  // A character cut in two at the end decodes to U+FFFD.
  return `${bytes
    .subarray(0, longestNoteBytes - 3)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')}…`;
}

function referenceTo(object: KubeObject): ObjectReference {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}
