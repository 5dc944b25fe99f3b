/** The settings of each resource for the provider. The compiler compares them with the paths of the OpenAPI document. */

/** A path at which records are listed, and read one by one below it: `/cities`, where there is `/cities/{id}`. */
export type ResourcePath<Paths> = {
  [Path in keyof Paths & string]: `${Path}/{id}` extends keyof Paths ? Path : never;
}[keyof Paths & string];

/** Parameters of a list beside its filter, its order and its page: `fields` and `include`. */
export type ListQuery<Paths, Path extends keyof Paths> = Omit<
  QueryOf<Paths, Path>,
  'q' | 'sort' | 'page' | 'size' | 'after' | 'before'
>;

/** Parameters of the groups of a resource beside its filter: `group`, measures and others. */
export type AggregateQuery<Paths, Path extends keyof Paths & string> = `${Path}/aggregate` extends keyof Paths
  ? Omit<QueryOf<Paths, `${Path}/aggregate`>, 'q'>
  : never;

/** A resource of a document. */
export type Resource<Paths> = {
  [Path in ResourcePath<Paths>]: { readonly path: Path } & Key<RecordOf<Paths, Path>> &
    Pagination<QueryOf<Paths, Path>> &
    Tags<HeaderOf<Paths, `${Path}/{id}`>> &
    Bulk<Paths[Path]> &
    Nested<RecordOf<Paths, Path>> &
    Labels<RecordOf<Paths, Path>>;
}[ResourcePath<Paths>];

/** The same, where the program runs and the document is not known. */
export interface AnyResource {
  readonly path: string;
  readonly key?: string;
  readonly pagination?: 'offset' | 'cursor';
  readonly tags?: boolean;
  readonly bulk?: boolean;
  readonly nested?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** Relations whose records are written with this one, by the option `nested`. A form has a list of each. */
type Nested<Item> = { readonly nested?: readonly (keyof Item & string)[] };

/** Labels of the attributes in messages, where they are others than react-admin makes of the names. */
type Labels<Item> = { readonly labels?: { readonly [Attribute in keyof Item & string]?: string } };

/** The attribute that paths address a record by: the primary key, or the `id` of `@Crud`. It needs no mention where it is called `id`, as react-admin wants it. */
type Key<Item> = 'id' extends keyof Item
  ? { readonly key?: keyof Item & string }
  : { readonly key: keyof Item & string };

/** An export may have `after`, too. */
type Pagination<Query> = 'before' extends keyof Query
  ? { readonly pagination: 'cursor' }
  : { readonly pagination?: 'offset' };

/** True where records have tags, so that changes are made with `If-Match`. */
type Tags<Header> = 'If-Match' extends keyof Header ? { readonly tags: true } : { readonly tags?: false };

/** True where many records are changed and deleted at once: the endpoints `updateMany` and `deleteMany`. */
type Bulk<Item> = Item extends { patch: object; delete: object }
  ? { readonly bulk?: boolean }
  : { readonly bulk?: false };

type QueryOf<Paths, Path extends keyof Paths> = Paths[Path] extends {
  get: { parameters: { query?: infer Query } };
}
  ? Known<Query>
  : unknown;

type HeaderOf<Paths, Path> = Path extends keyof Paths
  ? Paths[Path] extends { patch: { parameters: { header?: infer Header } } }
    ? Known<Header>
    : unknown
  : unknown;

type RecordOf<Paths, Path extends keyof Paths> = Paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': { items: (infer Item)[] } } } } };
}
  ? Item
  : unknown;

/** Without `undefined`; and nothing is known of what is not there, which would have every property otherwise. */
type Known<Part> = [NonNullable<Part>] extends [never] ? unknown : NonNullable<Part>;
