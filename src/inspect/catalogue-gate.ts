/** Holds requests back until the catalogue has completed the plan of their resource, and reads it again while they come. */
import { ConnectionError } from 'sequelize';
import { sortedAttribute, termsOf } from '../compile/compile-sort.js';
import type { FilterPlan, RelationFilter, ResourcePlan, SortKey } from '../compile/resource-plan.js';
import type { ModelClass } from '../declare/crud-options.js';
import { comparedType } from '../describe/column-type.js';
import { describeRecords } from '../describe/describe-model.js';
import type { AttributeInfo, RecordInfo } from '../describe/model-info.js';
import { readHstoreAsText } from '../describe/sequelize-internals.js';
import { type ColumnFacts, setTableFacts, type TableFacts } from '../describe/table-facts.js';
import { isCitext, isTextBase, typeDifference } from '../describe/type-difference.js';
import { describeFault, type FaultKind } from '../errors/database-fault.js';
import { setIndexes } from '../execute/sql/table-indexes.js';
import { type FeatureNeeds, joinReports, type TableReport } from '../operation/feature.js';
import { forgetTriggers, watchTables } from '../postgres/index.js';
import { ConfigError, throwProblems } from '../util/config-error.js';
import { describeError } from '../util/describe-error.js';
import { type Logger, logInfo } from '../util/logger.js';
import { groupBy } from '../util/memo.js';
import { endsInTime, type Maybe, oneAtATime } from '../util/promises.js';
import { type CatalogueTable, changedTables, readCatalogue, type Tables } from './catalogue.js';
import { looseSortLines, readIndex, tablesRead } from './index-advice.js';
import { associatedModels, constraintLines, joinProblems, keyProblems, orderLines } from './key-problems.js';
import { adviceLines, missingLines, unknownLines } from './missing-parts.js';
import {
  heirLine,
  onlyProblems,
  planLine,
  refusedLine,
  tagProblems,
  writtenProblems,
} from './table-kinds.js';

interface CatalogueOptions {
  readonly logger: Logger;
  readonly features: readonly FeatureNeeds[];
  /** True where missing indexes are logged. */
  readonly indexAdvice: boolean;
  /** True where the type of a column has to be that of its attribute. Default: a warning names differences. */
  readonly strictTypes?: boolean;
}

/**
 * The gate of an application. A resource is open when the catalogue has the tables of its models and of their relations. One whose
 * table is not there yet is passed, as its statements fail by themselves, and is read again by its next request. Tables of open
 * resources are read again by age, because migrations come while processes run, and change what a list has to do for all its rows.
 */
export class CatalogueGate {
  readonly #open = new Set<ResourcePlan>();
  readonly #refused = new Set<ResourcePlan>();
  readonly #logged = new Set<string>();
  /** Reads the catalogue. @returns problems of the tables */
  readonly #readOnce = oneAtATime(() => this.#read());
  readonly #renewOnce = oneAtATime(() => this.#renew());
  /** Time of the latest reading of all open resources. */
  #readAt = performance.now();
  #version = 0;
  /** True between a change that a statement has met and its reading. */
  #isChanged = false;
  #due: NodeJS.Timeout | null = null;

  constructor(
    private readonly plans: readonly ResourcePlan[],
    private readonly options: CatalogueOptions,
  ) {}

