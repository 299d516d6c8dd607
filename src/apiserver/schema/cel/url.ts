/**
 * A URL as the `url` library knows it: Go's `url.ParseRequestURI`, which keeps what is written (a default port, the case of
 * a host, `..` in a path) where the URL of JavaScript writes it anew.
 */
export class Url {
  /** In lower case; '' where the text is a path. */
  readonly scheme: string;
  /** With the port, without the user. */
  readonly host: string;
  readonly #path: string;
  readonly #query: string;
  readonly #text: string;

  private constructor(scheme: string, host: string, path: string, query: string, rest: string) {
    this.scheme = scheme;
    this.host = host;
    this.#path = path;
    this.#query = query;
    this.#text = `${scheme}:${rest}`;
  }

  /** Undefined where `text` is neither an absolute URL nor an absolute path. */
  static parse(text: string): Url | undefined {
    if (text === '*') return new Url('', '', '*', '', text);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
    if (/[\u0000-\u001f\u007f]/.test(text)) return undefined;
    const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1] ?? '';
    const rest = scheme === '' ? text : text.slice(scheme.length + 1);
    const mark = rest.indexOf('?');
    const [before, query] = mark < 0 ? [rest, ''] : [rest.slice(0, mark), rest.slice(mark + 1)];
    if (!before.startsWith('/')) {
      // `mailto:someone` has no parts to ask for.
      return scheme === '' ? undefined : new Url(scheme.toLowerCase(), '', '', query, rest);
    }
    let [host, path] = ['', before];
    if (scheme !== '' && before.startsWith('//')) {
      const end = before.indexOf('/', 2);
      const found = hostOf(before.slice(2, end < 0 ? undefined : end));
      if (found === undefined) return undefined;
      [host, path] = [found, end < 0 ? '' : before.slice(end)];
    }
    if (decoded(path) === undefined) return undefined;
    return new Url(scheme.toLowerCase(), host, path, query, rest);
  }

  get hostname(): string {
    return this.host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
  }

  get port(): string {
    return /:(\d*)$/.exec(this.host)?.[1] ?? '';
  }

  /** As written where that is a valid encoding of it. */
  get escapedPath(): string {
    if (/^[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]%/]*$/.test(this.#path)) return this.#path;
    const written = (byte: number): string => {
      const char = String.fromCharCode(byte);
      return /[A-Za-z0-9\-_.~$&+,/:;=@]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    };
    return Array.from(decoded(this.#path)!, written).join('');
  }

  /** The values of each key, in their order; what is no valid encoding is left out. */
  get query(): Record<string, string[]> {
    const out: Record<string, string[]> = Object.create(null);
    for (const part of this.#query.split('&')) {
      if (part === '' || part.includes(';')) continue;
      const at = part.indexOf('=');
      const key = textOf(at < 0 ? part : part.slice(0, at));
      const value = textOf(at < 0 ? '' : part.slice(at + 1));
      if (key === undefined || value === undefined) continue;
      out[key] ??= [];
      out[key].push(value);
    }
    return out;
  }

  toString(): string {
    return this.#text;
  }
}

/** The host of `user@host:port`, with its port; undefined where a part of it is no such thing. */
function hostOf(authority: string): string | undefined {
  const at = authority.lastIndexOf('@');
  const user = authority.slice(0, Math.max(at, 0));
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) || decoded(user) === undefined) return undefined;
  const host = authority.slice(at + 1);
  const bracketed = /^(\[[^\]]*)\](:\d*)?$/.exec(host);
  // What follows the last colon is a port.
  if (bracketed === null && (host.startsWith('[') || !/^([^:]*|.*:\d*)$/.test(host))) return undefined;
  const zone = bracketed === null ? -1 : bracketed[1]!.indexOf('%25');
  const [name, scope] = zone < 0 ? [host, ''] : [host.slice(0, zone), host.slice(zone)];
  // Of ASCII, a host holds nothing in an encoding.
  if (/%[0-7]/.test(name)) return undefined;
  const bytes = decoded(name);
  const zoneBytes = decoded(scope);
  if (bytes === undefined || zoneBytes === undefined) return undefined;
  const plain = Buffer.from(bytes).toString();
  return /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\u0080-\u{10ffff}]/u.test(plain)
    ? undefined
    : plain + Buffer.from(zoneBytes).toString();
}

/** The bytes of a text with `%xx` in it; undefined where a `%` is followed by anything else. */
function decoded(text: string): Uint8Array | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return undefined;
  const bytes = Buffer.from(text);
  if (!text.includes('%')) return bytes;
  const out: number[] = [];
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] !== 0x25) out.push(bytes[i]!);
    else {
      out.push(Number.parseInt(bytes.toString('latin1', i + 1, i + 3), 16));
      i += 2;
    }
  }
  return Uint8Array.from(out);
}

function textOf(part: string): string | undefined {
  const bytes = decoded(part.replaceAll('+', ' '));
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
}
