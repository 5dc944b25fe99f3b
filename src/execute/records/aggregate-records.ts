/** Groups of the rows of a repository, of any of its attributes. */
import type { Model } from 'sequelize';
import { MEASURES, type Measure, type TimeUnit } from '../../declare/aggregate-options.js';
import type { Attribute } from '../../declare/attributes.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { checkChoice } from '../../describe/hooks-and-scopes-internals.js';
import type { AttributeInfo, ModelInfo } from '../../describe/model-info.js';
import { hasZone, readHaving, readOrder } from '../../features/aggregate/aggregate-inputs.js';
import type {
  AggregateOperation,
  GroupTerm,
  MeasureTerm,
} from '../../features/aggregate/aggregate-operation.js';
import { groupProblem, measureProblem, unitsOf } from '../../features/aggregate/aggregate-types.js';
import { type AggregateResult, runAggregate } from '../../features/aggregate/run-aggregate.js';
import { isTimeZone } from '../../features/aggregate/time-zone.js';
import type { ListOperation } from '../../operation/operation.js';
import { allOf, scopedRows } from '../../operation/predicates.js';
import { currentTarget, isOnSequelize, statementRunner } from '../../postgres/index.js';
import type { RequestIssue } from '../../schema/request-issue.js';
import { showValue, unknownOptions } from '../../util/option-problems.js';
import { openTest } from '../customization/plain-queries.js';
import { typedFilter } from './relation-requests.js';
import { inputsOf, type QueryContext, repositoryOperation } from './repository-operations.js';
import type { RowChoice } from './repository-options.js';

/** Groups of rows, and the values that are computed of each. All attributes can be named, also without the option `aggregate`. */
export interface AggregateQuery<M extends Model = Model>
  extends Pick<RowChoice<M>, 'filter' | 'deleted'>,
    Readonly<Partial<Record<Measure, readonly Attribute<M>[]>>> {
  /** Attributes, and spans of time such as `createdAt.month`. Default: one group of all rows. */
  readonly group?: readonly (Attribute<M> | `${Attribute<M>}.${TimeUnit}`)[];
  /** A condition on groups, in the language of `q`: `count>=10;sum.population>1000`. Default: every group. */
  readonly having?: string;
  /** Groups and measures of the query: `-sum.population,countryCode`. Default: the groups, ascending. */
  readonly sort?: string;
  /** Groups of a page. Default: 100. */
  readonly size?: number;
  /** From 1. Default: 1. */
  readonly page?: number;
  /** IANA name of a time zone. Default: `UTC`. */
  readonly tz?: string;
}

const OPTIONS = ['filter', 'deleted', 'group', ...MEASURES, 'having', 'sort', 'size', 'page', 'tz'];

/** Runs a query. @throws TypeError for a measure that its column cannot have, and for a text that cannot be parsed */
export async function aggregateRecords<M extends Model>(
  info: ModelInfo,
  { access, address, scope }: QueryContext,
  query: AggregateQuery<M>,
): Promise<AggregateResult> {
  const { model, name } = info;
  const [strange] = unknownOptions('An aggregate', query, OPTIONS);
  if (strange !== undefined) throw new TypeError(strange);
  checkChoice(model, `${name} cannot be aggregated`);
  const filter = typedFilter(info, query.filter, `An aggregate of ${name}`) ?? undefined;
  const inputs = inputsOf({ filter, deleted: query.deleted });
  const { where } = repositoryOperation(model, 'list', access, address, inputs) as ListOperation;
  const operation = operationOf(info, query, allOf(where, scopedRows(info)));
  const isByRows = !isOnSequelize() && openTest(info, 'list', false)();
  const { transaction = null } = scope;
  const { sequelize } = model as ModelClass & Required<Pick<ModelClass, 'sequelize'>>;
  if (!isByRows) return runAggregate(info, operation, access.slots, null, transaction);
  const on = transaction ? statementRunner(sequelize).within(transaction) : currentTarget(sequelize);
  return runAggregate(info, operation, access.slots, on);
}

function operationOf<M extends Model>(
  info: ModelInfo,
  query: AggregateQuery<M>,
  where: AggregateOperation['where'],
): AggregateOperation {
  const { having, sort, size = 100, page = 1, tz = 'UTC' } = query;
  for (const [option, value] of Object.entries({ size, page }))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new TypeError(`${option} of an aggregate is ${showValue(value)}; use an integer from 1.`);
  if (!isTimeZone(tz))
    throw new TypeError(`tz of an aggregate is ${showValue(tz)}; use a name such as Europe/Berlin.`);
  const group = (query.group ?? []).map((each) => groupOf(info, each));
  const measures = MEASURES.flatMap((measure) =>
    (query[measure] ?? []).map((each) => measureOf(info, measure, each)),
  );
  const issues: RequestIssue[] = [];
  const condition = having === undefined ? null : readHaving(having, measures, info, issues);
  const order = sort === undefined ? [] : readOrder(sort, group, measures, issues);
  if (issues[0]) throw new TypeError(issues[0].detail);
  const zone = hasZone(group, info) ? tz : null;
  return { where, group, measures, having: condition, order, window: { page, size }, zone };
}

function groupOf(info: ModelInfo, name: string): GroupTerm {
  const whole = info.attributes.get(name);
  const [, first = name, last] = /^(.*)\.(\w+)$/.exec(name) ?? [];
  const attribute = whole ?? known(info, first);
  const unit = whole ? null : unitsOf(attribute).find((each) => each === last);
  const problem = groupProblem(attribute);
  if (problem !== undefined) throw new TypeError(`${info.name} is grouped by '${name}', ${problem}`);
  if (unit === undefined)
    throw new TypeError(`${info.name} is grouped by '${name}', and ${attribute.name} has no such span.`);
  return { name, attribute: attribute.name, unit };
}

function measureOf(info: ModelInfo, measure: Measure, name: string): MeasureTerm {
  const problem = measureProblem(measure, known(info, name));
  if (problem !== undefined) throw new TypeError(`${measure} names '${name}' of ${info.name}, ${problem}`);
  return { name: `${measure}.${name}`, measure, attribute: name };
}

function known({ name: model, attributes }: ModelInfo, name: string): AttributeInfo {
  const attribute = attributes.get(name);
  if (attribute && attribute.type.kind !== 'virtual') return attribute;
  throw new TypeError(`${model} has no column of an attribute '${name}'.`);
}
