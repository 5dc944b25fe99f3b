/** Children that are written with their record: `POST /orders` with its lines, and `PATCH /orders/1` with changes of them. */
import { relatedAccess } from '../../access/related-access.js';
import { baseOf } from '../../declare/endpoint.js';
import { keyNames } from '../../describe/row-key.js';
import type { ShownModel } from '../../express/resources/resource.js';
import type { ActingFeature } from '../../handle/around.js';
import type {
  Completion,
  CompletionPlace,
  Outcome,
  ShownRecords,
  WholeRecords,
} from '../../handle/outcome.js';
import type { AccessForm } from '../../operation/access.js';
import { compileAlso } from '../../operation/compile-operation.js';
import type { FeatureContext, FeatureFactory, Inputs } from '../../operation/feature.js';
import type { Selection } from '../../operation/operation.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import type { FoundRelation, RelatedAccess } from '../../operation/related-rows.js';
import type { RequestArguments } from '../../request/parse-request.js';
import type { Inclusion } from '../../request/query/list-query.js';
import { type CurrentItem, currentItem } from '../../request/request-notes.js';
import type { WireRecord } from '../../respond/record-serializer.js';
import { keptIn, perPair } from '../../util/memo.js';
import { fieldsReader } from '../fields.js';
import { embed } from '../include/embed.js';
import { isHidden } from '../include-names.js';
import {
  adviseOnPlaces,
  compileNested,
  type NestedLevel,
  nestedLevels,
  relateNested,
  worksOf,
} from './nested-options.js';
import { compileMembers, type NestedInputs, type NestedSet } from './parse-nested.js';
import { compileReadAgain } from './read-again.js';
import { someOf, withWritten } from './show-written.js';
import { attributesFor, compileNestedWriter } from './write-nested.js';

const NONE: readonly NestedSet[] = Object.freeze([]);

function makeFeature({ plan }: FeatureContext): ActingFeature | null {
  const levels = nestedLevels(plan);
  if (!levels) return null;
  const also = compileAlso();
  const needed = [...new Set([...keyNames(plan.info.address), ...attributesFor(levels)])];
  const withKeys = <O extends { readonly returning: Selection }>(operation: O): O => ({
    ...operation,
    returning: also(operation.returning, needed),
  });
  return {
    bodyMembers: {
      create: compileMembers(levels, 'create'),
      update: compileMembers(levels, 'update'),
      replace: compileMembers(levels, 'replace'),
    },
    rewrite: { create: withKeys, update: withKeys, replace: withKeys },
    varies: ({ nested }: Inputs) => nested !== undefined,
    works: (route) => worksOf(levels, route),
    completion(resource, endpoint): Completion | null {
      const base = baseOf(endpoint);
      if (base !== 'create' && base !== 'update' && base !== 'replace') return null;
      const { write, lock, mayChangeParents } = compileNestedWriter(resource, levels);
      const readAgain = compileReadAgain(resource, endpoint);
      // A view compiles each member at its first use.
      const viewOf = perPair(
        ({ relation }: FoundRelation): ShownModel => ({ ...resource.views(relation.target) }),
      );
      return {
        input: 'nested',
        isOpen: () => false,
        async complete(found, input, place) {
          const prefix = (item: CurrentItem) => (item === null ? '' : `${item}/`);
          const { now, whole } = await completeAll(found, [input], place, prefix);
          return { ...found, ...now, ...whole };
        },
        lockAll: lock,
        async completeAll(shown, inputs, place) {
          return (await completeAll(shown, inputs, place, (_, index) => `${index}/`)).whole;
        },
      };
      /** @returns the records with their children, and these records alone where they were read again */
      async function completeAll(
        shown: ShownRecords,
        inputs: readonly RequestArguments[],
        place: CompletionPlace,
        placeOf: (item: CurrentItem, index: number) => string,
      ): Promise<{ readonly now: Outcome | null; readonly whole: WholeRecords }> {
        const item = currentItem(place.request);
        const sets = inputs.map(({ query }) => (query as NestedInputs).nested ?? NONE);
        const places = inputs.map((_, index) => placeOf(item, index));
        // Rows of our SQL: code of the user's may have written more.
        const areNew = base === 'create' && shown.rows.length === shown.size;
        const parents = { column: (name: string) => shown.column(name), places, sets, areNew };
        const written = await write(place.request, parents, place.on);
        const first = inputs[0] as RequestArguments;
        const now = (await mayChangeParents(sets)) ? await readAgain(shown, first, place) : null;
        const records = withWritten(now ?? shown, written, { ...place, viewOf });
        const { form } = first.access;
        const groups = new Map<string, { readonly include: readonly Inclusion[]; readonly rows: number[] }>();
        for (const [row, nested] of sets.entries()) {
          const include = await inclusionsOf(nested, form, viewOf, place);
          keptIn(groups, pathsOf(include).join(), () => ({ include, rows: [] })).rows.push(row);
        }
        const parts: { readonly whole: WholeRecords; readonly rows: readonly number[] }[] = [];
        for (const { include, rows } of groups.values())
          parts.push({ whole: await embed(someOf(records, rows), include, { ...place, viewOf }), rows });
        return { now, whole: joined(shown.size, parts) };
      }
    },
  };
}

