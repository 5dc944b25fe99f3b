/** Result of the compile phase: everything a resource needs, decided and frozen. */
import type { AccessRule, RowRule, ScopeRule, SetValue, VisibleRule } from '../declare/access-options.js';
import type { CountMode } from '../declare/count-options.js';
import type {
  CanonicalFilterOperator,
  Class,
  CrudOptions,
  Dependency,
  JsonType,
  ModelClass,
  Operation,
} from '../declare/crud-options.js';
import type { RuleName } from '../declare/endpoint.js';
import type { NullPlace } from '../declare/sort-options.js';
import type { ColumnType } from '../describe/column-type.js';
import type { ModelInfo, RecordInfo } from '../describe/model-info.js';
import { hasKeyIn, type Relation } from '../describe/relations.js';
import type { IdKind, IdParser, IdPart } from './compile-id.js';

/**
 * One column of an order.
 *
 * @example repository.page({ page: 1, size: 20, sort: [{ attribute: 'population', descending: true, nulls: 'last' }] })
 */
export interface SortTerm {
  readonly attribute: string;
  readonly descending: boolean;
  /** Place of NULLs, in either direction. Default: behind the largest value, which is first where the order descends. */
  readonly nulls?: NullPlace;
  /** The value that is compared in the place of that of the attribute. Terms of a `ListQuery` have it: pass them on as they are. */
  readonly value?: SortValue;
}

/**
 * A value of an order: the small letters of the attribute, a text inside of a JSONB attribute, a key of the record behind a relation, or
 * the SQL of a feature.
 */
export type SortValue =
  | { readonly kind: 'lower' }
  | { readonly kind: 'json'; readonly attribute: string; readonly path: readonly string[] }
  | { readonly kind: 'related'; readonly related: RelatedPlan; readonly key: SortKey }
  | RankValue;

/** A value that is computed for each row, of pages by number alone. It is written as a condition in SQL is: `FragmentFilter`. */
export interface RankValue {
  readonly kind: 'rank';
  readonly texts: readonly string[];
  readonly parts: readonly (string | { readonly attribute: string } | { readonly column: string })[];
  /** So many rows are sorted, the first that are found: it would take too long for all. */
  readonly among: number;
}

/** The same for both directions. */
export type SortKey = Omit<SortTerm, 'descending'>;

/** Rows per page. */
export interface PageSize {
  readonly default: number;
  readonly max: number;
}

/** Modes in which the rows of a list may be counted. */
export interface CountPlan {
  readonly default: CountMode;
  readonly allow: readonly CountMode[];
  /** Rows that are counted at most where the mode is `capped`. */
  readonly cap: number;
}

/** Attribute and operators of a filter. */
export interface FilterPlan {
  /** The attribute that holds it. */
  readonly attribute: string;
  /** Type of the attribute, or of the values inside of it. */
  readonly type: ColumnType;
  /** Type of the operands. */
  readonly compared: ColumnType;
  /** JSON type of the values where the name is a path into JSON: `details.size`. */
  readonly jsonType?: JsonType;
  readonly operators: readonly CanonicalFilterOperator[];
  /** True for ranges, for which an operator may be another one in SQL. */
  readonly ofRange?: true;
  /** Type of the column, where it holds fewer values than the attribute. */
  readonly narrower?: ColumnType | undefined;
}

/** An option that may be `'*'`. */
export type EveryOption = 'filterAllow' | 'sortAllow';

/** Attributes that the user hid from answers, or from bodies. */
export interface Exposure {
  readonly unreadable: ReadonlySet<string>;
  readonly unwritable: ReadonlySet<string>;
  /** Problems of hiding an attribute without which no row can be created, by attribute. */
  readonly undecided: ReadonlyMap<string, string>;
}

/** A model to serve, with the options that apply to it. */
export interface ResourceDeclaration {
  readonly model: ModelClass;
  readonly options: CrudOptions;
  /** False for the target of a relation that has no routes of its own, and needs no id. Default: true. */
  readonly isServed?: boolean;
  /** Why the routes of the resource may hide rows that its other rules do not, as ends of a sentence. Default: none. */
  readonly guards?: readonly string[];
  /** The same for a single record, as far as its repository does not. Default: none. */
  readonly readGuards?: readonly string[];
  /** Why the routes of the resource may refuse or change writes that its other rules do not. Default: none. */
  readonly writeGuards?: readonly string[];
}

