/** What the compile phase produces: everything a resource needs, decided and frozen. */
import type {
  CanonicalFilterOperator,
  Class,
  CrudOptions,
  Dependency,
  Endpoint,
  ModelClass,
} from '../metadata/crud-options.js';
import type { ModelInfo } from '../model/model-info.js';
import type { AccessPlan } from './access-plan.js';
import type { IdKind, IdParser } from './compile-id.js';

/** One column of an order. */
export interface SortTerm {
  readonly attribute: string;
  readonly descending: boolean;
}

/** Rows per page. */
export interface PageSize {
  readonly default: number;
  readonly max: number;
}

/** Which attributes the user hid from answers, or from bodies. */
export interface Exposure {
  readonly unreadable: ReadonlySet<string>;
  readonly unwritable: ReadonlySet<string>;
  /** What is wrong with hiding an attribute without which no row can be created, by attribute. */
  readonly undecided: ReadonlyMap<string, string>;
}

/** A model to serve, with the options that apply to it. */
export interface ResourceDeclaration {
  readonly model: ModelClass;
  readonly options: CrudOptions;
}

/** A resource, compiled. */
export interface ResourcePlan {
  readonly name: string;
  readonly model: ModelClass;
  readonly info: ModelInfo;
  readonly exposure: Exposure;
  /** `/blog-posts`; empty when the resource is the root of its router. */
  readonly prefix: string;
  readonly tags: readonly string[];
  /** What the records are, for the documentation. */
  readonly description: string | null;
  readonly endpoints: ReadonlySet<Endpoint>;
  readonly pagination: 'offset' | 'cursor';
  readonly pageSize: PageSize;
  readonly filters: ReadonlyMap<string, readonly CanonicalFilterOperator[]>;
  readonly sortable: readonly string[];
  /** Total: the primary key is always part of it. */
  readonly defaultSort: readonly SortTerm[];
  readonly explicitSchemas: {
    readonly read: Class | null;
    readonly create: Class | null;
    readonly update: Class | null;
  };
  readonly dependencies: readonly Dependency[];
  readonly parseId: IdParser;
  /** `custom`: ids are read by a function of the user's, which may give anything. */
  readonly idKind: IdKind;
  readonly unknownQuery: 'reject' | 'ignore';
  /** Who sees and writes what; null is everybody everything. */
  readonly access: AccessPlan | null;
}