/** Paths of relations, those behind them too. */
function pathsOf(include: readonly Inclusion[]): readonly string[] {
  return include.flatMap((each) => [each.plan.path, ...pathsOf(each.include)]);
}

/** Records of several groups, in the order of all. */
function joined(
  size: number,
  parts: readonly { readonly whole: WholeRecords; readonly rows: readonly number[] }[],
): WholeRecords {
  const [first] = parts;
  if (first && parts.length === 1) return first.whole;
  const ordered = <T>(of: (whole: WholeRecords) => (index: number) => T): readonly T[] => {
    const all: T[] = [];
    for (const { whole, rows } of parts) {
      const read = of(whole);
      for (const [index, row] of rows.entries()) all[row] = read(index);
    }
    return all;
  };
  return {
    size,
    writer(fields) {
      const texts = ordered((whole) => whole.writer(fields));
      return (index) => texts[index] as string;
    },
    values: (fields) =>
      ordered((whole) => {
        const values = whole.values(fields);
        return (index) => values[index] as WireRecord;
      }),
  };
}

const fieldsOf = perPair(({ readable }: ShownModel) => fieldsReader(readable));

/** The relations that a request names, as far as it may read them. */
async function inclusionsOf(
  nested: readonly NestedSet[],
  form: AccessForm,
  viewOf: (plan: FoundRelation) => ShownModel,
  place: CompletionPlace,
): Promise<readonly Inclusion[]> {
  const named = new Map<NestedLevel, NestedSet[]>();
  for (const set of nested) named.set(set.level, [...(named.get(set.level) ?? []), set]);
  const found: Inclusion[] = [];
  for (const [{ plan, max, nested: inner }, sets] of named) {
    const access = await accessToShow(place, plan);
    if (!access || isHidden(plan, form, access)) continue;
    const target = access.target.form;
    found.push({
      plan,
      fields: fieldsOf(viewOf(plan)).absentFor(target),
      size: max,
      sort: plan.target.defaultSort,
      filter: null,
      include: inner.size === 0 ? [] : await inclusionsOf(setsWithin(sets), target, viewOf, place),
    });
  }
  return found;
}

/** The children of children. */
function setsWithin(sets: readonly NestedSet[]): readonly NestedSet[] {
  const items = sets.flatMap(({ create, update }) => [...create, ...update]);
  return items.flatMap(({ input }) => (input?.query as NestedInputs | undefined)?.nested ?? NONE);
}

/** The access of a request to the rows of a relation; null where its rules refuse to show them. */
async function accessToShow(
  { request }: CompletionPlace,
  plan: NestedLevel['plan'],
): Promise<RelatedAccess | null> {
  try {
    return await relatedAccess(request, plan);
  } catch (error) {
    if (error instanceof RefusedRequestError && error.status === 403) return null;
    throw error;
  }
}

/** For resources with the option. */
export const nested: FeatureFactory = Object.assign(makeFeature, {
  resourceOptions: { nested: compileNested },
  relate: relateNested,
  adviseOn: adviseOnPlaces,
});
