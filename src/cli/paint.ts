import { styleText } from 'node:util';

type Style = 'bold' | 'dim' | 'red' | 'green' | 'cyan';

/**
 * Text in a style where standard output is a terminal. What a script reads (a pipe, a file, a CI job) is plain, unless
 * FORCE_COLOR asks otherwise; NO_COLOR makes it plain everywhere.
 */
export function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}
