/** Runs an aggregate, and makes its answer of the values. */

import type { Measure } from '../../declare/aggregate-options.js';
import type { AttributeInfo, RecordInfo } from '../../describe/model-info.js';
import { hasState } from '../../errors/database-fault.js';
import { selectValues, type ValueRow } from '../../execute/session/select-values.js';
import { attributeOf } from '../../execute/sql/predicate-sql.js';
import type { Slots } from '../../execute/sql/statement.js';
import { wireFormat } from '../../respond/wire-format.js';
import { InvalidQueryError, type RequestIssue } from '../../schema/request-issue.js';
import { zoneIssue } from './aggregate-inputs.js';
import type { AggregateOperation, MeasureTerm } from './aggregate-operation.js';
import { compileAggregateSql, compileEstimateSql } from './aggregate-sql.js';
import { groupType, measureType } from './aggregate-types.js';
import { attributeOfGroup } from './related-group.js';

/** Values by attribute, as answers have them. */
type Values = Readonly<Record<string, unknown>>;

/** A group, as it is answered. It has the measures of the request. */
export interface GroupItem extends Readonly<Partial<Record<Exclude<Measure, 'countDistinct'>, Values>>> {
  /** The values of the group, by name. */
  readonly group: Values;
  /** Number of its records. */
  readonly count: number;
  readonly countDistinct?: Readonly<Record<string, number>>;
}

/** A page of groups. */
export interface AggregateResult {
  readonly items: readonly GroupItem[];
  /** True where other groups follow. */
  readonly has_next: boolean;
  /** The time zone of the groups, where one of them is a span of moments. */
  readonly tz?: string;
}

type Place = [on: Parameters<typeof selectValues>[3], within?: Parameters<typeof selectValues>[4]];

/** State of a value that PostgreSQL does not accept, such as an unknown time zone. */
const INVALID_PARAMETER = '22023';
/** State of a number that its type cannot hold. */
const OUT_OF_RANGE = '22003';

/** Runs it. @param place where, as for `selectValues` */
export async function runAggregate(
  info: RecordInfo,
  operation: AggregateOperation,
  slots: Slots,
  ...place: Place
): Promise<AggregateResult> {
  const { window, zone, measures } = operation;
  try {
    const rows = await selectValues(info, compileAggregateSql(info, operation), slots, ...place);
    return {
      items: rows.slice(0, window.size).map(itemWriter(info, operation)),
      has_next: rows.length > window.size,
      ...(zone === null ? {} : { tz: zone }),
    };
  } catch (error) {
    const added = measures.find(({ measure, attribute }) => isAddedUp(measure, attributeOf(info, attribute)));
    if (added && hasState(error, OUT_OF_RANGE)) throw new InvalidQueryError([rangeIssue(added)]);
    if (zone === null || !hasState(error, INVALID_PARAMETER)) throw error;
    throw new InvalidQueryError([
      zoneIssue(`Parameter 'tz' is '${zone}', which the database does not know.`),
    ]);
  }
}

/** True for floats that are added up: only their sums have a largest number. */
function isAddedUp(measure: Measure, { type }: AttributeInfo): boolean {
  return (measure === 'sum' || measure === 'avg') && type.kind === 'float';
}

function rangeIssue({ measure }: MeasureTerm): RequestIssue {
  const detail = `Parameter '${measure}' adds up floats to more than the largest one; narrow it with q.`;
  return { parameter: measure, code: 'aggregate.range', detail };
}

/** The rows that PostgreSQL believes to group. */
export async function estimateRows(
  info: RecordInfo,
  operation: AggregateOperation,
  slots: Slots,
  ...place: Place
): Promise<number> {
  const [row] = await selectValues(info, compileEstimateSql(info, operation), slots, ...place);
  const plan: unknown = typeof row?.[0] === 'string' ? JSON.parse(row[0]) : row?.[0];
  const [{ Plan }] = plan as [{ readonly Plan: Readonly<Record<string, number>> }];
  return Plan['Plan Rows'] as number;
}

function itemWriter(info: RecordInfo, { group, measures }: AggregateOperation) {
  const formats: readonly ((value: unknown) => unknown)[] = [
    ...group.map((term) => wireFormat(groupType(term.unit, attributeOfGroup(info, term).type))),
    Number,
    ...measures.map(({ attribute, measure }) =>
      measure === 'countDistinct'
        ? Number
        : wireFormat(measureType(measure, attributeOf(info, attribute).type)),
    ),
  ];
  return (row: ValueRow): GroupItem => {
    const values = row.map((value, index) => (value === null ? null : formats[index]?.(value)));
    const measured: Record<string, Record<string, unknown>> = {};
    for (const [index, { measure, attribute }] of measures.entries()) {
      measured[measure] ??= {};
      measured[measure][attribute] = values[group.length + 1 + index];
    }
    return {
      group: Object.fromEntries(group.map(({ name }, index) => [name, values[index]])),
      count: values[group.length] as number,
      ...measured,
    };
  };
}
