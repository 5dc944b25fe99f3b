/** Reads the changes of a record, page by page, and makes the items of an answer of them. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { ModelInfo } from '../../describe/model-info.js';
import { storedAttributes } from '../../execute/customization/hydrate-record.js';
import type { CursorPage, PageSource } from '../../execute/page.js';
import { findPage } from '../../execute/page.js';
import { selectValues, type ValueRow } from '../../execute/session/select-values.js';
import type { Resource } from '../../express/resources/resource.js';
import type { Access, AccessForm } from '../../operation/access.js';
import type { StatementTarget } from '../../postgres/index.js';
import type { Keyset } from '../../request/query/cursor-codec.js';
import { excludedAttributes } from '../capture/capture-options.js';
import { type StoredProperty, storedProperties } from '../capture/stored-properties.js';
import { searchOf, vectorName } from '../search/search-options.js';
import { type ChangeChoice, changesSql } from './history-sql.js';

/** The value of an attribute before and after. A side that is not seen is absent, and so is a value that is not stored. */
interface Change {
  from?: unknown;
  to?: unknown;
  /** True where a value no longer fits its column, and is as it was stored. */
  raw?: true;
}

/** A change of a record, as it is answered. */
export interface ChangeItem {
  readonly id: string;
  readonly at: string;
  readonly op: 'create' | 'update' | 'delete' | 'restore';
  readonly actor: string | null;
  readonly operation: string | null;
  readonly request_id: string | null;
  /** The change that a revert went back to. */
  readonly of: string | null;
  readonly version: unknown;
  /** Names of the attributes that have changed, those among them whose values are not stored. */
  readonly changed: readonly string[];
  readonly changes: Readonly<Record<string, Change>>;
}

/** Part of a record's past that a request may see. */
export interface PastView {
  readonly properties: readonly StoredProperty[];
  /** Columns whose values are not stored, and the names that changes of them have. */
  readonly named: ReadonlyMap<string, string>;
  readonly access: Access;
}

/** Compiles the parts of the past of records. `fields` names properties of answers; null is all of them, and what no answer shows. */
export function compileView(plan: ResourcePlan) {
  const all = storedProperties(plan);
  const { text = null } = searchOf(plan) ?? {};
  const vector = text && vectorName(text);
  // The vector of a search changes with attributes that the request may not read.
  const excluded = excludedAttributes(plan)
    .filter(({ name }) => name !== vector)
    .map(({ name, column }) => {
      const shown = all.find(({ attribute }) => attribute === name);
      return { name: shown?.name ?? name, attribute: name, column };
    });
  // A single value may not be stored, which `jsonb` does not have.
  const left = [...all.filter(({ attribute }) => isJson(plan.info, attribute)), ...excluded];
  return (
    { unreadable }: AccessForm,
    fields: readonly string[] | null,
  ): Pick<PastView, 'properties' | 'named'> => {
    const isAsked = ({ name, attribute }: Pick<StoredProperty, 'name' | 'attribute'>) =>
      !unreadable.has(attribute) &&
      !plan.info.attributes.get(attribute)?.found?.isVirtual &&
      (fields?.includes(name) ?? true);
    const named = new Map(left.filter(isAsked).map(({ column, name }) => [column, name]));
    return { properties: all.filter(isAsked), named };
  };
}

function isJson({ attributes }: ModelInfo, name: string): boolean {
  return attributes.get(name)?.type.kind === 'json';
}

/** A run through the changes of a record, from a place on. */
interface ChangeRange {
  readonly isDescending: boolean;
  readonly place: Keyset | null;
}

interface PlacedRow {
  readonly values: ValueRow;
  readonly isPlace: boolean;
}

/** Newest first. */
const ORDER = [{ attribute: 'id', descending: true, nullable: false }] as const;

