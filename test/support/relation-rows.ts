/** Visible rows of random models, their relations, and the rows that a filter leaves: computed in memory. */
import {
  type AnyAttribute,
  type AnyModel,
  type AnyRelation,
  type Row,
  relationOf,
  TENANT,
} from './any-model.js';
import { evaluate } from './filter-oracle.js';
import type { AnyFilter } from './relation-filters.js';

/** True, false, or null for unknown. */
type Truth = boolean | null;

/** True where a request sees a row at all. */
export function isVisible({ isScoped, isJudged, isUsual }: Partial<AnyModel>, row: Row): boolean {
  if (isUsual && row['kind'] !== 'x') return false;
  if (isJudged && (row['whole'] === null || row['whole'] === '7')) return false;
  return row['deletedAt'] === null && (!isScoped || row['owner'] === TENANT);
}

/** The rows that belong to a row, and may be seen. @param isRuled true where only the kind `x` may */
export function relatedRows(row: Row, relation: AnyRelation, isRuled: boolean): Row[] {
  const { target, association, foreignKey, isByCode, isNarrow, join } = relation;
  const key = isByCode ? 'code' : 'id';
  const isRelated = (other: Row): boolean => {
    if (join)
      return join.rows.some(
        (each) =>
          each['fromKey'] === row['id'] &&
          each['toKey'] === other['id'] &&
          isVisible({ isScoped: join.isScoped }, each) &&
          (!join.isNarrow || each['kind'] === 'x'),
      );
    const name = foreignKey as string;
    return association === 'belongsTo' ? row[name] === other[key] : other[name] === row[key];
  };
  const isOfKind = (other: Row) => !(isNarrow || isRuled) || other['kind'] === 'x';
  return target.rows.filter((other) => isVisible(target, other) && isOfKind(other) && isRelated(other));
}

/** True where a filter of a model leaves a row: an unknown result does not. */
export function meets(model: AnyModel, filter: AnyFilter | undefined, row: Row): boolean {
  return filter === undefined || truth({ root: model, model, before: '' }, filter, row) === true;
}

/** The place of a condition: behind this path of the model whose filter it is. */
interface Place {
  readonly root: AnyModel;
  readonly model: AnyModel;
  readonly before: string;
}

function truth(place: Place, node: AnyFilter, row: Row): Truth {
  switch (node.kind) {
    case 'and':
    case 'or': {
      const truths = node.operands.map((each) => truth(place, each, row));
      const decisive = node.kind === 'or';
      if (truths.includes(decisive)) return decisive;
      return truths.includes(null) ? null : !decisive;
    }
    case 'any':
    case 'none': {
      const { next, rows } = follow(place, node.relation, row);
      return (node.kind === 'any') === rows.some((each) => truth(next, node.condition, each) === true);
    }
    default:
      return compared(place, node, row);
  }
}

function compared(place: Place, node: Extract<AnyFilter, { kind: 'comparison' }>, row: Row): Truth {
  const { attribute, operator, values } = node;
  const [first = '', ...more] = attribute.split('.');
  const { model } = place;
  const own = model.attributes.find(({ name }) => name === first);
  if (own) return evaluate(node, row, comparatorsOf(own));
  const { next, rows } = follow(place, first, row);
  if (more.length === 0) {
    if (operator !== '=isnull=' && operator !== '=isempty=') throw new Error(`No such operator: ${operator}`);
    return (rows.length === 0) === (values[0] === 'true');
  }
  // A relation without a row meets no condition, whatever it compares.
  const rest = { ...node, attribute: more.join('.') };
  return rows.some((each) => truth(next, rest, each) === true);
}

function follow({ root, model, before }: Place, name: string, row: Row) {
  const relation = relationOf(model, name);
  const path = `${before}${name}`;
  const rows = relatedRows(row, relation, root.include.get(path)?.isRuled ?? false);
  return { next: { root, model: relation.target, before: `${path}.` }, rows };
}

function comparatorsOf({ name, kind }: AnyAttribute) {
  return { [name]: kind.compare };
}
