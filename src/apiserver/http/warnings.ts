/** `Warning` headers (RFC 7234), as kube-apiserver bounds them (apiserver `endpoints/filters/warning.go`). */

/** Characters of all texts of an answer, from which on each is cut short; a client's room for headers is not endless. */
const mostCharacters = 4096;
/** Characters of one text once they are cut short. */
const mostOfOne = 256;

/** The values of the headers for `texts`: each text once, cut short where there is too much of them. */
export function warningHeaders(texts: readonly string[]): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: such a text is not sent at all
  const different = [...new Set(texts)].filter((text) => text !== '' && !/[\u0000-\u001f\u007f-\u009f]/.test(text));
  const all = different.reduce((sum, text) => sum + [...text].length, 0);
  if (all <= mostCharacters) return different.map(header);
  const headers: string[] = [];
  let written = 0;
  for (const text of different) {
    if (written >= mostCharacters) break;
    const short = [...text].slice(0, mostOfOne);
    headers.push(header(short.join('')));
    written += short.length;
  }
  return headers;
}

/** Code 299, no agent, a quoted text; in UTF-8, one character per byte, as Node wants a header. */
function header(text: string): string {
  const quoted = text.replaceAll(/["\\]/g, '\\$&');
  return `299 - "${Buffer.from(quoted, 'utf8').toString('latin1')}"`;
}
