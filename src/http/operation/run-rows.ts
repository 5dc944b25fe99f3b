/** Runs an operation with our SQL: rows of texts, which are written into JSON as they are. */
import type { Endpoint } from '../../metadata/crud-options.js';
import { hasScope } from '../../persistence/customization/default-scope.js';
import { hasQueryHooks } from '../../persistence/customization/model-hooks.js';
import { noSuchRecord } from '../../persistence/errors/errors.js';
import type { Page } from '../../persistence/paging/page.js';
import type { TextRow } from '../../persistence/protocol/batch.js';
import { FastFinder, type TextRows } from '../../persistence/rows/fast-finder.js';
import { FastWriter } from '../../persistence/rows/fast-writer.js';
import { encodeParameter } from '../../persistence/sql/encode-parameter.js';
import { describeTable } from '../../persistence/sql/table-sql.js';
import type { ListQuery } from '../../query/list-query.js';
import type { RequestArguments } from '../request/parse-request.js';
import type { Resource } from '../resources/resource.js';
import type { Outcome } from './outcome.js';

/** Runs one operation of a resource. */
export interface RowRunner {
  /** Whether it may now: hooks and a scope can be added at any time, and would not see our SQL. */
  isOpen(): boolean;
  /** Null when only Sequelize can, and then nothing has happened yet. */
  run(input: RequestArguments): Promise<Outcome | null>;
}

/** Compiles the runners of a resource's operations. */
export function compileRowRunners(resource: Resource): (operation: Endpoint) => RowRunner {
  const { plan, rowView: view } = resource;
  const { info, model } = plan;
  const table = describeTable(info, view.attributes);
  const finder = new FastFinder(table);
  const writer = new FastWriter(table);
  const keyText = (id: unknown) => encodeParameter(info.primaryKey.type, id) as string;
  const keyAt = view.attributes.indexOf(info.primaryKey);

  const resultOf = (
    rows: readonly TextRow[],
    parsers: TextRows['parsers'],
    page: Page<unknown> | null,
  ): Outcome => ({
    page,
    key: () => rows[0]?.[keyAt],
    // Where there are no rows, nobody has said how to read one.
    texts: (fields) => (rows.length === 0 ? [] : rows.map(view.writer(parsers, fields).text)),
    values: (fields) => (rows.length === 0 ? [] : rows.map(view.writer(parsers, fields).values)),
  });
  const recordOf = ({ rows, parsers }: TextRows): Outcome => {
    if (rows.length === 0) throw noSuchRecord({ name: plan.name, key: info.primaryKey.name });
    return resultOf(rows, parsers, null);
  };
  const runs: Readonly<Record<Endpoint, RowRunner['run']>> = {
    async list({ query }) {
      const list = query as ListQuery;
      const page = await (list.kind === 'offset' ? finder.page(list) : finder.cursorPage(list));
      return resultOf(page.items, page.parsers, page);
    },
    read: async ({ id }) => recordOf(await finder.find(keyText(id))),
    async create({ values = {} }) {
      const created = await writer.insert(values);
      return created && recordOf(created);
    },
    async update({ id, values = {} }) {
      const updated = await writer.update(keyText(id), values);
      return updated && recordOf(updated);
    },
    async delete({ id }) {
      if (await writer.delete(keyText(id))) return resultOf([], [], null);
      return recordOf({ rows: [], parsers: [] });
    },
  };
  return (operation) => {
    const kind = operation === 'list' || operation === 'read' ? 'read' : 'write';
    return { run: runs[operation], isOpen: () => !hasQueryHooks(model, kind) && !hasScope(model) };
  };
}
