/** Checks a body by hand, as code without a schema does it. */

/** Values that a client may write. */
export interface ArticleValues {
  readonly title: string;
  readonly body: string;
  readonly category: string;
  readonly author: string | null;
  readonly price: number;
  readonly stock: number;
  readonly active: boolean;
}

type Check = (value: unknown) => boolean;

const isText =
  (longest: number): Check =>
  (value) =>
    typeof value === 'string' && value.length <= longest;
const isAuthor: Check = (value) => value === null || isText(80)(value);

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['title', isText(120)],
  ['body', isText(10_000)],
  ['category', isText(40)],
  ['author', isAuthor],
  ['price', Number.isFinite],
  ['stock', Number.isInteger],
  ['active', (value) => typeof value === 'boolean'],
]);

/** The names, in the order of the columns. */
export const VALUE_NAMES = [...CHECKS.keys()] as readonly (keyof ArticleValues)[];

/** The body of a create, or null when something is missing, wrong or unknown; the author may be left out. */
export function checkValues(body: unknown): ArticleValues | null {
  const values = checkChanges(body);
  if (!values) return null;
  const complete = { author: null, ...values };
  return VALUE_NAMES.every((name) => complete[name] !== undefined) ? (complete as ArticleValues) : null;
}

/** The body of an update, or null when something is wrong or unknown. */
export function checkChanges(body: unknown): Partial<ArticleValues> | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return null;
  for (const [name, value] of Object.entries(body)) if (!CHECKS.get(name)?.(value)) return null;
  return body;
}
