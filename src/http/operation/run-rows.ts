/** Runs an operation with our SQL: rows of texts, which are written into JSON as they are. */
import type { Sequelize } from 'sequelize';
import type { Endpoint } from '../../metadata/crud-options.js';
import { deletedAtOf } from '../../model/attribute-notes.js';
import type {
  DeleteOperation,
  InsertOperation,
  ListOperation,
  ReadOperation,
  UpdateOperation,
} from '../../operation/operation.js';
import { aliveRows, allOf, equalTo } from '../../operation/predicates.js';
import { statementRunner } from '../../persistence/connections/statement-runner.js';
import type { StatementTarget } from '../../persistence/connections/statement-target.js';
import { hasScope } from '../../persistence/customization/default-scope.js';
import { hasQueryHooks } from '../../persistence/customization/model-hooks.js';
import { noSuchRecord } from '../../persistence/errors/errors.js';
import { type FoundRows, RowExecutor, type RowPage } from '../../persistence/rows/row-executor.js';
import { currentSession } from '../../persistence/session/session.js';
import { encodeParameter } from '../../persistence/sql/encode-parameter.js';
import type { Slots } from '../../persistence/sql/statement.js';
import type { ListQuery } from '../../query/list-query.js';
import type { RequestArguments } from '../request/parse-request.js';
import type { GeneratedRoute } from '../resources/generated-routes.js';
import type { Resource } from '../resources/resource.js';
import type { Outcome } from './outcome.js';

/** Runs one operation of a resource. */
export interface RowRunner {
  /** Whether it may now: hooks and a scope can be added at any time, and would not see our SQL. */
  isOpen(): boolean;
  /**
   * Null when only Sequelize can, and then nothing has happened yet.
   *
   * @param on default: any connection of the pool
   */
  run(input: RequestArguments, on?: StatementTarget): Promise<Outcome | null>;
}

/** Where statements run that join the session of the running code; undefined is any connection of the pool. */
export async function sessionTarget(
  sequelize: Sequelize | undefined,
  verb: GeneratedRoute['verb'],
): Promise<StatementTarget | undefined> {
  const session = currentSession(sequelize);
  const transaction = await session?.transactionFor(verb === 'get' ? 'select' : 'other');
  return session && transaction ? statementRunner(session.sequelize).within(transaction) : undefined;
}

/** Compiles the runners of a resource's operations. */
export function compileRowRunners(resource: Resource): (endpoint: Endpoint) => RowRunner {
  const { model } = resource.plan;
  const runs = compileRuns(resource);
  return (endpoint) => {
    const kind = endpoint === 'list' || endpoint === 'read' ? 'read' : 'write';
    return { run: runs[endpoint], isOpen: () => !hasQueryHooks(model, kind) && !hasScope(model) };
  };
}

function compileRuns({ plan, rowView: view }: Resource): Readonly<Record<Endpoint, RowRunner['run']>> {
  const { info } = plan;
  const { primaryKey } = info;
  const executor = new RowExecutor(info);
  const alive = aliveRows(info);
  const where = allOf(equalTo(primaryKey.name, { slot: 'id' }), alive);
  const slotsOf = (id: unknown): Slots => ({ id: encodeParameter(primaryKey.type, id) as string });
  const select = view.select(null);
  const read: ReadOperation = Object.freeze({ kind: 'read', where, select });
  const remove: DeleteOperation = Object.freeze({ kind: 'delete', where, mark: deletedAtOf(info) ?? null });

  const outcomeOf = ({ rows, parsers }: FoundRows, page: Outcome['page']): Outcome => ({
    page,
    key: () => (rows[0] ? view.key(rows[0], parsers) : undefined),
    // Where there are no rows, nobody has said how to read one.
    texts: (fields) => (rows.length === 0 ? [] : rows.map(view.writer(parsers, fields).text)),
    values: (fields) => (rows.length === 0 ? [] : rows.map(view.writer(parsers, fields).values)),
  });
  const recordOf = (found: FoundRows, count = found.rows.length): Outcome => {
    if (count === 0) throw noSuchRecord({ name: plan.name, key: primaryKey.name });
    return outcomeOf(found, null);
  };
  return {
    async list({ query }, on) {
      const { kind, page, size, after, before, filter, sort, fields } = query as ListQuery;
      const isOffset = kind === 'offset';
      const list: ListOperation = {
        kind: 'list',
        where: allOf(alive, filter),
        select: view.select(fields),
        order: sort,
        window: isOffset ? { kind, page, size } : { kind: 'keyset', after, before, size },
        count: isOffset ? 'exact' : 'none',
      };
      const found: RowPage = await executor.run(list, undefined, on);
      return outcomeOf(found, { ...found, items: [], page, size });
    },
    async read({ id, query }, on) {
      const fields = query?.fields ?? null;
      const one = fields ? { ...read, select: view.select(fields) } : read;
      return recordOf(await executor.run(one, slotsOf(id), on));
    },
    async create({ values = {} }, on) {
      const insert: InsertOperation = { kind: 'insert', rows: [values], returning: view.returning };
      const created = await executor.run(insert, undefined, on);
      return created && recordOf(created);
    },
    async update({ id, values = {} }, on) {
      const update: UpdateOperation = { kind: 'update', where, set: values, returning: select };
      const updated = await executor.run(update, slotsOf(id), on);
      return updated && recordOf(updated);
    },
    async delete({ id }, on) {
      const found = await executor.run(remove, slotsOf(id), on);
      return recordOf(found, found.count);
    },
  };
}
