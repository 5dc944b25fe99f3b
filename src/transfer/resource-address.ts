/** The name of a resource on the command line -> the path of its records. */
import { MEDIA_TYPES } from '../declare/export-options.js';
import type { RouteInfo } from '../express/routes/route-info.js';
import type { OpenAPIObject } from '../openapi/openapi-object.js';
import { didYouMean } from '../util/option-problems.js';
import { CommandFailure } from './failure.js';

const MENDS = {
  export: "export: ['csv', 'ndjson']",
  import: "import: { modes: ['create'] }",
} as const;

/** Names in an error. */
const MOST_NAMES = 20;

/** Commands that need an option of the resource. */
export type TransferName = keyof typeof MENDS;

/** The routes of an application, and its document, where an export is another form of a list. */
export interface Described {
  /** The path of the application in another one, such as `/v2`. */
  readonly mount: string;
  readonly routes: readonly RouteInfo[];
  readonly document: OpenAPIObject;
}

/**
 * Finds the resource whose path ends with the name; a parameter of the path takes any value.
 *
 * @returns the path of the route, such as `/api/cities/import`
 * @throws CommandFailure where there is none, there are several, or it lacks the option
 */
export function resourceAddress(
  { mount, routes, document }: Described,
  name: string,
  operation: TransferName,
): string {
  const wanted = name.replaceAll(/^\/+|\/+$/g, '').split('/');
  const placed = (route: RouteInfo) => placeOf(route, mount);
  const places = new Map(routes.map(placed).filter((each) => each !== null));
  const found = [...places].flatMap(([path, resource]) => {
    const address = addressOf(path.split('/'), wanted);
    return address === null ? [] : [{ path, resource, address }];
  });
  const exact = found.filter(({ path }) => path.split('/').length === wanted.length + 1);
  const [place, another] = exact.length > 0 ? exact : found;
  if (!place) {
    const names = [...places.keys()].map((path) => path.slice(1));
    const short = names.map((each) => each.split('/').at(-1) ?? '');
    const hint = didYouMean(name, short) || didYouMean(name, names);
    const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
    throw new CommandFailure(
      `There is no resource '${name}'.${hint} The resources are ${names.slice(0, MOST_NAMES).join(', ')}${more}.`,
      2,
    );
  }
  if (another)
    throw new CommandFailure(
      `'${name}' may be ${place.path} or ${another.path}; write the whole path, such as ${place.path.slice(1)}.`,
      2,
    );
  const { path, resource, address } = place;
  const file = routes.find((each) => each.operation === 'import' && placed(each)?.[0] === path);
  const plain = path.slice(mount.length);
  const end =
    operation === 'import' ? file?.path.slice(plain.length) : isExported(document, plain) ? '' : null;
  if (end === null || end === undefined)
    throw new CommandFailure(
      `${resource} has no ${operation}; add ${MENDS[operation]} to the options of its @Crud.`,
    );
  return address + end;
}

/** True for a list that may be a file. */
function isExported({ paths }: OpenAPIObject, path: string): boolean {
  const list = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.get?.responses[200];
  return (
    list !== undefined &&
    'content' in list &&
    Object.values(MEDIA_TYPES).some((type) => Object.hasOwn(list.content ?? {}, type))
  );
}

/** The path of the records of a route, and their model. */
function placeOf(
  { path: own, operation, resource }: RouteInfo,
  mount: string,
): readonly [string, string] | null {
  const path = mount + own;
  if (operation === 'import') return [path.slice(0, path.lastIndexOf('/')), resource];
  return operation === 'list' || operation === 'create' || operation === 'export' ? [path, resource] : null;
}

function addressOf(path: readonly string[], wanted: readonly string[]): string | null {
  const head = path.slice(0, -wanted.length);
  const tail = path.slice(-wanted.length);
  const isSame = (part: string, at: number) =>
    part.startsWith(':') ? wanted[at] !== '' : part === wanted[at];
  if (wanted.length >= path.length || head.some((part) => part.startsWith(':')) || !tail.every(isSame))
    return null;
  return [...head, ...wanted.map(encodeURIComponent)].join('/');
}
