import { type Environment, EvaluationError } from '@marcbachmann/cel-js';
import { Cidr, Ip } from './address.ts';
import { Url } from './url.ts';

class IpNamespace {}

/** The `ip`, `cidr` and `url` libraries. */
export function registerNetworking(environment: Environment): void {
  const add = (signature: string, handler: (...args: never[]) => unknown) =>
    environment.registerFunction(signature, handler, { async: false });
  environment.registerType('net.IP', Ip);
  environment.registerType('net.CIDR', Cidr);
  environment.registerType('kubernetes.URL', Url);
  environment.registerType('IpNamespace', IpNamespace);
  environment.registerConstant('ip', 'IpNamespace', new IpNamespace());

  const ip = (text: string) =>
    Ip.parse(text) ??
    fail(
      `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): unable to parse IP`,
    );
  const cidr = (text: string) => Cidr.parse(text) ?? fail(`network address parse error: ${JSON.stringify(text)}`);
  add('isIP(string): bool', (text: string) => Ip.parse(text) !== undefined);
  add('ip(string): net.IP', ip);
  add('string(net.IP): string', (value: Ip) => value.toString());
  add('IpNamespace.isCanonical(string): bool', (_: unknown, text: string) => ip(text).toString() === text);
  add('net.IP.family(): int', (value: Ip) => (value.bits === 32 ? 4n : 6n));
  add('net.IP.isUnspecified(): bool', (value: Ip) => value.isUnspecified);
  add('net.IP.isLoopback(): bool', (value: Ip) => value.isLoopback);
  add('net.IP.isLinkLocalMulticast(): bool', (value: Ip) => value.isLinkLocalMulticast);
  add('net.IP.isLinkLocalUnicast(): bool', (value: Ip) => value.isLinkLocalUnicast);
  add('net.IP.isGlobalUnicast(): bool', (value: Ip) => value.isGlobalUnicast);
  environment.registerOperator('net.IP == net.IP', (a: Ip, b: Ip) => a.bits === b.bits && a.value === b.value);

  add('isCIDR(string): bool', (text: string) => Cidr.parse(text) !== undefined);
  add('cidr(string): net.CIDR', cidr);
  add('string(net.CIDR): string', (value: Cidr) => value.toString());
  add('net.CIDR.containsIP(string): bool', (value: Cidr, text: string) => value.containsIp(ip(text)));
  add('net.CIDR.containsIP(net.IP): bool', (value: Cidr, other: Ip) => value.containsIp(other));
  add('net.CIDR.containsCIDR(string): bool', (value: Cidr, text: string) => value.containsCidr(cidr(text)));
  add('net.CIDR.containsCIDR(net.CIDR): bool', (value: Cidr, other: Cidr) => value.containsCidr(other));
  add('net.CIDR.ip(): net.IP', (value: Cidr) => value.address);
  add('net.CIDR.masked(): net.CIDR', (value: Cidr) => value.masked());
  add('net.CIDR.prefixLength(): int', (value: Cidr) => BigInt(value.prefixLength));
  environment.registerOperator('net.CIDR == net.CIDR', (a: Cidr, b: Cidr) => a.toString() === b.toString());

  add('isURL(string): bool', (text: string) => Url.parse(text) !== undefined);
  add('url(string): kubernetes.URL', (text: string) => Url.parse(text) ?? fail('URL parse error during conversion'));
  add('kubernetes.URL.getScheme(): string', (url: Url) => url.scheme);
  add('kubernetes.URL.getHost(): string', (url: Url) => url.host);
  add('kubernetes.URL.getHostname(): string', (url: Url) => url.hostname);
  add('kubernetes.URL.getPort(): string', (url: Url) => url.port);
  add('kubernetes.URL.getEscapedPath(): string', (url: Url) => url.escapedPath);
  add('kubernetes.URL.getQuery(): map<string, list<string>>', (url: Url) => url.query);
  environment.registerOperator('kubernetes.URL == kubernetes.URL', (a: Url, b: Url) => `${a}` === `${b}`);
}

function fail(message: string): never {
  throw new EvaluationError(message);
}