/** Attribute by which the states of a row differ. */
export interface EntityTagPlan {
  /** `moment` where a trigger keeps a timestamp. */
  readonly kind: 'version' | 'moment' | 'xmin';
  readonly attribute: string;
  /** The largest state that a row can have. */
  readonly maximum: bigint;
  /** True where no request may read it. Default: false. */
  readonly isHidden?: boolean;
}

/** Classes of the user's in the place of derived ones; null is none. */
export type ExplicitSchemas = Readonly<Record<'read' | 'create' | 'update', Class | null>>;

/** None of them. */
export const NO_SCHEMAS: ExplicitSchemas = Object.freeze({ read: null, create: null, update: null });

/** Attributes of which nothing is hidden. */
export const OPEN_EXPOSURE: Exposure = Object.freeze({
  unreadable: new Set<string>(),
  unwritable: new Set<string>(),
  undecided: new Map(),
});

/** A resource, compiled. */
export interface ResourcePlan {
  readonly name: string;
  readonly model: ModelClass;
  readonly info: ModelInfo;
  readonly exposure: Exposure;
  /** Attributes that no answer shows: those that `exposure` hides, and those that the `readSchema` lacks. */
  readonly hidden: ReadonlySet<string>;
  /** `/blog-posts`; empty when the resource is the root of its router. */
  readonly prefix: string;
  readonly tags: readonly string[];
  /** Description of the records, for the documentation. */
  readonly description: string | null;
  readonly endpoints: ReadonlySet<Operation>;
  readonly pagination: 'offset' | 'cursor';
  readonly pageSize: PageSize;
  /** Null where answers say nothing of it. */
  readonly count: CountPlan | null;
  /** By name. */
  readonly filters: ReadonlyMap<string, FilterPlan>;
  readonly sortable: readonly string[];
  /** The keys of the names in `sortable` whose order is another one than that of their column, by name. */
  readonly sortKeys: ReadonlyMap<string, readonly SortKey[]>;
  /** The options that are `'*'`, each with the sentence about left-out attributes; null is none. The catalogue may add to it. */
  readonly everything: ReadonlyMap<EveryOption, () => string | null>;
  /** Total: the primary key is always part of it. */
  readonly defaultSort: readonly SortTerm[];
  readonly explicitSchemas: ExplicitSchemas;
  /** True where clients send the key of a new record, so that a replacement may create it; else it changes an existing record. */
  readonly isKeyGiven: boolean;
  readonly dependencies: readonly Dependency[];
  readonly parseId: IdParser;
  /** `custom`: a function of the user's reads ids, and may return any value. */
  readonly idKind: IdKind;
  /** The attributes of an id, each with its parser. */
  readonly idParts: readonly IdPart[];
  readonly unknownQuery: 'reject' | 'ignore';
  /** Attribute of the states of a row; null is a resource without strong tags. */
  readonly entityTag: EntityTagPlan | null;
  /** `required` where changes need a condition. */
  readonly ifMatch: 'optional' | 'required';
  /** Rules of access; null allows everything to all requests. */
  readonly access: AccessPlan | null;
  readonly relations: RelationsPlan;
  /** Compiled options of features, by name. */
  readonly features: Readonly<Record<string, unknown>>;
}

/** A plan while its options are checked: all but the parts that need other resources. */
export type UncheckedPlan = Omit<ResourcePlan, 'parseId' | 'idKind' | 'idParts' | 'relations'>;

/** A relation, and how the rows behind it are shown. */
export interface RelatedPlan {
  readonly relation: Relation;
  /** Plan of the target: its own where it is served, else one from its model alone. */
  readonly target: ResourcePlan;
  /** The rows between the two; null where there are none. */
  readonly through: RecordInfo | null;
  /** The `readSchema` of the model in between; null where it has none. */
  readonly throughSchema: Class | null;
  /** The rules of the model in between; null allows everything to all requests. */
  readonly throughAccess: AccessPlan | null;
  /** The rows that may be seen through this relation, beside the rules of their model; null is all of those. */
  readonly where: VisibleRule | null;
}

