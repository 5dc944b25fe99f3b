/** Runs an operation with our SQL: rows of texts, which are written into JSON as they are. */
import type { Request } from 'express';
import type { Sequelize } from 'sequelize';
import type { Endpoint } from '../../metadata/crud-options.js';
import { deletedAtOf } from '../../model/attribute-notes.js';
import { hasQueryHooks } from '../../model/model-hooks.js';
import type { Access } from '../../operation/access.js';
import { alreadyThere, changedMeanwhile, notThere } from '../../operation/entity-tag.js';
import type { Inputs } from '../../operation/feature.js';
import type { Operation } from '../../operation/operation.js';
import { allOf, equalTo } from '../../operation/predicates.js';
import { currentTarget } from '../../persistence/connections/current-target.js';
import { statementRunner } from '../../persistence/connections/statement-runner.js';
import type { StatementTarget } from '../../persistence/connections/statement-target.js';
import { hasScope } from '../../persistence/customization/default-scope.js';
import { noSuchRecord, notDeleted } from '../../persistence/errors/errors.js';
import type { TextRow } from '../../persistence/protocol/batch.js';
import { RowExecutor } from '../../persistence/rows/row-executor.js';
import { currentSession } from '../../persistence/session/session.js';
import { encodeParameter } from '../../persistence/sql/encode-parameter.js';
import { joinSlots, type Slots } from '../../persistence/sql/statement.js';
import type { RequestArguments } from '../request/parse-request.js';
import { requestSettings } from '../request/row-security.js';
import type { GeneratedRoute } from '../resources/generated-routes.js';
import type { Resource } from '../resources/resource.js';
import type { Outcome } from './outcome.js';
import { rowsShown } from './shown-records.js';

/** Runs one operation of a resource. */
export interface RowRunner<I extends RequestArguments = RequestArguments> {
  /** Whether it may now: hooks and a scope can be added at any time, and would not see our SQL. */
  isOpen(): boolean;
  /**
   * Null when only Sequelize can, and then nothing has happened yet.
   *
   * @param on default: any connection of the pool
   */
  run(input: I, on?: StatementTarget): Promise<Outcome | null>;
}

/** Where statements run that are in no session: with the settings of the request; undefined is any connection of the pool. */
export function aloneTarget(sequelize: Sequelize | undefined, request: Request): StatementTarget | undefined {
  const settings = requestSettings(request);
  return settings && sequelize ? currentTarget(sequelize, settings) : undefined;
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

function columnsOf(operation: Operation): readonly string[] {
  if (operation.kind === 'delete') return [];
  return 'select' in operation ? operation.select.columns : operation.returning.columns;
}

/** Compiles the runners of a resource's operations. */
export function compileRowRunners(resource: Resource): (endpoint: Endpoint) => RowRunner {
  const { plan, rowView, features } = resource;
  const { info, model, entityTag } = plan;
  const { primaryKey, name } = info;
  const executor = new RowExecutor(info);
  const missing = () => noSuchRecord({ name, key: primaryKey.name });
  const mark = deletedAtOf(info);
  const asks = [...(mark === undefined ? [] : [mark]), ...(entityTag ? [entityTag.attribute] : [])];
  /** Why a row was not found: there is none, it is soft-deleted or is not, or has another state. */
  const explain = async (
    endpoint: Endpoint,
    { ifMatch, onlyNew }: Inputs,
    { where }: Access,
    slots: Slots,
    on?: StatementTarget,
  ) => {
    const isOfDeleted = endpoint === 'restore' || endpoint === 'purge';
    const isReplaced = endpoint === 'replace';
    if (!isOfDeleted && !isReplaced && !ifMatch) return missing();
    const select = { columns: [primaryKey.name, ...asks] };
    const row = allOf(equalTo(primaryKey.name, { slot: 'id' }), where);
    const found = await executor.run({ kind: 'read', where: row, select, isFresh: true }, slots, on);
    const [values] = found.rows;
    const textOf = (attribute: string) => values?.[select.columns.indexOf(attribute)] ?? null;
    const isDeleted = mark !== undefined && textOf(mark) !== null;
    if (!values || (isDeleted && !isOfDeleted)) return isReplaced ? notThere(plan) : missing();
    if (isOfDeleted && !isDeleted) return notDeleted(info);
    const state = entityTag && textOf(entityTag.attribute);
    if (onlyNew) return alreadyThere(plan, state);
    return state && ifMatch ? changedMeanwhile(plan, state) : missing();
  };
  const virtuals = [...info.attributes.values()].filter(({ type }) => type.kind === 'virtual');
  return (endpoint) => {
    const { operation } = features[endpoint];
    const kind = endpoint === 'list' || endpoint === 'read' ? 'read' : 'write';
    return {
      isOpen: () => !hasQueryHooks(model, kind) && !hasScope(model),
      async run({ query, access, id, values }, on) {
        // No column takes its value, and a record would hold it.
        if (values && virtuals.some((virtual) => values[virtual.name] !== undefined)) return null;
        const slots =
          id === undefined
            ? access.slots
            : joinSlots({ id: encodeParameter(primaryKey.type, id) as string }, access.slots);
        const asked = operation(
          query,
          access,
          endpoint === 'replace' ? { ...values, [primaryKey.name]: id } : values,
        );
        const found = await executor.run(asked, slots, on);
        if (found === null) return null;
        const { rows, parsers, count } = found;
        if (endpoint !== 'list' && count === 0) throw await explain(endpoint, query, access, slots, on);
        const shown = rowsShown(resource, info, columnsOf(asked), {
          rows: rows as readonly TextRow[],
          parsers,
        });
        return {
          page: endpoint === 'list' ? { ...query, ...found, items: [] } : null,
          count,
          ...('isNew' in found ? { isNew: found.isNew === true } : {}),
          key: () => (rows[0] ? rowView.key(rows[0], parsers, query.fields) : undefined),
          stored: (attribute) => shown.column(attribute)[0] ?? null,
          ...shown,
        };
      },
    };
  };
}
