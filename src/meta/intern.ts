/**
 * One string for all that are equal: in objects of a kind nearly all values repeat (versions, reasons, messages, names of what
 * they refer to), and every parse makes each of them anew.
 */

/** The engine itself keeps one of each that is as short as this when it parses JSON. */
const longestOwn = 10;
/** Longer ones are hardly ever said twice. */
const longest = 512;
const mostPerGeneration = 16_384;

let young = new Map<string, string>();
let old = new Map<string, string>();

/** A string equal to `text`: of equal ones that are asked for again and again, always the same. */
export function intern(text: string): string {
  if (text.length <= longestOwn || text.length > longest) return text;
  let known = young.get(text);
  if (known !== undefined) return known;
  known = old.get(text) ?? text;
  // What has not been asked for during a whole generation is forgotten.
  if (young.size >= mostPerGeneration) {
    old = young;
    young = new Map();
  }
  young.set(known, known);
  return known;
}
