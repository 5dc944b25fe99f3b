/**
 * The records behind a relation through the finder of their model, so that its hooks and scope hold: two statements for any number
 * of parents. The first one decides which rows each parent has, and the second one returns those that the finder finds of them. Both
 * are sent again for parents some of whose rows a hook has hidden.
 */

import { type Model, QueryTypes, type Sequelize } from 'sequelize';
import type { SortTerm } from '../../compile/resource-plan.js';
import { liveRows } from '../../features/soft-delete/sequelize-deletion.js';
import { allOf, bindTexts, withKeys } from '../../operation/predicates.js';
import {
  type FoundRelation,
  type RelatedAccess,
  relatedRows,
  relatedSlots,
} from '../../operation/related-rows.js';
import type { Predicate } from '../../request/query/predicate.js';
import { quoteText } from '../../util/quote-text.js';
import { withArticle } from '../../util/with-article.js';
import { hookOptions } from '../customization/plain-queries.js';
import { keyTerms } from '../sql/keyset-sql.js';
import {
  describeParents,
  keysOfParents,
  keyTextSql,
  keyTexts,
  selectRelatedCounts,
  selectRelatedKeys,
  textSql,
} from '../sql/related-sql.js';
import { describeTable } from '../sql/select-sql.js';
import { renderSql, type SqlFragment } from '../sql/sql-fragment.js';
import { joinSlots, textOf } from '../sql/statement.js';
import type { QueryContext } from './repository-operations.js';
import { RowFinder, take } from './row-finder.js';

/** Conditions on the related rows. */
export interface RelatedCriteria {
  readonly plan: FoundRelation;
  readonly access: RelatedAccess;
  readonly filter: Predicate | null;
  /** A total order. */
  readonly order: readonly SortTerm[];
  /** Rows of each parent; null is all of them. */
  readonly limit: number | null;
  /** The attributes that records have. Default: all. */
  readonly fields?: readonly string[] | undefined;
  /** The attributes by which the relations of the records are found. */
  readonly keys: readonly string[];
}

/** Records of several parents, parent by parent. One that several parents have is there several times. */
export interface RelatedRecordsFound {
  readonly records: readonly Model[];
  /** The place of each record's parent among the keys, from 0. */
  readonly parents: readonly number[];
  /** The keys of each record, by attribute, in the text form of the column. */
  readonly columns: ReadonlyMap<string, readonly (string | null)[]>;
}

/** Names of columns that no attribute has. */
const KEY_COLUMN = 'related key';
const linkColumn = (attribute: string): string => `related ${attribute}`;

interface KeyedRecord {
  readonly record: Model;
  readonly links: readonly (string | null)[];
}

/** Rows of a parent that are read, at most, in search of those that a hook shows. */
const MAX_LOOKED_THROUGH = 10_000;
/** Factor by which the limit grows where a hook has hidden some rows. */
const STEP = 4;

/**
 * Finds the records of parents with these keys.
 *
 * @throws TypeError where code of the model hides too many rows of a parent
 */
export async function findRelatedRecords(
  criteria: RelatedCriteria,
  keys: readonly string[],
  scope: QueryContext['scope'],
): Promise<RelatedRecordsFound> {
  const { limit, plan } = criteria;
  const found: KeyedRecord[][] = keys.map(() => []);
  let asked = keys.map((_, index) => index);
  for (let most = limit; asked.length > 0; most = most === null ? null : most * STEP) {
    if (most !== null && most > Math.max(MAX_LOOKED_THROUGH, limit ?? 0)) throw hidesTooMany(plan);
    const some = asked.map((index) => keys[index] as string);
    const places = await findPlaces({ ...criteria, limit: most }, some, scope);
    const records = await findRecords(criteria, [...new Set(places.map(({ key }) => key))], scope);
    const rows = asked.map(() => 0);
    for (const index of asked) found[index] = [];
    for (const { key, place } of places) {
      const at = Number(place) - 1;
      rows[at] = (rows[at] as number) + 1;
      const keyed = records.get(key);
      const own = found[asked[at] as number] as KeyedRecord[];
      if (keyed && own.length !== limit) own.push(keyed);
    }
    // A parent with fewer records than the limit may have others, behind rows that a hook hides.
    asked = asked.filter((index, at) => rows[at] === most && found[index]?.length !== limit);
  }
  const all = found.flat();
  const columns = linksOf(criteria).map(
    (attribute, index) => [attribute, all.map(({ links }) => links[index] ?? null)] as const,
  );
  return {
    records: all.map(({ record }) => record),
    parents: found.flatMap((records, parent) => records.map(() => parent)),
    columns: new Map(columns),
  };
}

