/** Options of `@Crud(...)`: types only, nothing is checked or computed here. */
import type { RequestHandler } from 'express';
import type { Model, ModelStatic } from 'sequelize';
import type { AccessOptions } from './access-options.js';
import type { AggregateOptions } from './aggregate-options.js';
import type { Attribute, RelationName } from './attributes.js';
import type { CountOptions } from './count-options.js';
import type { BulkEndpoint, Endpoint, PastEndpoint } from './endpoint.js';
import type { ExportFormat, ExportOptions } from './export-options.js';
import type { FilterOperator } from './filter-operators.js';
import type { ChangesOptions, HistoryOptions } from './history-options.js';
import type { ImportOptions } from './import-options.js';
import type { IncludeAllow, SubresourceAllow } from './include-options.js';
import type { LinkAllow } from './link-options.js';
import type { NestedAllow } from './nested-options.js';
import type { SearchAllow } from './search-options.js';
import type { SortAllow } from './sort-options.js';

export { BULK_ENDPOINTS, type BulkEndpoint, ENDPOINTS, type Endpoint, OPERATIONS } from './endpoint.js';
export type { CanonicalFilterOperator } from './filter-operators.js';

/** A sequelize-typescript model class. */
export type ModelClass<M extends Model = Model> = ModelStatic<M>;

/** Any class, abstract ones excluded. */
export type Class<T = unknown> = new (...args: never[]) => T;

/** The same, by the name that users import. */
export type Operation = Endpoint | BulkEndpoint | PastEndpoint;

/**
 * The operators that an attribute may be compared with; true is every one of its column's type.
 *
 * @example ['==', '=in=']
 */
export type OperatorAllow = true | readonly FilterOperator[];

/** Types by which values inside of JSON can be compared. */
export const JSON_TYPES = ['string', 'number', 'boolean'] as const;

/** Type of a value inside of JSON. No column has it, so the option names it. A value of another type counts as NULL. */
export type JsonType = (typeof JSON_TYPES)[number];

/**
 * The attributes of a relation's model that a client may filter by, also those of its relations to one record: `'author.name'`.
 * True is the list of own attributes in the `filterAllow` of that model; an empty list allows `=isempty=` and `=isnull=` only.
 *
 * @example ['rating', 'author.name']
 * @example { rating: ['=ge=', '=le='], 'details.language': 'string' }
 */
export type RelatedFilterAllow =
  | true
  | readonly string[]
  | { readonly [attribute: string]: OperatorAllow | JsonType };

/**
 * Attributes that a client may filter by, values inside of JSONB with the type that they have, and attributes behind
 * relations, over two relations at most.
 *
 * @example ['country', 'population']                        // every operator of the column's type
 * @example { name: ['==', '=like='], population: true }     // narrowed per attribute
 * @example { 'details.size': 'number' }                     // details.size>=4, for { "size": 5 } in the column details
 * @example { 'country.region': true, reviews: ['rating'] }  // country.region==Europe, reviews=any=(rating>=4)
 */
export type FilterAllow<M extends Model> =
  | readonly (Attribute<M> | RelationName<M> | `${RelationName<M>}.${string}`)[]
  | (string extends Attribute<M>
      ? { readonly [name: string]: OperatorAllow | RelatedFilterAllow | JsonType }
      : { readonly [A in Attribute<M>]?: OperatorAllow } & {
          readonly [R in RelationName<M>]?: RelatedFilterAllow;
        } & { readonly [P in `${RelationName<M>}.${string}`]?: OperatorAllow | JsonType } & {
          readonly [P in `${Attribute<M>}.${string}`]?: JsonType;
        });

/**
 * Something that runs before a route does any work: an Express handler, or a routing-controllers middleware class
 * (one with a `use(request, response, next)` method).
 */
export type Dependency = RequestHandler | Class<{ use: (...args: never[]) => unknown }>;

/**
 * Type of the id in a path. `Number`, `String` and `BigInt` mean 'integer', 'string' and 'bigint'; they are
 * functions of a text, and naming their types would leave the parameter of an arrow function without one.
 */
export type IdType = 'integer' | 'bigint' | 'uuid' | 'string' | ((raw: string) => unknown);

