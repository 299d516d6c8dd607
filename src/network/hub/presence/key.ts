/** Which network in which location: the two names a presence is asked for by. */
export interface Pair {
  network: string;
  location: string;
}

/** One text for a pair, no two pairs alike: `a-b` in `c` and `a` in `b-c` are two presences (F11). */
export function pairName({ network, location }: Pair): string {
  return `${encoded(network)}/${encoded(location)}`;
}

export function pairOf(name: string): Pair {
  const [network = '', location = ''] = name.split('/');
  return { network: decodeURIComponent(network), location: decodeURIComponent(location) };
}

/** Names are free text; half a character, which no name of an object has, is not worth a failure. */
function encoded(name: string): string {
  return encodeURIComponent(name.toWellFormed());
}
