import { isIdentifier, vpcIdentifier } from './identifiers.ts';

/** Route targets and route distinguishers of a VPC, as BGP has them. */

export interface RouteTarget {
  asn: number;
  /** The low 32 bits of the VPC's identifier: all of it, where identifiers are a network's number (F71). */
  number: number;
}

const largest32 = 0xffffffff;
const largest16 = 0xffff;
const written = /^(0|[1-9][0-9]{0,9}):(0|[1-9][0-9]{0,9})$/;

/**
 * `<asn>:<low 32 bits of the VPC's identifier>`, in decimal.
 * @throws RangeError for what no route target can hold: its eight bytes have room for one number of four, not two (F72)
 */
export function routeTarget(asn: number, vpc: number): string {
  if (!isIdentifier(vpcIdentifier, vpc)) throw new RangeError(`${vpc} is no identifier of a VPC`);
  const number = vpc % 2 ** 32;
  if (!holds(asn, number)) throw new RangeError(`a route target can not hold both ASN ${asn} and number ${number}`);
  return `${asn}:${number}`;
}

export function parseRouteTarget(text: string): RouteTarget | undefined {
  const [, asnText, numberText] = written.exec(text) ?? [];
  if (asnText === undefined || numberText === undefined) return undefined;
  const [asn, number] = [Number(asnText), Number(numberText)];
  return holds(asn, number) ? { asn, number } : undefined;
}

/** RFC 4364 type 1: `<router id>:<VRF id>`; 0 where there is no VRF, as of a shard. @throws RangeError */
export function routeDistinguisher(routerId: string, vrfId = 0): string {
  if (!Number.isInteger(vrfId) || vrfId < 0 || vrfId > largest16) throw new RangeError(`VRF ${vrfId} is not 16 bits`);
  return `${routerId}:${vrfId}`;
}

function holds(asn: number, number: number): boolean {
  const fits = [asn, number].every((value) => Number.isInteger(value) && value >= 0 && value <= largest32);
  return fits && asn >= 1 && (asn <= largest16 || number <= largest16);
}
