/** Loads relations of records that were read, with one statement for each relation, and keeps the loaded records. */

import type { Model } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { describeRecords } from '../../describe/describe-model.js';
import type { ModelInfo } from '../../describe/model-info.js';
import { describeRelation, parentKeys, relationKeys } from '../../describe/relations.js';
import { keyNames } from '../../describe/row-key.js';
import type { AccessSource } from '../../operation/access.js';
import { isNumberOnly } from '../../operation/count.js';
import type { Inclusion } from '../../request/query/list-query.js';
import { keptIn } from '../../util/memo.js';
import {
  attachRelation,
  pristineHydrator,
  recordColumn,
  storedAttributes,
} from '../customization/hydrate-record.js';
import { attributeOf } from '../sql/predicate-sql.js';
import { countRelated, type FoundItems, NO_ITEMS, type RelatedContext, readItems } from './read-related.js';
import { type WantedRelation, wantedByName, wantedRelations } from './relation-requests.js';
import type { QueryContext } from './repository-operations.js';
import type { RelationOptions, RelationsToLoad } from './repository-options.js';

interface LoadContext {
  /** Access to each model; null is everything. */
  readonly source: AccessSource | null;
  scope(): Promise<QueryContext['scope']>;
}

/** The attributes by which relations are found, and which have to be read for them. */
export function keysOfRelations<M extends Model>(
  model: ModelClass<M>,
  include: RelationsToLoad,
): readonly string[] {
  const named = Array.isArray(include) ? include : Object.keys(include);
  const names = named.map((each) =>
    typeof each === 'string' ? (each.split('.')[0] as string) : each.plan.relation.name,
  );
  const plain = model as unknown as ModelClass;
  return names.flatMap((name) => {
    const { relation } = describeRelation(plain, name);
    return relation ? parentKeys(relation) : [];
  });
}

/** Sets the relations of records. */
export async function loadRelations<M extends Model>(
  model: ModelClass<M>,
  records: readonly Model[],
  include: RelationsToLoad = [],
  { source, scope }: LoadContext,
): Promise<void> {
  if (records.length === 0 || Object.keys(include).length === 0) return;
  const { transaction } = await scope();
  const plain = model as unknown as ModelClass;
  const wanted = await wantedRelations(plain, include, source);
  const info = describeRecords(plain);
  await loadAll((name) => recordColumn(info, records, name), records, wanted, { transaction });
}

/**
 * Counts the rows that a relation leads each record to.
 *
 * @throws ConfigError for a name that is no relation of the model
 */
export async function countOfRelation<M extends Model>(
  model: ModelClass<M>,
  records: readonly Model[],
  name: string,
  filter: RelationOptions['filter'],
  { source, scope }: LoadContext,
): Promise<readonly number[]> {
  const plain = model as unknown as ModelClass;
  const level = { options: { filter: filter ?? null }, behind: {} };
  const wanted = await wantedByName(plain, name, level, source);
  const info = describeRecords(plain);
  const keys = relationKeys(wanted.plan.relation, (attribute) => recordColumn(info, records, attribute));
  const known = [...new Set(keys.filter((key) => key !== null))];
  const { transaction } = await scope();
  const counts = await countRelated(wanted, Number.POSITIVE_INFINITY, known, {
    transaction,
  });
  const totals = new Map(known.map((key, index) => [key, counts[index] as number]));
  return keys.map((key) => (key === null ? 0 : (totals.get(key) ?? 0)));
}

type Column = (attribute: string) => readonly (string | null)[];

/** Loads relations one after the other, because they may be on one connection. */
async function loadAll(
  column: Column,
  records: readonly Model[],
  wanted: readonly WantedRelation[],
  context: RelatedContext,
): Promise<void> {
  if (records.length > 0) for (const each of wanted) await loadOne(column, records, each, context);
}

async function loadOne(
  column: Column,
  records: readonly Model[],
  { plan, inclusion, access, size, sort, filter, fields, include }: WantedRelation,
  context: RelatedContext,
): Promise<void> {
  const { relation, target } = plan;
  const needed = include.flatMap((each) => parentKeys(each.plan.relation));
  const read = fields && [...new Set([...keyNames(target.info.primaryKey), ...fields, ...needed])];
  const columns = read ?? storedAttributes(target.info).map(({ name }) => name);
  const keys = relationKeys(relation, column);
  // Other code reads their number.
  const isNone = 'count' in inclusion && isNumberOnly(inclusion as Inclusion);
  const { groups, items: found } = await readItems(
    { plan, access, filter, order: sort, size, fields: read, columns, needsRecords: true, keys: needed },
    isNone ? [] : keys,
    context,
  );
  const items = recordsOf(found, target.info, columns);
  const columnOf: Column = (name) =>
    found.records ? (found.columns.get(name) ?? []) : recordColumn(target.info, items, name);
  await loadAll(columnOf, items, include, context);
  for (const [index, record] of records.entries()) {
    const key = keys[index] ?? null;
    const { first, end, hasNext } = (key !== null && groups.get(key)) || NO_ITEMS;
    const own = items.slice(first, end);
    const value = relation.isOne ? (own[0] ?? null) : own;
    setLoaded(record, relation.name, { inclusion, key, value, hasNext });
  }
}

function recordsOf(found: FoundItems, info: ModelInfo, columns: readonly string[]): readonly Model[] {
  if (found.records) return found.records;
  const { rows, parsers } = found;
  const attributes = columns.map((name) => attributeOf(info, name));
  // Without rows there are no parsers.
  return rows.length === 0 ? [] : rows.map(pristineHydrator({ info, attributes, parsers }));
}

interface LoadedRelation {
  /** Request that loaded it. */
  readonly inclusion: object;
  /** The text of the record's key by which it was found. */
  readonly key: string | null;
  readonly value: readonly Model[] | Model | null;
  /** True where more rows follow. */
  readonly hasNext: boolean;
}

/** Present value of a relation of a record. */
export interface RelatedNow {
  readonly items: readonly object[];
  readonly hasNext: boolean;
}

const loaded = new WeakMap<object, Map<string, LoadedRelation>>();

function setLoaded(record: Model, name: string, relation: LoadedRelation): void {
  keptIn(loaded, record, () => new Map<string, LoadedRelation>()).set(name, relation);
  attachRelation(record, name, relation.value);
}

/**
 * Present value of a relation that was loaded for this inclusion, with changes by code of the user's. It is null where it was
 * not loaded, or where the record has another key meanwhile, or was read again.
 */
export function loadedNow(
  record: object,
  name: string,
  inclusion: object,
  key: string | null,
): RelatedNow | null {
  const known = loaded.get(record)?.get(name);
  if (!known || known.inclusion !== inclusion || known.key !== key) return null;
  const { [name]: own } = record as Readonly<Record<string, unknown>>;
  const { dataValues } = record as Model;
  // Sequelize keeps it twice; the one that differs was set. A record that was read again has it once.
  if (own === known.value && !Object.hasOwn(dataValues, name)) return null;
  const value = own === known.value ? dataValues[name] : own;
  const items = [value].flat().filter((each) => typeof each === 'object' && each !== null);
  return { items: items as readonly object[], hasNext: known.hasNext };
}
