/** What a page tells its reader to type, and what it says will be seen. */
export interface Step {
  /** A command of the shell; `^C` interrupts the platform that runs in the foreground. */
  command: string;
  /** Lines of output, without the last line's end. */
  output: string;
}

/** A fenced block of kind `console`. */
export interface Block {
  steps: Step[];
  /** `<!-- until -->` above it: its commands are typed again until the output is the one shown. */
  until: boolean;
  /** Where its text is, between the fences. */
  start: number;
  end: number;
}

const fence = /(<!-- until -->\n)?^```console\n([\s\S]*?)^```$/gm;

/** The console blocks of a Markdown page, in order. */
export function blocksOf(page: string): Block[] {
  return [...page.matchAll(fence)].map((match) => {
    const text = match[2] ?? '';
    const start = match.index + match[0].length - text.length - 3;
    return { steps: stepsOf(text), until: match[1] !== undefined, start, end: start + text.length };
  });
}

/**
 * A line that begins with `$ ` is a command, and so is a line `^C`. A command goes on over lines that end with a backslash
 * or inside single quotes, and through a here-document.
 */
function stepsOf(text: string): Step[] {
  const lines = text.split('\n').slice(0, -1);
  const steps: { command: string; output: string[] }[] = [];
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    if (line === '^C') steps.push({ command: line, output: [] });
    else if (line.startsWith('$ ')) steps.push({ command: wholeCommand(line.slice(2), lines), output: [] });
    else if (steps.length === 0) throw new Error(`a console block begins with "${line}", which is no command`);
    else steps.at(-1)?.output.push(line);
  }
  return steps.map(({ command, output }) => ({ command, output: output.join('\n') }));
}

function wholeCommand(first: string, rest: string[]): string {
  const lines = [first];
  const open = (): boolean => lines.at(-1)?.endsWith('\\') === true || lines.join().split("'").length % 2 === 0;
  while (open() && rest.length > 0) lines.push(rest.shift() ?? '');
  const terminator = /<<'?(\w+)/.exec(first)?.[1];
  while (terminator !== undefined && lines.at(-1) !== terminator) {
    const next = rest.shift();
    if (next === undefined) throw new Error(`"${first}" has no ${terminator}`);
    lines.push(next);
  }
  return lines.join('\n');
}

/** The text of a block again. */
export function blockText(steps: readonly Step[]): string {
  return steps
    .map(({ command, output }) => {
      const prompt = command === '^C' ? '^C' : `$ ${command}`;
      return output === '' ? `${prompt}\n` : `${prompt}\n${output}\n`;
    })
    .join('');
}
