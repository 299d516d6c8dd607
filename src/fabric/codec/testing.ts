import { IpAddress, IpPrefix } from '../../address/index.ts';
import { type Random, seededRandom } from '../../kube/index.ts';
import {
  advertisementName,
  attachmentIdentifier,
  formatIdentifier,
  fromHex,
  guestDevice,
  hostDevice,
  nodeSegment,
  parseAdvertisementName,
  parseAttachmentDevice,
  parseIdentifier,
  parseRouteTarget,
  parseSegment,
  parseTenantId,
  parseVrfDevice,
  parseVrfInstanceName,
  routeTarget,
  tenantId,
  toHex,
  vpcIdentifier,
  vrfDevice,
  vrfInstanceName,
} from './index.ts';

const device = /^[0-9A-Za-z]{11,15}$/;
export const objectName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const label = /^[0-9A-Za-z]([-0-9A-Za-z]{0,61}[0-9A-Za-z])?$/;
export const block = IpPrefix.parse('2001:db8:ff01::/48');

/** What is wrong with the texts of one pair of identifiers; nothing, it is to be hoped. */
export function faults(vpc: number, attachment: number, node: number, argument: number): string[] {
  const found: string[] = [];
  const check = (what: string, right: boolean) => {
    if (!right) found.push(`${what} of VPC ${vpc}, attachment ${attachment}, node ${node}, argument ${argument}`);
  };
  const pair = { vpc, attachment };
  const same = (got: { vpc: number; attachment: number } | undefined) =>
    got?.vpc === vpc && got.attachment === attachment;
  const published = formatIdentifier(vpcIdentifier, vpc);
  const publishedAttachment = formatIdentifier(attachmentIdentifier, attachment);
  check('length', published.length <= 9 && publishedAttachment.length <= 3);
  check('base 62', parseIdentifier(vpcIdentifier, published) === vpc);
  check('base 62', parseIdentifier(attachmentIdentifier, publishedAttachment) === attachment);
  check('hex', fromHex(vpcIdentifier, toHex(vpcIdentifier, vpc)) === vpc);
  check('hex', fromHex(attachmentIdentifier, toHex(attachmentIdentifier, attachment)) === attachment);
  const host = hostDevice(pair);
  const read = parseAttachmentDevice(host);
  check('device', device.test(host) && host.length === 14 && same(read) && read?.end === 'host');
  const guest = guestDevice(pair);
  check('device', guest === `${host.slice(0, -1)}G` && parseAttachmentDevice(guest)?.end === 'guest');
  const routing = vrfDevice(vpc);
  check('VRF', device.test(routing) && routing.length === 11 && parseVrfDevice(routing) === vpc);
  const advertisement = advertisementName(published, publishedAttachment, 'node-7.example');
  check('advertisement', objectName.test(advertisement) && same(parseAdvertisementName(advertisement)));
  const instance = vrfInstanceName(published, 'node-7.example');
  check('VRF instance', objectName.test(instance) && parseVrfInstanceName(instance) === vpc);
  const tenant = tenantId(pair);
  check('tenant id', label.test(tenant) && same(parseTenantId(tenant)));
  const target = parseRouteTarget(routeTarget(65010, vpc));
  check('route target', target?.asn === 65010 && target.number === vpc % 2 ** 32);
  const address = nodeSegment({ block, node, argument });
  const segment = parseSegment(address);
  check('segment', segment?.node === node && segment.argument === argument && segment.block.equals(block));
  // The text form of addresses has tests of its own, and is what takes the time here.
  if (argument % 8 === 0) check('text of the segment', IpAddress.parse(`${address}`).equals(address));
  return found;
}

/** Random identifiers until a fault is found, `count` at most; answers the faults of the last. The seed is printed. */
export function randomFaults(count: number): string[] {
  const seed = Number(process.env.SEED ?? (Math.random() * 2 ** 32) >>> 0);
  console.log(`codec: SEED=${seed}`);
  const random = seededRandom(seed);
  for (let left = count; left > 0; left--) {
    // As many short ones as long ones: the widths are where the mistakes are.
    const vpc = between(random, 1, Math.min(vpcIdentifier.largest, 2 ** between(random, 1, 48)));
    const attachment = between(random, 1, attachmentIdentifier.largest);
    const found = faults(vpc, attachment, between(random, 1, 0xdfff), between(random, 1, 0xfff));
    if (found.length > 0) return found;
  }
  return [];
}

function between(random: Random, least: number, largest: number): number {
  return least + Math.floor(random.next() * (largest - least + 1));
}
