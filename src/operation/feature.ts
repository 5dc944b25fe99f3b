/** A capability as one value: its parameters, its changes of operations and answers, and its problems. */
import type { Request } from 'express';
import type { ResourceOptionCompiler } from '../compile/compile-options.js';
import type { RelationCompiler } from '../compile/compile-plan.js';
import type { ResourceCheck } from '../compile/compile-resource.js';
import type { RelatedPlan, ResourcePlan } from '../compile/resource-plan.js';
import type { Endpoint, ModelClass } from '../declare/crud-options.js';
import type { RuleName } from '../declare/endpoint.js';
import type { CursorCodec } from '../request/query/cursor-codec.js';
import type { CursorListQuery, ListQuery, OffsetListQuery } from '../request/query/list-query.js';
import type { Filter } from '../request/query/predicate.js';
import type { JsonSchema } from '../schema/json-schema.js';
import type { RequestIssue } from '../schema/request-issue.js';
import type { Logger } from '../util/logger.js';
import type { Maybe } from '../util/promises.js';
import type { Access, AccessForm } from './access.js';
import type { BodyForms } from './body-forms.js';
import type { BodyMembers } from './body-members.js';
import type {
  DeleteOperation,
  InsertOperation,
  ListOperation,
  ReadOperation,
  ReplaceOperation,
  UpdateOperation,
} from './operation.js';
import type { ProblemStatus } from './refused-request-error.js';
import type { RelatedAccess } from './related-rows.js';
import type { RouteSettings } from './route-settings.js';
import type { RouteSource } from './route-spec.js';

/** Context that features are compiled for: the resource, and settings of the application. */
export interface FeatureContext {
  readonly plan: ResourcePlan;
  /** The properties of the read schema. */
  readonly readable: readonly string[];
  /** The attributes that answers with these properties are made of; null is all properties. The same for the same object. */
  columnsOf(fields: readonly string[] | null): readonly string[];
  readonly cursors: CursorCodec;
  /** Views of the rows behind relations. */
  readonly views: ViewRegistry;
  /** Options of `bootstrap` that features compile, by name. Default: none. */
  readonly application?: Readonly<Record<string, unknown>>;
}

/** View of the rows of a model, as far as features need it. */
export type ModelView = Pick<FeatureContext, 'readable' | 'columnsOf'>;

/** Finds the view of a model that is served, or included. */
export type ViewRegistry = (model: ModelClass) => ModelView;

/** The state of a row without a version: its tag is that of no other state, and its first write sets one. */
export const NO_VERSION = 'null';

/** The states of a row that a condition names, in the text form of their column, or `NO_VERSION`; the list null is any. */
export type WantedStates = readonly string[] | null;

/** Parsed inputs of a request, by name. A list's are its `ListQuery`. Frozen. */
export interface Inputs
  extends Partial<Omit<OffsetListQuery, 'kind'>>,
    Partial<Omit<CursorListQuery, 'kind'>> {
  readonly kind?: ListQuery['kind'];
  /** The states that the record may be in; null is any. Left out where the request has no condition. */
  readonly ifMatch?: WantedStates;
  /** True where there must be no such record yet. Left out where there may be one. */
  readonly onlyNew?: true;
  /** Number of rows that a write concerns beside its own. Left out where there are none. */
  readonly otherRows?: number;
  /** Left out where a write concerns its row alone. */
  readonly touch?: UpdateOperation['touch'];
  readonly [name: string]: unknown;
}

/** Facts of a request while an input is read. */
export interface Reading {
  /** The text of a query parameter or header, for an input that depends on another one. */
  textOf(name: string): string | undefined;
  /** True where the route has an input of this name. */
  takes(name: string): boolean;
  /** Inputs that are parsed already. */
  readonly inputs: Inputs;
  /** Access of the request. */
  readonly access: Access;
  /** The record of the path; undefined where there is none. */
  readonly id?: unknown;
  /** Digests of the features, of the inputs that are parsed already. */
  digest(): readonly unknown[];
  /** Access of the request to the rows behind a relation. Only for those that `include` or a filter names. */
  related(plan: RelatedPlan): RelatedAccess;
  /** Problems of the request; inputs add theirs. */
  readonly issues: RequestIssue[];
}