  /**
   * Reads the catalogue at the start. Where the database cannot be reached now, requests read it.
   *
   * @throws ConfigError with all that is wrong with the tables
   */
  async start(): Promise<void> {
    for (const sequelize of new Set(this.plans.flatMap(({ model }) => model.sequelize ?? [])))
      watchTables(sequelize, this);
    try {
      throwProblems(await this.#readOnce());
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      this.options.logger.error(
        'The tables of the models could not be read from the catalogue; their requests are answered 503, and each tries again',
        describeError(error),
      );
    }
  }

  /** A number that changes whenever plans were completed, or their tables were changed. */
  get version(): number {
    return this.#version;
  }

  /**
   * Reads the catalogue for a request where it has to, unless another one does so already. A request waits for a resource that is not
   * open, and a second at most for facts that are too old.
   *
   * @throws ConnectionError as long as it cannot be read, and always for a resource whose tables are wrong
   */
  pass(plan: ResourcePlan): Maybe<void> {
    if (!this.#open.has(plan)) return this.#complete(plan);
    const age = performance.now() - this.#readAt;
    if (age < RENEWED_AFTER) return;
    const renewal = this.#renewOnce();
    if (age < MAX_AGE) return;
    return endsInTime(renewal, MAX_WAIT).then((isRead) => {
      // A lock, or a primary that is gone, may hold it back for long: other requests do not wait as well.
      if (!isRead) this.#readAt = Math.max(this.#readAt, performance.now() - RENEWED_AFTER);
    });
  }

  async #complete(plan: ResourcePlan): Promise<void> {
    try {
      const problems = this.#refused.has(plan) ? [] : await this.#readOnce();
      for (const problem of problems) this.#log('error', problem);
    } catch (error) {
      // It is logged with its cause.
      throw new ConnectionError(error as Error);
    }
    if (this.#refused.has(plan)) {
      throw new ConnectionError(
        new Error(`The table of ${plan.name} is not what its model needs; the log has the reason.`),
      );
    }
  }

  async #read(): Promise<readonly string[]> {
    const waiting = this.plans.filter((plan) => !this.#open.has(plan) && !this.#refused.has(plan));
    const models = [...new Set(waiting.flatMap(modelsOf))];
    const tables = await this.#tables(models);
    if (!tables) {
      for (const plan of waiting) this.#open.add(plan);
      this.#version += 1;
      this.#readAt = Number.POSITIVE_INFINITY;
      return [];
    }
    for (const model of models) rememberTable(model, tables.get(model));
    const reports = await Promise.all(waiting.map((plan) => this.#inspect(plan)));
    const problems = new Set<string>();
    const { size } = this.#open;
    for (const [index, plan] of waiting.entries()) {
      const own = [...this.#problemsOf(plan), ...(reports[index]?.problems ?? [])];
      for (const each of own) problems.add(each);
      if (own.length > 0) this.#refused.add(plan);
      else if (tablesRead(plan).every(({ model }) => tables.has(model))) this.#open.add(plan);
    }
    if (this.#open.size > size) this.#version += 1;
    this.#advise(waiting, tables);
    for (const line of reports.flatMap(({ warnings }) => warnings)) this.#log('warn', line);
    return [...problems];
  }

  async #inspect(plan: ResourcePlan): Promise<TableReport> {
    const { features } = this.options;
    return joinReports(await Promise.all(features.map(({ inspectTable }) => inspectTable?.(plan))));
  }

  #problemsOf(plan: ResourcePlan): string[] {
    const read = tablesRead(plan);
    return [
      ...keyProblems(plan),
      ...orderProblems(plan),
      ...filterProblems(plan.name, plan.info, plan.filters, plan.relations.filters),
      ...tagProblems(plan),
      ...writtenProblems(plan),
      ...onlyProblems(plan),
      ...read.flatMap(({ model }) => joinProblems(model)),
      ...(this.options.strictTypes ? read.flatMap(typeLines) : []),
    ];
  }

  /** Reads the tables again, a moment after a statement has met a change, because every connection meets it. */
  readChanges(): void {
    this.#isChanged = true;
    this.#due ??= setTimeout(() => {
      this.#due = null;
      void this.#renewOnce();
    }, CHANGE_DELAY).unref();
  }

  /**
   * Reads the tables of open resources again, which stay open. A table that is gone keeps its facts, as its statements fail by themselves, and
   * so do the tables of an instance whose catalogue cannot be read.
   */
  async #renew(): Promise<void> {
    const readAt = performance.now();
    const plans = [...this.#open];
    // A type may be another one without a change of its table.
    const isChanged = this.#isChanged;
    this.#isChanged = false;
    const models = groupBy(
      new Set(plans.flatMap(modelsOf).filter(({ sequelize }) => sequelize)),
      ({ sequelize }) => sequelize,
    );
    const readings = [...models].map(async ([sequelize, own]) => {
      const tables = await readCatalogue(isChanged ? own : await changedTables(own));
      for (const [model, table] of tables) rememberTable(model, table);
      // A view in the place of a table has others, and the facts of both have to be of one time.
      if (tables.size > 0 && sequelize) forgetTriggers(sequelize);
      return tables.size;
    });
    try {
      const ends = await Promise.allSettled(readings);
      const isNew = ends.some((end) => end.status === 'fulfilled' && end.value > 0);
      const failed = ends.find((end) => end.status === 'rejected');
      if (isNew) {
        this.#version += 1;
        const reports = await Promise.all(plans.map((plan) => this.#inspect(plan)));
        const found = [
          ...plans.flatMap((plan) => this.#problemsOf(plan)),
          ...reports.flatMap(({ problems }) => problems),
        ];
        for (const problem of found)
          this.#log('error', `A table was changed while the application runs: ${problem}`);
      }
      if (failed) throw failed.reason;
      if (this.#isChanged) this.readChanges();
    } catch (error) {
      this.#isChanged ||= isChanged;
      this.#log(
        'warn',
        `The tables could not all be read again, and requests go on with what is known of them: ${(error as Error).message}`,
      );
    } finally {
      this.#readAt = Math.max(this.#readAt, readAt);
    }
  }

  /** The tables; null where the role may not read the catalogue, which no later attempt would change. */
  async #tables(models: readonly ModelClass[]): Promise<Tables | null> {
    try {
      return await readCatalogue(models);
    } catch (error) {
      const fault = describeFault(error);
      if (fault === null || PASSING.has(fault.kind)) throw error;
      this.#log(
        'warn',
        'The database refuses to describe its tables, so that keys, defaults and types are taken from the models alone; GRANT the ' +
          'role SELECT on the tables of pg_catalog.',
      );
      return null;
    }
  }

  #advise(plans: readonly ResourcePlan[], tables: Tables): void {
    for (const line of missingLines(plans, tables)) this.#log('error', line);
    for (const line of unknownLines(plans, tables)) this.#log('warn', line);
    for (const line of plans.flatMap(tablesRead).flatMap(typeLines)) this.#log('warn', line);
    for (const line of plans.flatMap(moneyLines)) this.#log('warn', line);
    for (const line of plans.flatMap(({ model }) => constraintLines(model))) this.#log('warn', line);
    for (const { name, everything } of plans)
      for (const leftOut of everything.values()) {
        const line = leftOut();
        if (line !== null) this.#log('info', `${name}: ${line}`);
      }
    for (const line of plans.flatMap((plan) => [
      ...refusedLine(plan),
      ...heirLine(plan),
      ...planLine(plan),
      ...orderLines(plan),
    ]))
      this.#log('warn', line);
    const { features, indexAdvice } = this.options;
    if (indexAdvice) for (const line of plans.flatMap(looseSortLines)) this.#log('warn', line);
    for (const line of adviceLines(plans, tables, features, indexAdvice)) this.#log('warn', line);
  }

  #log(level: 'error' | 'warn' | 'info', line: string): void {
    if (this.#logged.has(line)) return;
    this.#logged.add(line);
    if (level === 'info') logInfo(this.options.logger, line);
    else this.options.logger[level](line);
  }
}

/** Milliseconds after which a request has the tables read again, without waiting for them. */
const RENEWED_AFTER = 30_000;
/** Milliseconds after which requests wait for that: no request came for a while. */
const MAX_AGE = 60_000;
/** Milliseconds of that wait. The primary may be gone, and a replica serves reads. */
const MAX_WAIT = 1_000;
/** Milliseconds between a change of a table that a statement meets and its reading. */
const CHANGE_DELAY = 200;

function rememberTable(model: ModelClass, table: CatalogueTable | undefined): void {
  setTableFacts(model, table?.facts, table && hasOtherTypes(describeRecords(model), table.facts));
  if ([...(table?.facts.columns.values() ?? [])].some(({ baseType }) => HSTORE.test(baseType)))
    readHstoreAsText(model);
  setIndexes(model, table?.indexes.filter(({ predicate }) => predicate === null).map(readIndex));
}

/** Columns in an order that PostgreSQL does not have. */
function orderProblems(plan: ResourcePlan): string[] {
  const { name, info, sortable, defaultSort } = plan;
  const keys = [...sortable.flatMap((each) => termsOf(plan, each, false)), ...defaultSort];
  return [...new Set(keys.flatMap((key) => keyOrderProblems(name, info, key)))];
}

function keyOrderProblems(name: string, info: RecordInfo, key: SortKey): string[] {
  const { value } = key;
  if (value?.kind === 'related') return keyOrderProblems(name, value.related.target.info, value.key);
  // The rank of a request has no column.
  if (value?.kind === 'rank') return [];
  const attribute = sortedAttribute(key);
  const found = info.attributes.get(attribute)?.found;
  if (!found || isSortedBy(key, found)) return [];
  const kinds = { lower: [' without case', 'is no text'], json: [' inside', 'is not jsonb'] } as const;
  const [is, lack] = value ? kinds[value.kind] : ['', 'has no order'];
  return [
    `${name}: rows are sorted by '${attribute}'${is}, whose column is ${found.type}, which ${lack}; take it out of sortAllow and defaultSort.`,
  ];
}

function isSortedBy({ value }: SortKey, { isOrdered, baseType }: ColumnFacts): boolean {
  if (value === undefined) return isOrdered;
  if (value.kind === 'json') return baseType === 'jsonb';
  return isTextBase(baseType) || isCitext(baseType);
}

/** Filters that PostgreSQL does not have, also behind relations. */
function filterProblems(
  resource: string,
  { attributes }: RecordInfo,
  filters: ReadonlyMap<string, FilterPlan>,
  relations: ReadonlyMap<string, RelationFilter>,
  prefix = '',
): string[] {
  const own = [...filters].flatMap(([name, { attribute, jsonType, operators }]) => {
    const found = attributes.get(attribute)?.found;
    if (!found) return [];
    const head = `${resource}: filterAllow names '${prefix}${name}', whose column is ${found.type}`;
    if (jsonType && found.baseType !== 'jsonb')
      return [`${head}, which is not jsonb; take it out of filterAllow, or change the type of the column.`];
    return operators.length === 0 && !found.isDeterministic
      ? [`${head} with a collation that is not deterministic, which has no patterns; allow other operators.`]
      : [];
  });
  const behind = [...relations].flatMap(([name, { related, filters: inner, relations: more }]) =>
    filterProblems(resource, related.target.info, inner, more, `${prefix}${name}.`),
  );
  return [...own, ...behind];
}

/** The base type of columns that Sequelize reads with an optional package; its schema may come before. */
const HSTORE = /(?:^|\.)hstore\b/;

/** A line for each amount of money, which a table holds without its decimals. */
function moneyLines({ name, info }: ResourcePlan): string[] {
  return [...info.attributes.values()].flatMap(({ name: attribute, type, found }) =>
    comparedType(type).kind === 'money' && found
      ? [
          `${name}.${attribute}: the column is ${found.type}, whose amounts are other ones as soon as lc_monetary is set to a currency with ` +
            'another number of decimals; numeric(19, 2) keeps them.',
        ]
      : [],
  );
}

/** A line for each attribute whose column has another type. */
function typeLines({ name, attributes }: RecordInfo): string[] {
  return [...attributes.values()].flatMap((attribute) => {
    const difference = typeDifference(attribute);
    return difference ? [`${name}.${attribute.name} is ${kindOf(attribute)}, and ${difference.text}`] : [];
  });
}

/** True where values of a column are read or written otherwise than those of its attribute. */
function hasOtherTypes({ attributes }: RecordInfo, { columns }: TableFacts): boolean {
  return [...attributes.values()].some(
    ({ type, column }) => typeDifference({ type, found: columns.get(column) })?.isAlike === false,
  );
}

/** Type of an attribute as Sequelize has it in SQL. */
function kindOf({ type }: AttributeInfo): string {
  const names: Readonly<Record<string, string>> = {
    string: 'a text',
    integer: 'an INTEGER',
    enum: 'an ENUM',
    array: 'an ARRAY',
  };
  return names[type.kind] ?? `a ${type.kind.toUpperCase()}`;
}

/** The models whose tables are read for a resource, and for its checks. */
function modelsOf(plan: ResourcePlan): ModelClass[] {
  return tablesRead(plan).flatMap(({ model }) => [model, ...associatedModels(model)]);
}

/** Faults that another attempt may not meet. */
const PASSING: ReadonlySet<FaultKind> = new Set([
  'unavailable',
  'full',
  'timeout',
  'locked',
  'concurrent',
  'noMemory',
  'tooLarge',
]);