/** Reads a page. */
export async function readChanges(
  resource: Pick<Resource, 'plan' | 'serialize'>,
  view: PastView,
  rowId: string,
  window: { readonly after: Keyset | null; readonly before: Keyset | null; readonly size: number },
  on: StatementTarget | null,
): Promise<CursorPage<ChangeItem>> {
  const { plan } = resource;
  const { access, properties, named } = view;
  const columns = properties.map(({ column }) => column);
  const find = async ({ isDescending, place }: ChangeRange, limit: number): Promise<PlacedRow[]> => {
    const from = place && { id: String(place.values[0]), isInclusive: place.isInclusive };
    const choice: ChangeChoice = {
      ...{ rowId, columns, named: [...named.keys()], place: from, isDescending, limit },
    };
    const rows = await selectValues(plan.info, changesSql(plan, access, choice), access.slots, on);
    return rows.map((values) => ({ values, isPlace: values[0] === from?.id }));
  };
  const source: PageSource<PlacedRow, ChangeRange> = {
    terms: ORDER,
    ranges: ([term], place) => [{ isDescending: term?.descending === true, place }],
    find,
    hasAny: async (range) => (await find(range, 1)).length > 0,
    valuesOf: ({ values: [id] }) => [String(id)],
    isPlace: (row) => row.isPlace,
    count: () => Promise.resolve(0),
    findFrom: () => Promise.resolve([]),
  };
  const page = await findPage(source, { window: { kind: 'keyset', ...window }, count: 'none' });
  const itemOf = itemMaker(resource, view);
  return { ...(page as CursorPage<PlacedRow>), items: page.items.map(({ values }) => itemOf(values)) };
}

/** Values of a row before those of its images. */
type Head = readonly [
  id: string,
  parts: Pick<ChangeItem, 'at' | 'actor' | 'operation' | 'request_id' | 'of'> & {
    readonly before: Texts | null;
    readonly after: Texts | null;
    readonly leftOut: readonly string[];
    readonly hasOld: boolean;
    readonly wasAlive: boolean;
    readonly hasNew: boolean;
    readonly isAlive: boolean;
  },
];

/** Values as JSON texts, by column. */
type Texts = Readonly<Record<string, string>>;

function itemMaker(
  { plan, serialize }: Pick<Resource, 'plan' | 'serialize'>,
  { properties, named }: PastView,
) {
  const { info, entityTag } = plan;
  const attributes = storedAttributes(info);
  const fields = properties.map(({ name }) => name);
  const version = properties.find(
    ({ attribute }) => entityTag?.kind === 'version' && entityTag.attribute === attribute,
  );
  return (row: ValueRow): ChangeItem => {
    const [id, parts] = row as unknown as Head;
    const { at, actor, operation, request_id, of, before, after, leftOut, hasOld, hasNew } = parts;
    const sideOf = (texts: Texts | null, isThere: boolean, from: number) => {
      const values = row.slice(from, from + attributes.length);
      const shown = isThere ? serialize(recordOf(info, values), fields) : {};
      const partOf = (side: 'from' | 'to', property: StoredProperty): Change => {
        const text = texts?.[property.column];
        if (text === undefined) return {};
        const stored = values[attributes.findIndex(({ name }) => name === property.attribute)];
        if (text === 'null' || (stored !== null && stored !== undefined))
          return { [side]: shown[property.name] };
        return property.isMade ? { raw: true } : { [side]: storedValue(text), raw: true };
      };
      return { shown, partOf };
    };
    const old = sideOf(before, hasOld, 2);
    const now = sideOf(after, hasNew, 2 + attributes.length);
    const changes: Record<string, Change> = {};
    for (const property of properties) {
      const change = { ...old.partOf('from', property), ...now.partOf('to', property) };
      if (Object.keys(change).length > 0) changes[property.name] = change;
    }
    const state = version ? (hasNew ? now : old).shown[version.name] : null;
    const left = leftOut.map((column) => named.get(column) as string);
    return {
      ...{ id, at, op: operationOf(parts), actor, operation, request_id, of },
      version: state ?? null,
      changed: [...new Set([...Object.keys(changes), ...left])],
      changes,
    };
  };
}

/** A record that comes into view is new to the request, and one that leaves it is gone. */
function operationOf({ hasOld, wasAlive, hasNew, isAlive }: Head[1]): ChangeItem['op'] {
  if (!hasOld) return 'create';
  if (!hasNew) return 'delete';
  if (wasAlive === isAlive) return 'update';
  return isAlive ? 'restore' : 'delete';
}

/** A record of an image, as Sequelize makes records of rows. */
function recordOf(info: ModelInfo, values: readonly unknown[]): object {
  const entries = storedAttributes(info).map(({ name }, index) => [name, values[index] ?? null]);
  return info.model.build(Object.fromEntries(entries), { raw: true, isNewRecord: false });
}

/** A stored value. A number that JavaScript would round stays a text. */
function storedValue(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return typeof value === 'number' && String(value) !== text ? text : value;
}
