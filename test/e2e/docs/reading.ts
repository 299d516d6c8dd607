/**
 * One side of a comparison, read from top to bottom: what differs from run to run is replaced. Ages, times, sizes, ports
 * and the number of controllers become placeholders. Addresses, UIDs and hashes become numbers in the order in which they first appear, so that two
 * texts are equal when the same things are the same and different things are different, whatever they are.
 */
export class Reading {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  read(text: string): string {
    return text
      .split('\n')
      .map((line) => this.#line(line))
      .join('\n');
  }

  #line(line: string): string {
    return (
      line
        .trimEnd()
        // Newer kubectls say where a thing was deleted.
        .replace(/(?<=" deleted) from \S+ namespace$/, '')
        .replace(/(?<=\S) {2,}/g, '  ')
        .replace(/\d+(?= at work$)/, '<count>')
        .replace(/\d+\.\d(?= MiB)/g, '<size>')
        .replace(/(?<=127\.0\.0\.1:)\d+/g, '<port>')
        .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
        .replace(/(?<![\w.:/-])(\d+d)?(\d+h)?(\d+m)?(\d+s)?(?![\w:/-])/g, (age) => (age === '' ? '' : '<age>'))
        .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, (uid) => this.#name('uid', uid))
        .replace(/\b([0-9a-f]{16}|(?=[0-9a-f]*\d)[0-9a-f]{8})\b(?![-:])/g, (hash) => this.#name('hash', hash))
        .replace(/\bfd[0-9a-f]{2}:[0-9a-f:]*/g, (address) => this.#name(root(address, ':'), address))
        .replace(/\b(?!127\.)\d{1,3}(\.\d{1,3}){3}\b/g, (address) => this.#name(root(address, '.'), address))
    );
  }

  #name(kind: string, value: string): string {
    const known = this.#names.get(value);
    if (known !== undefined) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const name = `<${kind} no. ${count}>`;
    this.#names.set(value, name);
    return name;
  }
}

/** The first two groups of an address: which pool it is from. */
function root(address: string, separator: string): string {
  return address.split(separator).slice(0, 2).join(separator);
}
