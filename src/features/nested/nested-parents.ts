/** Rows whose children are written, and the values that children have of them. */
import { idText } from '../../describe/id-text.js';
import type { AttributeInfo, ModelInfo } from '../../describe/model-info.js';
import { isOfKey } from '../../describe/row-key.js';
import type { ManyRows } from '../../execute/rows/many-rows.js';
import type { Resource } from '../../express/resources/resource.js';
import { presetOf } from '../../operation/access.js';
import type { RequestArguments } from '../../request/parse-request.js';
import { recordValue } from '../../request/query/rule-filters.js';
import type { ManyRunner } from '../bulk/write-together.js';
import type { NestedLevel, Verb } from './nested-options.js';
import type { NestedSet } from './parse-nested.js';

/** A relation at work. */
export interface LevelWork {
  readonly level: NestedLevel;
  /** Of the children. */
  readonly resource: Resource;
  readonly nested: ReadonlyMap<string, LevelWork>;
  /** Writes many children by one statement. */
  readonly together: Readonly<Record<Verb | 'createShown' | 'updateShown', () => ManyRunner>>;
  /** Writes of many children that are no operation of their resource. */
  readonly rows: () => ManyRows;
  /** True where our SQL may write them now. */
  isOpen(verb: Verb): boolean;
}

/** Rows that were written with children. */
export interface NestedParents {
  /** The values of an attribute, in the text form of its column. */
  column(attribute: string): readonly (string | null)[];
  /** Beginnings of the places of their children in the body: empty, or with a slash at the end. */
  readonly places: readonly string[];
  readonly sets: readonly (readonly NestedSet[])[];
  /** True where this request has created all of them. */
  readonly areNew: boolean;
}

/** The children of one parent in one relation. */
export interface LevelTask {
  /** Place of the parent among all. */
  readonly row: number;
  /** The text of its key. */
  readonly key: string;
  readonly place: string;
  readonly set: NestedSet;
  /** A value of the parent. */
  stored(attribute: string): string | null;
}

/** The children of a relation, by parent. @throws TypeError for a parent without its key */
export function tasksOf(level: NestedLevel, { column, places, sets }: NestedParents): readonly LevelTask[] {
  const { parentKey, parent } = level.plan.relation;
  return sets.flatMap((all, row) => {
    const set = all.find((each) => each.level === level);
    if (!set) return [];
    const stored = (attribute: string) => column(attribute)[row] ?? null;
    const key = stored(parentKey);
    if (key === null)
      throw new TypeError(`A ${parent.name} has no ${parentKey}, so that it can have no ${level.name}.`);
    return { row, key, place: places[row] ?? '', set, stored };
  });
}

/** The id of a child, of which the parent may give a part. */
export function idUnder(
  { given }: NestedLevel,
  { address, attributes }: ModelInfo,
  id: unknown,
  key: string,
): unknown {
  if (!isOfKey(address, given)) return id;
  const value = recordValue(attributes.get(given)?.type, key);
  return address.length === 1 ? value : { ...(id as object), [given]: value };
}

/** The values of a child that is created or changed. A rule of `set` may have another parent for it. */
export function valuesUnder(
  { level: { given }, resource: { plan } }: Pick<LevelWork, 'level' | 'resource'>,
  { key }: LevelTask,
  verb: 'create' | 'update',
  { values = {} }: RequestArguments,
): Readonly<Record<string, unknown>> {
  if (verb === 'update' && values[given] === undefined) return values;
  // No spread: its copies are slow to add to.
  const all: Record<string, unknown> = Object.assign({}, values);
  all[given] = recordValue(plan.info.attributes.get(given)?.type, key);
  return all;
}

/** The attribute by which a new child would belong elsewhere than its parent; undefined where there is none. */
export function otherPlace(
  { level: { scoped, given }, resource: { plan } }: Pick<LevelWork, 'level' | 'resource'>,
  { stored }: LevelTask,
  { access, values = {} }: RequestArguments,
): string | undefined {
  const pair = scoped.find(([name, ofParent]) => {
    const key = [plan.info.attributes.get(name) as AttributeInfo];
    // A request that sees all of them has no values.
    const own = name === given ? access.values().get(name) : [presetOf(access, name) ?? values[name]];
    // Texts of a column differ from those of values: `t` is true.
    const wanted = idText(key, stored(ofParent));
    return own !== undefined && !own.some((value) => idText(key, value) === wanted);
  });
  return pair?.[0];
}
