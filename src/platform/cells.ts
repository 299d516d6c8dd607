import { UsageError } from './gates.ts';

/** A cell of the embedded platform: the location it serves and the city the location is in. */
export interface CellSpec {
  location: string;
  cityCode: string;
}

/** City codes of locations that have a well-known one; any other location's is given or made from its name. */
const cityCodes: Readonly<Record<string, string>> = { 'us-central-1': 'DSM', 'eu-west-1': 'DUB' };

export const defaultCells = 'us-central-1,eu-west-1';
export const defaultProjects = 'alpha,beta';

const label = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

function names(text: string): string[] {
  return [...new Set(text.split(',').map((item) => item.trim()))].filter((item) => item !== '');
}

function checked(name: string, what: string, maxLength: number): string {
  if (label.test(name) && name.length <= maxLength) return name;
  throw new UsageError(
    `${what} "${name}" must be lower-case letters, digits and "-", start and end with a letter or digit, and have at most ${maxLength} characters`,
  );
}

/**
 * `--cells`: locations separated by commas, each `NAME` or `NAME=CITY`.
 * @throws {UsageError}
 */
export function parseCells(text: string): CellSpec[] {
  return names(text).map((item) => {
    const [name = '', city] = item.split('=');
    const location = checked(name, 'cell', 53);
    return { location, cityCode: city ?? cityCodes[location] ?? location.toUpperCase() };
  });
}

/**
 * `--location`: a name that a cell could have.
 * @throws {UsageError}
 */
export function parseLocation(text: string): string {
  return checked(text, 'location', 53);
}

/**
 * `--projects`: ids separated by commas.
 * @throws {UsageError}
 */
export function parseProjects(text: string): string[] {
  return names(text).map((name) => checked(name, 'project', 53));
}
