/** Includes of a Sequelize query, within the access of the request to each model. */
import { type Includeable, literal, Op, type Sequelize, type WhereOptions } from 'sequelize';
import { ELEMENT_OPERATORS } from '../../compile/filter-operators.js';
import type { CanonicalFilterOperator, ModelClass } from '../../declare/crud-options.js';
import { type ConformedInclude, conformedIncludes, throughModel } from '../../describe/include-internals.js';
import { ownModel } from '../../describe/record.js';
import type { AccessSource } from '../../operation/access.js';
import { bindTexts } from '../../operation/predicates.js';
import type { Comparison, Predicate, Value } from '../../request/query/predicate.js';
import { arrayLiteral } from '../sql/encode-parameter.js';
import { boundText } from '../sql/sql-fragment.js';

/**
 * The relations, of which rows outside the access to their models are missing, as if they were not there.
 *
 * @throws TypeError for a join that takes rows whatever their condition says
 */
export async function includesWithin(
  model: ModelClass,
  include: Includeable | Includeable[],
  source: AccessSource,
): Promise<Includeable[]> {
  const within = async (parent: ModelClass, each: ConformedInclude): Promise<ConformedInclude> => {
    const { model: target, on, or, right, where, required = where !== undefined, include: nested } = each;
    const own = await conditionOf(target, source);
    const through = throughModel(parent, { ...each, model: ownModel(target) });
    const link = through && (await conditionOf(through, source));
    if ((own || link) && (or || right)) {
      throw new TypeError(
        `An include of ${target.name} joins rows that the request may not see; leave out or and right.`,
      );
    }
    return {
      ...each,
      // A condition alone would make the relation required.
      ...(own ? { required, where: both(where, own), ...(on ? { on: { [Op.and]: [on] } } : {}) } : {}),
      ...(link ? { through: { ...each.through, where: both(each.through?.where, link) } } : {}),
      ...(nested ? { include: await Promise.all(nested.map((next) => within(target, next))) } : {}),
    };
  };
  const conformed = conformedIncludes(model, include);
  return Promise.all(conformed.map((each) => within(model, each)));
}

async function conditionOf(model: ModelClass, source: AccessSource): Promise<WhereOptions | null> {
  const { where = null, slots = {} } = (await source.to(model)) ?? {};
  return where && whereOf(bindTexts(where, slots), model.sequelize as Sequelize);
}

function both(one: WhereOptions | undefined, other: WhereOptions): WhereOptions {
  // An OR in a literal needs parentheses.
  return one ? { [Op.and]: [{ [Op.and]: [one] }, other] } : other;
}

/** The same condition in Sequelize's words, because only Sequelize knows what the table is called in its query. */
function whereOf(predicate: Predicate, sequelize: Sequelize): WhereOptions {
  switch (predicate.kind) {
    case 'and':
      return { [Op.and]: predicate.operands.map((each) => whereOf(each, sequelize)) };
    case 'or':
      return { [Op.or]: predicate.operands.map((each) => whereOf(each, sequelize)) };
    case 'exists':
    case 'written':
      throw new TypeError('No access has a condition on another table.');
    case 'comparison':
      return { [predicate.attribute]: comparisonOf(predicate, sequelize) };
  }
}

/** Literals: PostgreSQL reads the texts as it does in our statements. */
function comparisonOf({ operator, values }: Comparison<Value>, sequelize: Sequelize): object {
  if (operator === '=isnull=') return { [values[0] === 'true' ? Op.is : Op.not]: null };
  if (operator === '=isempty=') return { [values[0] === 'true' ? Op.eq : Op.ne]: literal("'{}'") };
  const quoted = (text: string) => literal(sequelize.escape(text));
  const texts = values.map(boundText);
  if (ELEMENT_OPERATORS.has(operator)) return { [OPERATORS[operator]]: quoted(arrayLiteral(texts)) };
  const [first = ''] = texts;
  return { [OPERATORS[operator]]: LISTS.has(operator) ? texts.map(quoted) : quoted(first) };
}

const LISTS: ReadonlySet<CanonicalFilterOperator> = new Set(['=in=', '=out=', '=between=', '=notbetween=']);

const OPERATORS: Readonly<Record<Exclude<CanonicalFilterOperator, '=isempty=' | '=isnull='>, symbol>> = {
  '==': Op.eq,
  '!=': Op.ne,
  '=lt=': Op.lt,
  '=le=': Op.lte,
  '=gt=': Op.gt,
  '=ge=': Op.gte,
  '=in=': Op.in,
  '=out=': Op.notIn,
  '=between=': Op.between,
  '=notbetween=': Op.notBetween,
  '=like=': Op.like,
  '=notlike=': Op.notLike,
  '=ilike=': Op.iLike,
  '=inotlike=': Op.notILike,
  '=contains=': Op.contains,
  '=overlaps=': Op.overlap,
};
