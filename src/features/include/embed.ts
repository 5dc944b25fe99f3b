/** Records -> the same with the relations that a request has included, for both executors. */

import { relatedAccess } from '../../access/related-access.js';
import { parentKeys, relationKeys } from '../../describe/relations.js';
import { keyNames } from '../../describe/row-key.js';
import {
  countRelated,
  type Group,
  isReadByRows,
  NO_ITEMS,
  readItems,
} from '../../execute/records/read-related.js';
import type { ShownModel } from '../../express/resources/resource.js';
import type { ActingFeature } from '../../handle/around.js';
import {
  type CompletionPlace,
  recordsShown,
  rowsShown,
  type ShownRecords,
  type WholeRecords,
} from '../../handle/outcome.js';
import {
  isNumberOnly,
  relatedLimit,
  type Total,
  totalOfCounted,
  totalOfSeen,
} from '../../operation/count.js';
import type { FeatureFactory } from '../../operation/feature.js';
import { type FoundRelation, grantedOf, type RelatedAccess } from '../../operation/related-rows.js';
import type { Inclusion } from '../../request/query/list-query.js';
import type { WireRecord } from '../../respond/record-serializer.js';
import { perPair } from '../../util/memo.js';
import { bytesOf, whileKept } from '../../util/memory-budget.js';
import type { Maybe } from '../../util/promises.js';

/** Characters of a text that is kept to be written again. */
const SHORT = 2_000;

/** Place of the statements that read relations, and the views of their records. */
interface Embedding extends CompletionPlace {
  viewOf(plan: FoundRelation): ShownModel;
}

/** One relation of the records: a JSON text for each of them, and the value that it means. */
interface Member {
  readonly name: string;
  writer(): (index: number) => string;
  readonly values: () => readonly unknown[];
}

/** Reads the relations that a request includes, for records of both executors. */
export const embeddedRecords: FeatureFactory = ({ plan: { relations } }): ActingFeature | null => {
  if (relations.include.size === 0) return null;
  return {
    completion({ views }, endpoint) {
      if (endpoint !== 'list' && endpoint !== 'read') return null;
      // A view compiles each member at its first use.
      const viewOf = perPair(({ relation }: FoundRelation): ShownModel => ({ ...views(relation.target) }));
      return {
        input: 'include',
        isOpen: ({ query: { include = NO_RELATIONS } }) => isEmbeddedByRows(include, viewOf),
        async complete(found, { query: { include = NO_RELATIONS } }, place) {
          return { ...found, ...(await embed(found, include, { ...place, viewOf })) };
        },
      };
    },
  };
};

const NO_RELATIONS: readonly Inclusion[] = Object.freeze([]);

/** Adds relations to records. The number of statements depends on the relations alone. */
export async function embed(
  records: ShownRecords,
  include: readonly Inclusion[],
  embedding: Embedding,
): Promise<WholeRecords> {
  if (include.length === 0) return records;
  const members: Member[] = [];
  for (let from = 0; from < include.length; from += embedding.atOnce) {
    const some = include.slice(from, from + embedding.atOnce);
    const read = () => Promise.all(some.map((each) => readMember(records, each, embedding)));
    members.push(...(await whileKept(bytesOf(records.rows), read)));
  }
  return {
    size: records.size,
    writer(fields) {
      const write = records.writer(fields);
      const more = membersWriter(members);
      return (index, others) => write(index, more(index, others));
    },
    values(fields) {
      const values = members.map(({ name, values: of }) => [name, of()] as const);
      return records.values(fields).map((record, index) => {
        const added = values.map(([name, each]) => [name, each[index]]);
        return Object.assign({}, record, Object.fromEntries(added)) as WireRecord;
      });
    },
  };
}

/** The members of a record as JSON, before others. */
function membersWriter(members: readonly Member[]): (index: number, more?: string) => string {
  const parts = members.map(({ name, writer }) => ({ key: `${JSON.stringify(name)}:`, write: writer() }));
  return (index, more = '') => {
    let text = '';
    for (const { key, write } of parts) text += `${text === '' ? '' : ','}${key}${write(index)}`;
    return more === '' ? text : `${text},${more}`;
  };
}

async function readMember(
  records: ShownRecords,
  inclusion: Inclusion,
  embedding: Embedding,
): Promise<Member> {
  const { plan, include } = inclusion;
  const { relation } = plan;
  const keys = relationKeys(relation, (attribute) => records.column(attribute));
  const written = records.written && (await records.written(inclusion));
  if (written) {
    const { groups } = written;
    const shown = await embed(written.shown, include, embedding);
    return memberOf(inclusion, shown, groups, await totalsOf(inclusion, keys, groups, embedding));
  }
  const loaded = records.loaded?.(inclusion, keys);
  const isUnknown = (_: unknown, index: number) => !loaded?.[index];
  const read = await readShown(inclusion, loaded ? keys.filter(isUnknown) : keys, embedding);
  const known = loaded?.flatMap((each) => each?.items ?? []) ?? [];
  const shown =
    known.length === 0
      ? read.shown
      : joinShown(await embed(recordsShown(embedding.viewOf(plan), known), include, embedding), read.shown);
  let knownEnd = 0;
  const groups = keys.map((key, index): Group => {
    const now = loaded?.[index];
    if (now) {
      const first = knownEnd;
      knownEnd += now.items.length;
      return { first, end: knownEnd, hasNext: now.hasNext };
    }
    const group = (key !== null && read.groups.get(key)) || NO_ITEMS;
    if (known.length === 0) return group;
    return { ...group, first: group.first + known.length, end: group.end + known.length };
  });
  return memberOf(inclusion, shown, groups, await totalsOf(inclusion, keys, groups, embedding));
}