function hidesTooMany({ target: { info }, relation: { name, parent } }: FoundRelation): TypeError {
  return new TypeError(
    `Hooks or methods of ${info.name} hide most rows of '${name}' of ${withArticle(parent.name)}; write what they ask for as where of a default scope, or as visible.`,
  );
}

interface Place {
  readonly key: string;
  readonly place: string;
}

async function findPlaces(
  { plan, access, filter, order, limit }: RelatedCriteria,
  keys: readonly string[],
  scope: QueryContext['scope'],
): Promise<readonly Place[]> {
  const { info } = plan.target;
  const fragment = selectRelatedKeys(describeTable(info), {
    parents: describeParents(plan.relation),
    where: relatedRows(plan, access, filter),
    order: keyTerms(info, order),
    limit,
  });
  return query<Place>(fragment, plan, access, keys, scope);
}

/** Counts the rows of parents with these keys, up to a limit. @returns a number for each key */
export async function countRelatedRows(
  { plan, access, filter }: Pick<RelatedCriteria, 'plan' | 'access' | 'filter'>,
  limit: number,
  keys: readonly string[],
  scope: QueryContext['scope'],
): Promise<readonly number[]> {
  const where = relatedRows(plan, access, filter);
  const parents = describeParents(plan.relation);
  const fragment = selectRelatedCounts(describeTable(plan.target.info), { parents, where }, limit);
  const found = await query<Counted>(fragment, plan, access, keys, scope);
  const counted: number[] = [];
  for (const { count, place } of found) counted[Number(place) - 1] = Number(count);
  return counted;
}

interface Counted {
  readonly count: string;
  readonly place: string;
}

function query<R>(
  fragment: SqlFragment,
  { target, relation }: FoundRelation,
  access: RelatedAccess,
  keys: readonly string[],
  scope: QueryContext['scope'],
): Promise<readonly R[]> {
  const slots = joinSlots(relatedSlots(access), keysOfParents(describeParents(relation), keys));
  const text = renderSql(fragment, (value) => quoteText(textOf(value, slots) ?? ''));
  const sequelize = target.info.model.sequelize as Sequelize;
  return sequelize.query<R & object>(text, { type: QueryTypes.SELECT, ...scope });
}

/** Each once: several relations may be found by one key. */
function linksOf({ keys }: RelatedCriteria): readonly string[] {
  return [...new Set(keys)];
}

async function findRecords(
  criteria: RelatedCriteria,
  values: readonly string[],
  scope: QueryContext['scope'],
): Promise<ReadonlyMap<string, KeyedRecord>> {
  if (values.length === 0) return new Map();
  const { plan, access, fields } = criteria;
  const keys = linksOf(criteria);
  const { info } = plan.target;
  const { model, primaryKey } = info;
  const within = bindTexts(
    allOf(
      withKeys(
        primaryKey,
        values.map((each) => keyTexts(primaryKey, each)),
      ),
      liveRows(info),
      access.target.where,
      access.where,
    ),
    relatedSlots(access),
  );
  const finder = new RowFinder(model, { within }, { ...hookOptions(model, 'read'), ...scope });
  const links = keys.map((name) => [linkColumn(name), textSql(finder.column(name, 'text'))] as const);
  const keyColumn = keyTextSql(primaryKey.map(({ name }) => finder.column(name, 'text')));
  const columns = { [KEY_COLUMN]: keyColumn, ...Object.fromEntries(links) };
  const found = await finder.select([], null, fields ? { attributes: [...fields] } : {}, columns);
  return new Map(
    found.map((record) => {
      const texts = keys.map((name) => take(record, linkColumn(name)) as string | null);
      return [take(record, KEY_COLUMN) as string, { record, links: texts }];
    }),
  );
}
