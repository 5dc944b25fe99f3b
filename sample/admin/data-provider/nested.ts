/** Children that are written with their record: the rows of a form, as the API takes them, and the fields that its problems are about. */

type Item = Readonly<Record<string, unknown>>;

/** The field of a form that a part of a body is of; undefined where it is of none. */
export type FieldOf = (path: readonly string[]) => string | undefined;

/** A body, and where its parts are in the form. */
export interface NestedBody {
  readonly body: Readonly<Record<string, unknown>>;
  readonly fieldOf: FieldOf;
}

/** The record with a list in the place of each page of children. */
export function withChildren(record: Item, relations: readonly string[]): Item {
  const lists = relations.flatMap((name) => {
    const page = record[name] as { readonly items?: readonly Item[] } | undefined;
    return page?.items ? [[name, page.items] as const] : [];
  });
  return lists.length > 0 ? { ...record, ...Object.fromEntries(lists) } : record;
}

/** The body of a new record, whose children are lists already. */
export function nestedCreate(data: Item, relations: readonly string[]): NestedBody {
  const lists = relations.flatMap((name) => (name in data ? [[name, rowsOf(data[name]).map(typedOf)]] : []));
  return {
    body: { ...data, ...Object.fromEntries(lists) },
    // `/stops/0/nights` is of the field `stops.0.nights`.
    fieldOf: (path) => (relations.includes(path[0] ?? '') ? path.join('.') : undefined),
  };
}

/**
 * The body of a change, with the rows of each list that were added, changed and taken out. A row that the form never had is in none of them,
 * and stays.
 */
export function nestedChanges(changes: Item, previous: Item, relations: readonly string[]): NestedBody {
  const body: Record<string, unknown> = { ...changes };
  const places = new Map<string, readonly number[]>();
  for (const name of relations) {
    if (!(name in changes)) continue;
    const now = rowsOf(changes[name]);
    const before = new Map(rowsOf(previous[name]).map((row) => [row['id'], row]));
    const created = now.flatMap((row, place) => (before.has(row['id']) ? [] : [{ place, row }]));
    const updated = now.flatMap((row, place) => {
      const known = before.get(row['id']);
      const changed = known && changedOf(row, known);
      return changed && Object.keys(changed).length > 0
        ? [{ place, row: { id: row['id'], ...changed } }]
        : [];
    });
    const kept = new Set(now.map((row) => row['id']));
    const removed = [...before.keys()].filter((id) => !kept.has(id));
    body[name] = {
      ...(created.length > 0 && { create: created.map(({ row }) => typedOf(row)) }),
      ...(updated.length > 0 && { update: updated.map(({ row }) => row) }),
      ...(removed.length > 0 && { delete: removed }),
    };
    places.set(
      `${name}.create`,
      created.map(({ place }) => place),
    );
    places.set(
      `${name}.update`,
      updated.map(({ place }) => place),
    );
  }
  return {
    body,
    // `/stops/update/0/nights` is of the field of the row that was changed first.
    fieldOf([name, verb, index, ...inner]) {
      const place = places.get(`${name}.${verb}`)?.[Number(index)];
      return place === undefined ? undefined : [name, place, ...inner].join('.');
    },
  };
}

function rowsOf(value: unknown): readonly Item[] {
  return Array.isArray(value) ? value : [];
}

/** A new row of react-admin has null where nobody has typed anything. The API then takes the default. */
function typedOf(row: Item): Item {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && value !== undefined));
}

function changedOf(row: Item, before: Item): Item {
  return Object.fromEntries(
    Object.entries(row).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  );
}
