/** Sums for code that writes records: computed by PostgreSQL from the locked row, and judged by the rules of a body. */
import type { Model, Sequelize } from 'sequelize';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { AttributeInfo } from '../../describe/model-info.js';
import { noValueToAddTo, sumOutOfRange, throwOfSums } from '../../errors/refused-sums.js';
import { storedText } from '../../execute/customization/hydrate-record.js';
import type { Id } from '../../execute/records/repository-operations.js';
import { placedColumns, selectValues } from '../../execute/session/select-values.js';
import { slotsOfTexts } from '../../execute/sql/encode-parameter.js';
import { columnsOf, compilePredicate } from '../../execute/sql/predicate-sql.js';
import { sql, tableSource } from '../../execute/sql/sql-fragment.js';
import { joinSlots, NO_SLOTS, writtenSlot } from '../../execute/sql/statement.js';
import type { AroundMethod } from '../../handle/around.js';
import { argumentsOf, contextOf } from '../../handle/run-method.js';
import { sessionTarget } from '../../handle/run-rows.js';
import { AddedValue } from '../../operation/added-value.js';
import { byKey } from '../../operation/predicates.js';
import { requestSessions } from '../../request/request-sessions.js';
import { parseBody } from '../../schema/body-schema.js';
import { holdsColumnRules } from '../../schema/column-rules.js';
import { lazy } from '../../util/memo.js';
import { sumSchema } from './amounts.js';

type Addition = readonly [name: string, value: AddedValue];

/** Has the method of a change get sums in the place of amounts, with the record locked, in one transaction. */
export const withSums: AroundMethod = (resource, endpoint, runMethod) => {
  if (endpoint !== 'update') return runMethod;
  const { plan } = resource;
  const sequelize = plan.model.sequelize as Sequelize;
  const schema = lazy(() => sumSchema(plan));
  return async (action, given) => {
    const input = argumentsOf(given);
    const { values = {}, id } = input ?? {};
    const additions = Object.entries(values).filter(
      (each): each is [string, AddedValue] => each[1] instanceof AddedValue,
    );
    if (!input || additions.length === 0) return runMethod(action, given);
    return requestSessions(action.request, action.response).runWrite(sequelize, async () => {
      const record = await contextOf(resource, action).repository.getLocked(id as Id);
      const sums = await sumsOf(plan, record, additions).catch(throwOfSums(values));
      return runMethod(action, { ...input, values: { ...values, ...(await parseBody(schema(), sums)) } });
    });
  };
};

/** The sums, as a body has such values. @throws InvalidBodyError for a column without a value */
async function sumsOf(
  { info }: ResourcePlan,
  record: Model,
  additions: readonly Addition[],
): Promise<Readonly<Record<string, unknown>>> {
  const column = columnsOf(info, info.name);
  const key = info.primaryKey.length > 0 ? info.primaryKey : info.address;
  const texts = slotsOfTexts(key, ({ name }) => storedText(info, record, name));
  const amounts = additions.map(([name, { amount }]) => [writtenSlot(name).slot, amount]);
  const columns = additions.map(([name]) => sql`(${column(name)} + ${writtenSlot(name)})::text`);
  const row = sql`SELECT ${placedColumns(columns)} FROM ${tableSource(info, info.name)} WHERE ${compilePredicate(byKey(key), column)}`;
  const on = await sessionTarget(info.model.sequelize as Sequelize, 'patch');
  const slots = joinSlots(texts ?? NO_SLOTS, Object.fromEntries(amounts));
  const [sums = []] = await selectValues(info, row, slots, on ?? null);
  const values: Record<string, unknown> = {};
  for (const [index, [name]] of additions.entries()) {
    const text = (sums[index] ?? null) as string | null;
    if (text === null) throw noValueToAddTo(name);
    const { type } = info.attributes.get(name) as AttributeInfo;
    const isNumber = (type.kind === 'integer' || type.kind === 'float') && Number.isFinite(Number(text));
    values[name] = isNumber ? Number(text) : text;
    // PostgreSQL has made the sum of a type that may hold more than the column.
    if (!holdsColumnRules(type, values[name])) throw sumOutOfRange(additions.map(([each]) => each));
  }
  return values;
}