/** A query parameter or a header of some endpoints: how it is read, and how the document describes it, in one place. */
export interface Input {
  readonly in: 'query' | 'header';
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
  /** The rule of `can` without whose consent the parameter is unknown. Default: none. Query parameters only. */
  readonly rule?: RuleName;
  /** True where requests of a form have the parameter; to others it is unknown. Default: all have it. Query parameters only. */
  isFor?(form: AccessForm): boolean;
  /** True where its text names keys of orders. The rules of relations that these lead to are evaluated before it is read. */
  readonly namesKeys?: true;
  /** Name among the inputs. Default: `name`. */
  readonly member?: string;
  /** Value of the input in a request without it. */
  readonly absent?: unknown;
  /** The same for requests that may not see everything. Default: `absent`. */
  absentFor?(form: AccessForm): unknown;
  /**
   * When it is read, from 0, which is the default. Inputs of one turn are read in the order of the document. From `PLACES`
   * on, all conditions on the rows are among the inputs.
   */
  readonly turn?: number;
  /**
   * Called for a request without it, which it may refuse. Default: nothing is missing. Headers only.
   *
   * @param isGiven true where the request has another header
   */
  missing?(isGiven: (name: string) => boolean): void;
  /** True for a header that requests for many records may have, too. */
  readonly isForMany?: boolean;
  /** Undefined leaves no value among the inputs. */
  read(text: string, reading: Reading): unknown;
  /** Describes the input for the document. @returns null where no value is accepted, so that it is left out */
  describe?(): InputDescription | null;
}

/** An input, as the document shows it. */
export interface InputDescription {
  readonly description: string;
  readonly schema: JsonSchema;
  /** Style of the values of an array in a query string (OpenAPI 3.1, `style`). */
  readonly style?: 'form';
  readonly explode?: boolean;
}

