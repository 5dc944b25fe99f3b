/** The attribute by which a delete keeps its row: the moment of a `paranoid` model, or the mark that `softDelete` of `@Crud` names. */
import type { ModelClass } from '../declare/crud-options.js';
import { didYouMean, showValue } from '../util/option-problems.js';
import { type AttributeInfo, type SoftDeletion, timestampsOf } from './model-info.js';
import { declaredOptions } from './record.js';

/** The option of its `@Crud`; undefined where there is none. Unchecked. */
export function declaredMark(model: ModelClass): unknown {
  return declaredOptions(model)?.softDelete;
}

/** True where a delete keeps the rows of a model. */
export function keepsRows(model: ModelClass): boolean {
  return model.options.paranoid === true || declaredMark(model) !== undefined;
}

/** The attribute that marks the rows of a model; undefined for another way to delete. Unchecked. */
export function markName(model: ModelClass): unknown {
  return Object(declaredMark(model)).attribute;
}

/** Describes how a model deletes: null where its rows are removed. Problems of the option are reported. */
export function describeSoftDeletion(
  model: ModelClass,
  attributes: ReadonlyMap<string, AttributeInfo>,
  report: (problem: string) => void,
): SoftDeletion | null {
  const moment = model.options.paranoid ? timestampsOf(model).deletedAt : undefined;
  const option = declaredMark(model);
  if (option === undefined)
    return moment === undefined ? null : Object.freeze({ attribute: moment, values: null });
  const problem = (text: string) => report(`${model.name}: softDelete${text}`);
  if (typeof option !== 'object' || option === null || Array.isArray(option)) {
    problem(
      ` is ${showValue(option)}; use an object such as { attribute: 'isDeleted', deleted: true, alive: false }.`,
    );
    return null;
  }
  const { attribute: name, deleted, alive, ...others } = option as Readonly<Record<string, unknown>>;
  for (const other of Object.keys(others)) problem(` has no '${other}'; use attribute, deleted and alive.`);
  const attribute = typeof name === 'string' ? attributes.get(name) : undefined;
  if (!attribute) {
    const known = [...attributes.keys()];
    const guess = typeof name === 'string' ? didYouMean(name, known) : '';
    problem(
      `.attribute is ${showValue(name)}, which is no attribute.${guess} The attributes are ${known.join(', ')}.`,
    );
    return null;
  }
  if (moment !== undefined)
    problem(` is set, and the model is paranoid, which marks its rows by ${moment}; remove one of the two.`);
  if (attribute.role !== 'mark')
    problem(
      `.attribute is '${attribute.name}', which is part of the key or written by Sequelize; use another attribute.`,
    );
  else if (!MARKS.has(attribute.type.kind))
    problem(
      `.attribute is '${attribute.name}', of type ${attribute.type.kind}; use one of ${[...MARKS].join(', ')}.`,
    );
  if (attribute.isReadOnly)
    problem(
      `.attribute is '${attribute.name}', which readOnly names, so that nothing writes it; take it out of readOnly.`,
    );
  if (deleted === undefined || deleted === null)
    problem(
      `.deleted is ${showValue(deleted)}; give it the value of deleted rows. Rows with NULL are alive.`,
    );
  if (alive === undefined) problem('.alive is missing; give it the value of a row that is brought back.');
  if (alive === null && !attribute.nullable)
    problem(`.alive is null, and ${attribute.name} may not be NULL; give it a value, or allow NULL.`);
  if (alive !== null && String(deleted) === String(alive))
    problem(`.deleted and softDelete.alive are both ${showValue(deleted)}; give them different values.`);
  const usual: unknown = model.getAttributes()[attribute.name]?.defaultValue;
  if (usual !== undefined && String(usual) === String(deleted))
    problem(
      `.deleted is the default of ${attribute.name}, so that each new row would be deleted; give one of them another value.`,
    );
  return Object.freeze({
    attribute: attribute.name,
    values: Object.freeze({ deleted, alive }) as SoftDeletion['values'],
  });
}

/** Types whose values PostgreSQL compares as they are written. */
const MARKS: ReadonlySet<string> = new Set([
  'boolean',
  'integer',
  'bigint',
  'decimal',
  'string',
  'enum',
  'uuid',
]);
