/** A Markdown table; cells are escaped so that no text breaks out of its cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escapeCell).join(' | ')} |`;
  return [line(head), `| ${head.map(() => '---').join(' | ')} |`, ...rows.map(line)].join('\n');
}

function escapeCell(text: string): string {
  return escapeText(text).replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** Text in which `<` outside of code is no tag. */
export function escapeText(text: string): string {
  return text.replace(/`[^`]*`|</g, (found) => (found === '<' ? '&lt;' : found));
}

export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}