/** True where some requests may not read a key of a relation. @param parent the rules of its parent */
export function hasRestrictedKey(
  { relation, target, throughAccess }: RelatedPlan,
  parent: AccessPlan | null,
): boolean {
  const between = restrictedNames(throughAccess);
  return hasKeyIn(relation, restrictedNames(parent), restrictedNames(target.access), between);
}

/** Makes the reader of the compiled option of a feature. @param absent where a resource has none */
export function featureOption<T>(name: string, absent: T): (plan: Pick<ResourcePlan, 'features'>) => T {
  return ({ features }) => (features[name] as T | undefined) ?? absent;
}

/** A relation that may be included. */
export interface IncludePlan extends RelatedPlan {
  /** `reviews.author` */
  readonly path: string;
  /** Rows of each parent; null where it has one at most. */
  readonly size: PageSize | null;
  /** Null where answers say nothing of it. */
  readonly count: CountPlan | null;
  /** Relations that may be included in the included rows, by name. */
  readonly include: ReadonlyMap<string, IncludePlan>;
}

/** A relation that may be filtered by. */
export interface RelationFilter {
  readonly related: RelatedPlan;
  /** Filters of the target, by name. */
  readonly filters: ReadonlyMap<string, FilterPlan>;
  /** Relations of the target to one record, by name. */
  readonly relations: ReadonlyMap<string, RelationFilter>;
}

/** The relations of a resource. They are compiled when all resources are, because each may lead to any other. */
interface RelationsPlan {
  /** Relations that may be included, by name. */
  readonly include: ReadonlyMap<string, IncludePlan>;
  /** Relations that may be filtered by, by name. */
  readonly filters: ReadonlyMap<string, RelationFilter>;
  /** Relations that have a list under each record, by name. */
  readonly subresources: ReadonlyMap<string, SubresourcePlan>;
  /** Compiled options of features that lead to other resources, by name. */
  readonly led: ReadonlyMap<string, unknown>;
}

/** The relations of a plan, before any is compiled. */
export function noRelations(): GrowingPlan['relations'] {
  return Object.freeze({ include: new Map(), filters: new Map(), subresources: new Map(), led: new Map() });
}

/** A relation to many that has a list under each record. */
export interface SubresourcePlan extends RelatedPlan {
  /** Behind the prefix of the parent: `/:id/reviews`. */
  readonly path: string;
  /** Name in the place of a method's: `subresources.reviews`. No method has a dot. */
  readonly method: string;
}

/** All relations that may be included, those of included rows behind their parents. */
export function everyInclude(include: ReadonlyMap<string, IncludePlan>): readonly IncludePlan[] {
  return [...include.values()].flatMap((each) => [each, ...everyInclude(each.include)]);
}

/** A plan whose relations are compiled when all resources are. */
export interface GrowingPlan extends ResourcePlan {
  readonly relations: {
    readonly include: Map<string, IncludePlan>;
    readonly filters: Map<string, RelationFilter>;
    readonly subresources: Map<string, SubresourcePlan>;
    readonly led: Map<string, unknown>;
  };
}

/** A resource whose relations are to be compiled. */
export interface RelatedResource {
  readonly plan: GrowingPlan;
  readonly declaration: ResourceDeclaration;
}

/** The rules of one attribute; null is none. */
export interface FieldPlan {
  readonly read: AccessRule | null;
  readonly create: AccessRule | null;
  readonly update: AccessRule | null;
}

/** Names of attributes that not every request may read. */
export function restrictedNames(access: Pick<AccessPlan, 'fields'> | null): ReadonlySet<string> {
  return new Set([...(access?.fields ?? [])].flatMap(([name, { read }]) => (read === null ? [] : name)));
}

/** The rules of a resource. */
export interface AccessPlan {
  /** By operation; those of `bootstrap` among them. */
  readonly can: ReadonlyMap<RuleName, RowRule>;
  /** By attribute; those of `bootstrap` among them. */
  readonly scope: ReadonlyMap<string, ScopeRule>;
  readonly visible: VisibleRule | null;
  /** By attribute. */
  readonly fields: ReadonlyMap<string, FieldPlan>;
  /** Values that the server sets, by attribute. */
  readonly set: ReadonlyMap<string, SetPlan>;
}

/** A value that the server sets. */
export interface SetPlan {
  readonly value: SetValue;
  readonly on: 'create' | 'update' | 'both';
}