/** The items of each record as a member of it. */
function memberOf(
  inclusion: Inclusion,
  shown: WholeRecords,
  groups: readonly Group[],
  totals: readonly RelatedTotal[] | null,
): Member {
  const { plan, fields } = inclusion;
  const isNone = isNumberOnly(inclusion);
  const restOf = (index: number): Rest => {
    const { hasNext } = groups[index] as Group;
    const total = totals?.[index];
    // Where no rows were read, only their number shows that there are any.
    return total ? { has_next: isNone ? total.total !== 0 : hasNext, ...total } : { has_next: hasNext };
  };
  const { isOne, name } = plan.relation;
  return {
    name,
    writer() {
      const write = shown.writer(fields);
      if (isOne) {
        const written: string[] = [];
        return (index) => {
          const { first, end } = groups[index] as Group;
          if (first >= end) return 'null';
          // Many records may have the same one.
          const text = written[first] ?? write(first);
          if (text.length < SHORT) written[first] = text;
          return text;
        };
      }
      return (index) => {
        const { first, end, hasNext } = groups[index] as Group;
        let items = '';
        for (let at = first; at < end; at += 1) items += at === first ? write(at) : `,${write(at)}`;
        const rest = totals ? JSON.stringify(restOf(index)).slice(1) : `"has_next":${hasNext}}`;
        return `{"items":[${items}],${rest}`;
      };
    },
    values() {
      const values = shown.values(fields);
      if (isOne) return groups.map(({ first, end }) => (first < end ? values[first] : null));
      return groups.map(({ first, end }, index) => ({ items: values.slice(first, end), ...restOf(index) }));
    },
  };
}

/** Members of a page beside the items. */
interface Rest extends Partial<RelatedTotal> {
  readonly has_next: boolean;
}

interface RelatedTotal {
  readonly total: Total['total'];
  readonly total_is: Total['totalIs'];
}

/** The total of each record, where the relation has one; null elsewhere. Parents are only counted where their rows do not show the number. */
async function totalsOf(
  inclusion: Inclusion,
  keys: readonly (string | null)[],
  groups: readonly Group[],
  embedding: Embedding,
): Promise<readonly RelatedTotal[] | null> {
  const { plan, filter } = inclusion;
  const limit = relatedLimit(inclusion);
  if (limit === undefined) return null;
  const isNone = isNumberOnly(inclusion);
  const totals = new Map<string | null, Total | undefined>();
  for (const [index, key] of keys.entries()) {
    const { first, end, hasNext } = groups[index] as Group;
    const isUnread = isNone && key !== null;
    totals.set(key, isUnread ? undefined : totalOfSeen(end - first + (hasNext ? 1 : 0), !hasNext, limit));
  }
  const unknown = [...totals].flatMap(([key, total]) => (key === null || total ? [] : [key]));
  const access = await accessTo(inclusion, embedding);
  const counted = await countRelated({ plan, access, filter }, limit + 1, unknown, embedding);
  for (const [index, key] of unknown.entries())
    totals.set(key, totalOfCounted(counted[index] as number, limit));
  return keys.map((key) => {
    const { total, totalIs } = totals.get(key) as Total;
    return { total, total_is: totalIs };
  });
}

/** The rows that the request of an inclusion may see behind its relation. */
function accessTo(inclusion: Inclusion, { request }: Embedding): Maybe<RelatedAccess> {
  return grantedOf(inclusion) ?? relatedAccess(request, inclusion.plan);
}

/** The items of parents with these keys, and the records that are included in them. */
async function readShown(inclusion: Inclusion, keys: readonly (string | null)[], embedding: Embedding) {
  const { plan, fields, size, sort, filter, include } = inclusion;
  const { target } = plan;
  const view = embedding.viewOf(plan);
  const shownBy = view.columnsOf(fields);
  const needed = include.flatMap((each) => parentKeys(each.plan.relation));
  const columns = [
    ...new Set([...(shownBy.length > 0 ? shownBy : keyNames(target.info.primaryKey)), ...needed]),
  ];
  const access = await accessTo(inclusion, embedding);
  const needsRecords = view.rowView.isOfRecords;
  const { groups, items } = await readItems(
    { plan, access, filter, order: sort, size, columns, needsRecords, keys: needed },
    isNumberOnly(inclusion) ? [] : keys,
    embedding,
  );
  const shown = items.records
    ? recordsShown(view, items.records, items.columns)
    : rowsShown(view, target.info, columns, items);
  return { groups, shown: await embed(shown, include, embedding) };
}

function joinShown(first: WholeRecords, second: WholeRecords): WholeRecords {
  return {
    size: first.size + second.size,
    writer(fields) {
      const writers = [first.writer(fields), second.writer(fields)] as const;
      return (index, more) =>
        index < first.size ? writers[0](index, more) : writers[1](index - first.size, more);
    },
    values: (fields) => [...first.values(fields), ...second.values(fields)],
  };
}

/** True where SQL of this library reads all inclusions. */
function isEmbeddedByRows(include: readonly Inclusion[], viewOf: Embedding['viewOf']): boolean {
  return include.every(
    (each) =>
      isReadByRows(each.plan, viewOf(each.plan).rowView.isOfRecords) &&
      isEmbeddedByRows(each.include, viewOf),
  );
}