/** A header of an answer, as the document shows it. */
export interface HeaderDescription {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

/** An answer before it is sent. */
export interface AnswerDraft {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, or values for code that reads them; undefined is an answer without a body. */
  readonly body: unknown;
}

/** Adds to an answer. */
export type Presenter = (draft: AnswerDraft, result: OperationResult, request: Request) => AnswerDraft;

/** Inputs and result of an operation, as far as answers depend on them. */
export interface OperationResult {
  readonly inputs: Inputs;
  /** Rows that were found or written. */
  readonly count: number;
  /** Rows and attributes that the request may read. Default: everything. */
  readonly form?: AccessForm;
  /** The primary key of the record. */
  key(): unknown;
  /** The value of an attribute of the record, in the text form of its column; null where the answer has none. */
  stored(attribute: string): string | null | undefined;
  /** True where the body follows from the row alone, so that the same row always has the same bytes. */
  readonly isOfRow: boolean;
  /** True where the body is sent as it is: no code of the user's comes after. */
  readonly isFinal: boolean;
}

/** Another form of a list, for clients that accept its type. */
export interface MediaType {
  /** Media type without parameters: `application/x-ndjson`. */
  readonly type: string;
  /** Schema of the whole, for the document. */
  readonly schema: JsonSchema;
  /**
   * The text, in pieces.
   *
   * @param records each as JSON
   * @param envelope the other members of the list, such as `next_cursor`
   */
  write(records: Iterable<string>, envelope: Readonly<Record<string, unknown>>): Iterable<string>;
}

/** Members of a feature by endpoint. One that is left out has those of its base, where it has one. */
export type ByEndpoint<T> = Readonly<Partial<Record<Endpoint, T>>>;

/** The operation of each endpoint. */
export interface OperationByEndpoint {
  readonly list: ListOperation;
  readonly read: ReadOperation;
  readonly create: InsertOperation;
  readonly update: UpdateOperation;
  readonly delete: DeleteOperation;
  readonly restore: UpdateOperation;
  readonly purge: DeleteOperation;
  readonly replace: ReplaceOperation;
  readonly upsert: ReplaceOperation;
}

type OperationSteps = {
  readonly [E in Endpoint]?: (
    operation: OperationByEndpoint[E],
    inputs: Inputs,
    access: Access,
  ) => OperationByEndpoint[E];
};

/** A record that has been written. */
export interface WrittenRecord {
  /**
   * The primary key, in the text form of its column; of a row that is gone the value that addressed it. Of several attributes the text
   * that ids in paths have; empty where rows have no key.
   */
  readonly key: string;
  /** The value of an attribute after the write, in the text form of its column; undefined where the write has none, as a delete. */
  stored(attribute: string): string | null | undefined;
}

interface Written {
  /** A replacement is a `create` or an `update`. */
  readonly endpoint: Endpoint;
  /** Records that were written, at least one. */
  readonly records: readonly WrittenRecord[];
}

interface TransactionStatements {
  /** @param values in the text form of their types, for `$1` and so on */
  write(text: string, values: readonly (string | null)[]): Promise<unknown>;
}

/** Work of features after a write, in its transaction. */
export type AfterWrite = (written: Written, statements: TransactionStatements) => Promise<void>;

/** The turn of inputs that depend on the list, such as cursors. */
export const PLACES = 3;

/** Members of a resource's feature. Each is optional; a feature that is off does not exist. */
export interface Feature {
  readonly inputs?: readonly Input[];
  /**
   * Removes values from a body that its parser must not see. Executed for requests that have one, of one record.
   *
   * @param form of the access of the request
   */
  readonly prepareBody?: ByEndpoint<(request: Request, form: AccessForm, body: unknown) => unknown>;
  /** Forms of values in the bodies of one record and of many. One feature at most has some for an endpoint. */
  readonly forms?: ByEndpoint<BodyForms>;
  /** Members of bodies, also of many records. */
  readonly bodyMembers?: ByEndpoint<BodyMembers>;
  /** Members of the inputs that no request sets. */
  readonly constants?: ByEndpoint<(form: AccessForm) => Inputs>;
  /**
   * Condition on the rows of a list, from its inputs; null is none. It becomes part of `filter`, so that queries, totals, cursors,
   * overrides and repositories have it. Pure.
   */
  condition?(inputs: Inputs): Filter | null;
  /** Value that identifies the rows of a list, for its cursors; undefined is none. Required where `prepare` or `rewrite` changes the rows. */
  digest?(inputs: Inputs, access: Access): unknown;
  /** Called once at the start, for changes that do not depend on a request. Pure. Sequelize's own queries do not see it. */
  readonly prepare?: OperationSteps;
  /** The same for each request that has inputs, or may not see everything. */
  readonly rewrite?: OperationSteps;
  /**
   * Executed after each write of routes and repositories, of one record or many, in the transaction of the write: it rolls the write back by
   * throwing. Writes of Sequelize's own methods have none.
   */
  readonly afterWrite?: AfterWrite;
  /** Other forms of lists. Where code of the user's receives the answer, it is JSON. */
  readonly media?: readonly MediaType[];
  /** Adds to an answer, for these endpoints. Pure; it must not fail, because the row may be written by then. */
  readonly present?: ByEndpoint<Presenter>;
  /** True where the same state of a row may have several answers, because of the inputs. Its tag is of the bytes then. */
  varies?(inputs: Inputs): boolean;
  /** The headers that are added, for the document. */
  readonly headers?: ByEndpoint<Readonly<Record<string, HeaderDescription>>>;
  /** Other answers that succeed, with the record, for the document: the description of each status. */
  readonly records?: ByEndpoint<Readonly<Record<number, string>>>;
  /** Sentences for query parameters that a list does not have, by their names in other interfaces. */
  readonly hints?: Readonly<Record<string, string>>;
  /** Statuses of problems, for the document. */
  readonly problems?: ByEndpoint<readonly ProblemStatus[]>;
  /** Causes of problems, for the document: a sentence behind the description of a status. */
  readonly causes?: Readonly<Partial<Record<ProblemStatus, string>>>;
}

/** Compiles an option of `bootstrap`. Problems that it reports are thrown at once with all others. */
export type OptionCompiler = (value: unknown, report: (problem: string) => void) => unknown;

/** A table beside those of the models. */
export interface OwnTable {
  /** With the schema, quoted. */
  readonly name: string;
  /** Statements that create missing tables and indexes. */
  readonly definition: readonly string[];
  /** Statement that finds it, in a row with the member `exists`. Default: it is found by its name. */
  readonly find?: { readonly text: string; readonly values: readonly string[] };
  /** The fact that it is missing, as an error names it. Default: `is no table` and its name. */
  readonly noun?: string;
  /** The option of `bootstrap` without which nothing needs it. Default: it is needed always. */
  readonly option?: string;
  /** Consequence where it is missing, for people: `writes fail`. */
  readonly failure: string;
}

/** An index of the table of a resource that requests need. */
export interface IndexAdvice {
  /** Requests that it serves: `a search by 'name' (search)`. */
  readonly serves: string;
  readonly attribute: string;
  /** Default: `btree`, behind the attributes of the scope. */
  readonly method?: 'btree' | 'gin' | 'gist';
  /** Operator class of a GIN index, such as `gin_trgm_ops`. Default: that of the type. */
  readonly operators?: string;
  /** The extension that has it. Default: none is needed. */
  readonly extension?: string;
}

/** An index that a table has. */
export interface FoundIndex {
  /** Quoted where it has to be, as those of constraints. */
  readonly name: string;
  /** Null where it is over all rows. */
  readonly predicate: string | null;
  /** Null for one that is not unique, or of a primary key. */
  readonly unique: {
    readonly constraint: string | null;
    readonly definition: string;
    readonly keys: readonly string[];
    /** True where the index could be over some rows only: it is not deferrable, and no foreign key refers to it. */
    readonly canBePartial: boolean;
  } | null;
}

/** Result of the inspection of a table, each line with the name of the resource. */
export interface TableReport {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Several reports as one. */
export function joinReports(reports: readonly (TableReport | undefined)[]): TableReport {
  return {
    problems: reports.flatMap((report) => report?.problems ?? []),
    warnings: reports.flatMap((report) => report?.warnings ?? []),
  };
}

/** Needs of a feature at the start, before any resource is compiled. Each is optional. */
export interface FeatureNeeds {
  /** Options of the feature in `bootstrap`, by name. Compiled values are those of `application`. */
  readonly options?: Readonly<Record<string, OptionCompiler>>;
  /** Options of the feature in `@Crud`, by name. Compiled values are those of `ResourcePlan.features`. */
  readonly resourceOptions?: Readonly<Record<string, ResourceOptionCompiler>>;
  /** Problems of the options of a resource together. */
  readonly check?: ResourceCheck;
  /** Compiles options of a resource that lead to others. */
  readonly relate?: RelationCompiler;
  /** Tables for `createAll`, for the command `sql`, and for an error at the start where one is missing. `plans` are those of its instance. */
  tables?(plan: ResourcePlan, plans: readonly ResourcePlan[]): readonly OwnTable[];
  /** Settings with which statements of requests run; null where no resource needs any. */
  settings?(
    plans: readonly ResourcePlan[],
    application: Readonly<Record<string, unknown>>,
    logger: Logger,
  ): RouteSettings | null;
  /** Work of the command `maintain`. @returns lines about the finished work */
  maintain?(plans: readonly ResourcePlan[]): Promise<readonly string[]>;
  /** Statements for the command `sql` that add columns which the model lacks. They change nothing where the table has them. */
  columns?(plan: ResourcePlan): readonly string[];
  /** Indexes for the advice at the start, and for the command `sql`. */
  indexes?(plan: ResourcePlan): readonly IndexAdvice[];
  /**
   * Inspects the table of a resource when the catalogue was read, also with statements of its own. Problems refuse
   * the resource, warnings are logged once.
   */
  inspectTable?(plan: ResourcePlan): Maybe<TableReport>;
  /** Warnings at the start about indexes that the table of a resource has. */
  adviseOn?(plan: ResourcePlan, indexes: readonly FoundIndex[]): readonly string[];
}

/** Makes a feature of a resource's options; null where it is off, and then it costs nothing. */
export interface FeatureFactory extends FeatureNeeds, RouteSource {
  (context: FeatureContext): Feature | null;
}
