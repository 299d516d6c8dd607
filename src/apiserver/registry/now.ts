import { formatTime } from '../../meta/index.ts';

let second = Number.NaN;
let text = '';

/** `formatTime`, which many requests of one second share. */
export function timeText(milliseconds: number): string {
  const asked = Math.floor(milliseconds / 1000);
  if (asked !== second) {
    text = formatTime(asked * 1000);
    second = asked;
  }
  return text;
}
