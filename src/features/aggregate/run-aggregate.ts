/** Runs an aggregate, and makes its answer of the values. */
import type { ModelInfo } from '../../describe/model-info.js';
import { selectValues } from '../../execute/session/select-values.js';
import { attributeOf } from '../../execute/sql/predicate-sql.js';
import type { Slots } from '../../execute/sql/statement.js';
import type { StatementTarget } from '../../postgres/index.js';
import { wireFormat } from '../../respond/wire-format.js';
import type { AggregateOperation } from './aggregate-operation.js';
import { compileAggregateSql } from './aggregate-sql.js';

/** One group, as it is answered. */
export interface GroupItem {
  /** The values of the group, by name. */
  readonly group: Readonly<Record<string, unknown>>;
  readonly count: number;
}

/** Groups, and whether others follow. */
export interface AggregateResult {
  readonly items: readonly GroupItem[];
  readonly has_next: boolean;
}

/** Runs it. @param on as for `selectValues` */
export async function runAggregate(
  info: ModelInfo,
  operation: AggregateOperation,
  slots: Slots,
  on: StatementTarget | null,
): Promise<AggregateResult> {
  const { group, window } = operation;
  const rows = await selectValues(info, compileAggregateSql(info, operation), slots, on);
  const formats = group.map(({ attribute }) => wireFormat(attributeOf(info, attribute).type));
  const items = rows.slice(0, window.size).map(
    (values): GroupItem => ({
      group: Object.fromEntries(
        group.map(({ name }, index) => [
          name,
          values[index] === null ? null : formats[index]?.(values[index]),
        ]),
      ),
      count: Number(values[group.length]),
    }),
  );
  return { items, has_next: rows.length > window.size };
}