/** The types of the parts of an id of several attributes, by attribute. */
export type IdTypes = Readonly<Record<string, IdType>>;

/** A value of the attribute that marks deleted rows. */
export type MarkValue = string | number | bigint | boolean;

/**
 * The options of `@Crud`, `crudRouter` and `crudController`.
 *
 * @example
 * ```ts
 * @Crud({ pageSize: { default: 50, max: 200 }, endpoints: ['list', 'read'] })
 * @Table({ tableName: 'cities' })
 * class City extends Model {}
 * ```
 */
export interface CrudOptions<M extends Model = Model> extends AccessOptions<M> {
  /** Path of the resource. Default: `/` and the kebab-case plural of the model's name (`BlogPost` -> `/blog-posts`). */
  prefix?: string;
  /** OpenAPI tags. Default: the model's name. */
  tags?: readonly string[];
  /** Description of the records, in Markdown, for the OpenAPI document. Default: none. */
  description?: string;
  /**
   * The operations that get a route. `restore` and `purge` are for models that are `paranoid`, or have `softDelete`: `POST /{id}/restore` undoes the
   * soft delete of a record, and `DELETE /{id}/purge` removes it for good. `replace`: `PUT /{id}` sets
   * all values of a record, and missing values take their defaults. It creates the record, too, where clients choose the key. `createMany`,
   * `updateMany` and `deleteMany` write many records at once: `POST /many`, or `POST /` with an array, `PATCH /` with an array or with `q`, and
   * `DELETE /` with `q`. `upsert` is `POST /?on_conflict=code`, for models with the option `upsert`; it needs `create`. `history` and `revert` are for models with the option `history`, and need a rule `can.history`: `GET /{id}/history`
   * shows the changes of a record, and `POST /{id}/revert` goes back to one of them. `changes` is the option of this name.
   * Default: `list`, `read`, `create`, `update` and `delete`.
   *
   * @example ['list', 'read', 'create', 'createMany']
   */
  endpoints?: Iterable<Operation | 'changes'>;
  /**
   * `true` is short for `endpoints: ['list', 'read']`, for a view or a table that others write. A list names attributes that
   * only the table fills, as by a trigger. They are in answers, filters and orders, and no statement writes them. In a body they are 422
   * `readOnly`. A list is a fact of the table, so that it has to be in `@Crud` of the model. Default: none.
   *
   * @example true
   * @example ['searchable', 'changedAt']
   */
  readOnly?: boolean | readonly Attribute<M>[];
  /**
   * Limits of `createMany`, `updateMany`, `deleteMany` and arrays of `upsert`: `max` records in a request, from 1 to 1000. A longer array is 413. It is
   * also the highest `max_affected`, which is 100 at most where a request does not say. Default: 100.
   *
   * @example { max: 500 }
   */
  bulk?: { max?: number };
  /**
   * Unique keys by which the endpoint `upsert` finds a record, each a list of attributes. `POST /?on_conflict=code` changes the record that
   * has the values of the body in these attributes, or creates one. The table needs a unique index over exactly the columns of each.
   * Default: none.
   *
   * @example [['code'], ['countryCode', 'name']]
   */
  upsert?: readonly (readonly Attribute<M>[])[];
  /**
   * Children that requests write together with their record, such as an order with its lines. Default: none.
   *
   * @example { lines: { max: 200 } }
   */
  nested?: NestedAllow;
  /**
   * Imports of files: `POST /import` with `text/csv` or `application/x-ndjson`, read in chunks. `mode`, `on`, `atomic`, `dry_run` and
   * `delimiter` are its parameters. Needs the package `csv-parse` for CSV. Default: no such route.
   *
   * @example { modes: ['create', 'update'], maxBytes: '200mb' }
   */
  import?: ImportOptions;
  /**
   * Read-only properties in the body of a PATCH or PUT. `'refuse'`: each is 422. `'ignore-unchanged'`: a property with the value
   * of the record is left out, so that a client may send a record as a GET returned it. Another value is 422. The record is locked and
   * read before the write, in one transaction. Arrays of records are refused as before. Default: `'refuse'`.
   *
   * @example 'ignore-unchanged'
   */
  sentBack?: 'refuse' | 'ignore-unchanged';
  /**
   * Numbers that a change may add to: `PATCH` with `{"stock": {"$inc": -1}}`, of one record or many. The sum is made by the statement that writes it,
   * so that two clients never lose an amount. A sum out of range, one that a check of the table or a validator of the attribute refuses, and one
   * of NULL is 422. `BIGINT` and `DECIMAL` take texts. Default: none.
   *
   * @example ['stock', 'views']
   */
  increment?: readonly Attribute<M>[];
  /**
   * Makes a delete set an attribute and keep the row, as `paranoid` does with `deletedAt`. Rows with `deleted` are missing everywhere; rows
   * with NULL or any other value are alive. `restore` sets `alive`. No body sets the attribute; a new row has its default, or `alive`.
   * It belongs to the `@Crud` of the model, because relations and foreign keys follow it. Sequelize's own methods do not apply it.
   * Default: a delete removes the row, or sets `deletedAt` where the model is `paranoid`.
   *
   * @example { attribute: 'status', deleted: 'archived', alive: 'active' }
   */
  softDelete?: { attribute: Attribute<M>; deleted: MarkValue; alive: MarkValue | null };
  /**
   * `true`: only rows of the table itself, and none of tables that inherit from it, by `FROM ONLY`. Without it an id may be that of several
   * rows, which is 409. It is a fact of the table, so that it has to be in `@Crud` of the model; the model's own methods of Sequelize have
   * it, too. Default: false.
   */
  only?: boolean;
  /** Paging of the list. Default: `'offset'`. */
  pagination?: 'offset' | 'cursor';
  /** Rows per page. Default: 20, and at most 100. */
  pageSize?: { default?: number; max?: number };
  /**
   * Files of all records of the list: `GET /cities?format=csv`, in constant memory, whole or visibly cut. Default of the rule `can.export`:
   * `can.list`. Default: none.
   *
   * @example ['csv', 'ndjson']
   */
  export?: readonly ExportFormat[] | ExportOptions;
  /**
   * Stores each change of the table with its actor, for every writer: triggers fill the table `crud_changes`, made by `createAll` and printed
   * by `npx crud-controllers sql`. Writes of the resource are 503 as long as a trigger is missing. Not for views. Default: nothing is stored.
   *
   * @example { exclude: ['avatar'], retention: '2 years' }
   */
  history?: boolean | HistoryOptions<Attribute<M>>;
  /**
   * Stores changes as `history` does, and answers them at `GET /cities/changes`: in order, without gaps, and judged by the rules of the list.
   * Default: none.
   *
   * @example { retention: '30 days' }
   */
  changes?: boolean | ChangesOptions;
  /** Counts that clients may choose; `true` is `{}`. Default: pages by number have an exact total, and cursors none. */
  count?: true | CountOptions;
  /**
   * Attributes, JSON values and relations that a client may filter by. `'*'` is every attribute whose column can be compared and whose
   * value answers show unchanged, and no relation. The start logs the other attributes. Default: nothing.
   *
   * @example { name: ['==', '=like='], population: true }
   */
  filterAllow?: FilterAllow<M> | '*';
  /**
   * Texts in which clients may search for words, by the parameter `search` of lists. Each word has to occur in one of the attributes,
   * anywhere and in any case. Or a vector of PostgreSQL's full text search. The start logs missing indexes. Default: nothing.
   *
   * @example ['name', 'adminName']
   * @example { vector: 'tsv', of: ['title', 'body'], config: 'english' }
   */
  search?: SearchAllow<M>;
  /**
   * Attributes that a client may sort by, in a list, or in an object with the order of each. `'*'` is every one that has an order, as for
   * `filterAllow`. Default: the primary key; of several columns the first.
   *
   * @example { name: true, population: { nulls: 'last' } }
   */
  sortAllow?: SortAllow<M> | '*';
  /** The order of a list without `sort`, such as `'-createdAt,name'`, each name as `sortAllow` has it. Default: the primary key, ascending. */
  defaultSort?: string;
  /**
   * Groups of records that clients may request, at `GET /cities/aggregate`, with the values that are computed of each: inside every rule of access, as the
   * list. Default: nothing.
   *
   * @example { group: ['countryCode', { createdAt: ['day', 'month'] }], sum: ['population'] }
   */
  aggregate?: AggregateOptions<Attribute<M>, RelationName<M>>;
  /** Relations that a client may include in a record. Default: nothing. */
  include?: IncludeAllow;
  /** Relations that have a list under each record, such as `GET /cities/{id}/reviews`. Default: none. */
  subresources?: SubresourceAllow;
  /**
   * Relations whose links clients may change: `PUT` and `DELETE /users/1/groups/7`, `POST` and `PUT /users/1/groups`. Each is a sub-resource, too.
   * The table of a join model needs a unique index over its two foreign keys. The rule `can.links` is `can.update` where it is not given. Default: none.
   *
   * @example { groups: true, tags: { max: 200, fields: ['role'] } }
   */
  links?: LinkAllow;
  /** Replaces the derived class that shapes answers. */
  readSchema?: Class;
  /** Replaces the derived class that checks the body of a create. */
  createSchema?: Class;
  /** Replaces the derived class that checks the body of an update. */
  updateSchema?: Class;
  /** Run on every route, in order, before the body is read and before any query. Default: none. */
  dependencies?: readonly Dependency[];
  /**
   * The attributes that address a record: in paths, `Location`, items of `updateMany`, `@InjectId()`, `readId`, and repositories of
   * the model. The columns must be unique together and NOT NULL in the table. Relations, cursors and the default order keep
   * the primary key, which may be hidden with `@Exclude()`. Several are named in the order of their index; a path has them as
   * `10248,11`, with `~0 ~1 ~2 ~3` for `~ / , \\` in a part. With `member` answers have this text, too, for clients that need one
   * member such as `id`; it belongs to the `@Crud` of the model. Default: the primary key, in the order of the model, and no member.
   *
   * @example 'slug'
   * @example ['orderId', 'lineNo']
   * @example { attributes: ['orderId', 'lineNo'], member: 'id' }
   */
  id?:
    | Attribute<M>
    | readonly Attribute<M>[]
    | { attributes: Attribute<M> | readonly Attribute<M>[]; member?: string };
  /**
   * Type of the id in a path; a function may throw to refuse it. A name has to fit the type of the attribute that addresses a record.
   * Of an id of several attributes an object by attribute. Default: from the types of the attributes.
   *
   * @example { code: (raw) => raw.toUpperCase() }
   */
  idType?: IdType | IdTypes;
  /**
   * Source of the strong `ETag` of a record. `'version'`: the attribute of `version: true` in `@Table`. `'xmin'`: the
   * system column with the transaction that wrote the row, for tables of PostgreSQL without a version; not for views
   * and foreign tables, and a restored backup has other tags. `false`: none. Generated writes, repositories and
   * `save()` count a version. `Model.update()` of Sequelize, raw SQL and `ON DELETE SET NULL` leave it, and a record
   * that is created again under the key of another begins at 0. Then a tag may be that of other values; `'xmin'` sees
   * all of these. `{ attribute }` names an integer that counts as a version does, where the model has no `version`: writes and `save()` add 1, and
   * `by: 'database'` leaves that to a trigger, and works with a timestamp that answers show, too. It belongs to the `@Crud` of the model. `If-Match` that names another tag is 412,
   * and so is any `If-Match` on a resource without tags. Default: `'version'` where the model has one, else false.
   *
   * @example 'xmin'
   */
  etag?: 'version' | 'xmin' | false | { attribute: Attribute<M>; by?: 'us' | 'database' };
  /**
   * Precondition of a change. `'required'`: a change without `If-Match` is 428 (RFC 6585, 3), and so is an item of
   * `updateMany` without its version. It needs tags, and cannot be with `deleteMany` and `upsert`. Default: `'optional'`.
   *
   * @example 'required'
   */
  ifMatch?: 'optional' | 'required';
  /**
   * Handling of an unknown query parameter: 400, or nothing. Routes of many records, imports, links, histories and upserts refuse them in any
   * case. Default: `'reject'`.
   */
  unknownQuery?: 'reject' | 'ignore';
}
