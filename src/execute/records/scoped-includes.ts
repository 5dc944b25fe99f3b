/** Includes of a Sequelize query, within the access of the request to each model. */
import { type Includeable, literal, Op, type Sequelize, type WhereOptions } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { operatorRow } from '../../declare/filter-operators.js';
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

/** The same condition in Sequelize's words, because only Sequelize has the alias of the table in its query. */
function whereOf(predicate: Predicate, sequelize: Sequelize): WhereOptions {
  switch (predicate.kind) {
    case 'and':
      return { [Op.and]: predicate.operands.map((each) => whereOf(each, sequelize)) };
    case 'or':
      return { [Op.or]: predicate.operands.map((each) => whereOf(each, sequelize)) };
    case 'exists':
    case 'written':
    case 'sql':
      throw new TypeError('No access has a condition in SQL, or on another table.');
    case 'comparison':
      return { [predicate.attribute]: comparisonOf(predicate, sequelize) };
  }
}

/** Literals: PostgreSQL reads the texts as it does in our statements. */
function comparisonOf({ operator, values }: Comparison<Value>, sequelize: Sequelize): object {
  const { takes, sequelize: op } = operatorRow(operator);
  const texts = values.map(boundText);
  const quoted = (text: string) => literal(sequelize.escape(text));
  const [first = ''] = texts;
  if (typeof op === 'object') {
    const name = op[first === 'true' ? 'true' : 'false'];
    return { [Op[name]]: operator === '=isnull=' ? null : literal("'{}'") };
  }
  if (takes === 'list' && operatorRow(operator).on === 'array')
    return { [Op[op]]: quoted(arrayLiteral(texts)) };
  return { [Op[op]]: takes === 'list' || takes === 'pair' ? texts.map(quoted) : quoted(first) };
}
