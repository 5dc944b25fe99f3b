/** Values of a record that code of the user's cannot change: what a row belongs to is written after all hooks and setters. */
import {
  type Attributes,
  type DatabaseError,
  type FindOptions,
  literal,
  type Model,
  type ProjectionAlias,
  type WhereOptions,
} from 'sequelize';
import type { ModelClass } from '../../metadata/crud-options.js';
import type { RecordInfo } from '../../model/model-info.js';
import { equalTo } from '../../operation/predicates.js';
import { encodeParameter } from '../sql/encode-parameter.js';
import { attributeOf, columnsOf, compilePredicate } from '../sql/predicate-sql.js';
import { boundText, joinSql, renderSql, sql } from '../sql/sql-fragment.js';
import type { WriteOptions } from './update-record.js';

const DIVISION_BY_ZERO = '22012';

/** Values by attribute. */
export type Pins = ReadonlyMap<string, unknown>;

/** The same model, whose new records keep values. A Proxy, because methods of the user's class may build records. */
export function pinningModel<M extends Model>(model: ModelClass<M>, pins: Pins): ModelClass<M> {
  // Sequelize's types of a model's values are open here.
  const build = (...args: unknown[]): M => pinned(Reflect.apply(model.build, model, args) as M, pins);
  return new Proxy(model, {
    get: (target, key, receiver) => (key === 'build' ? build : Reflect.get(target, key, receiver)),
  });
}

/** The record, which keeps values whatever is set. */
export function pinned<M extends Model>(record: M, pins: Pins): M {
  for (const [name, value] of pins) {
    const keep = { get: () => value, set: () => {} };
    Object.defineProperty(record.dataValues, name, { ...keep, enumerable: true, configurable: true });
  }
  return record;
}

/**
 * Sequelize names the row of a record by its key alone, and the row may have left the access of the request since it was read.
 * The UPDATE takes the whole condition. What is read after it takes what the row belongs to, because the change itself may
 * have hidden the row.
 *
 * @param within the condition of the request, beside that of the key
 * @returns what ends it
 */
export function pinRow<M extends Model>(
  info: RecordInfo,
  record: M,
  pins: Pins,
  within: (byKey: object) => WhereOptions<Attributes<M>> | undefined,
): () => void {
  const { where: ofRecord } = record;
  const kept = Object.fromEntries([...pins].map(([name, value]) => [attributeOf(info, name).column, value]));
  // Sequelize asks with `true` for the condition of an UPDATE.
  const where = (isUpdate?: boolean) => {
    const byKey = Reflect.apply(ofRecord, record, [isUpdate]) as WhereOptions<Attributes<M>>;
    return isUpdate ? within(byKey) : { ...byKey, ...kept };
  };
  Object.defineProperty(record, 'where', { value: where, configurable: true });
  return () => Reflect.deleteProperty(record, 'where');
}

/**
 * Looks whether the row of a record has the values, and gives the record what the row has. A row that has others makes the
 * database fail: then nobody can commit what was written, even if the error is caught.
 *
 * @throws TypeError
 */
export async function releasePins(
  info: RecordInfo,
  record: Model,
  pins: Pins,
  { transaction, useMaster = true }: WriteOptions,
): Promise<void> {
  const { model, attributes } = info;
  const column = columnsOf(info, info.name);
  const kept = [...pins].map(([name, value]) => {
    const type = attributes.get(name)?.type;
    const text = type && encodeParameter(type, value);
    if (typeof text !== 'string')
      throw new TypeError(`${info.name}.${name} has a value that no row can keep.`);
    return sql`(${compilePredicate(equalTo(name, text), column)}) IS TRUE`;
  });
  const proof = renderSql(sql`1 / (${joinSql(kept, ' AND ')})::int`, (value) =>
    String(model.sequelize?.escape(boundText(value))),
  );
  const proven: ProjectionAlias = [literal(proof), 'proof'];
  const where = Object.fromEntries(model.primaryKeyAttributes.map((name) => [name, record.dataValues[name]]));
  const query: FindOptions & { readonly hooks: false } = {
    attributes: [...pins.keys(), proven],
    where,
    hooks: false,
    paranoid: false,
    raw: true,
    ...(transaction ? { transaction } : { useMaster }),
  };
  const row = await model
    .unscoped()
    .findOne(query)
    .catch((error: DatabaseError) => {
      if ((error.parent as { readonly code?: string } | undefined)?.code !== DIVISION_BY_ZERO) throw error;
      const names = [...pins.keys()].join(', ');
      throw new TypeError(`Code of ${info.name} moved a row out of the scope of its request (${names}).`, {
        cause: error,
      });
    });
  for (const name of pins.keys()) {
    const value = (row as unknown as Record<string, unknown> | null)?.[name] ?? pins.get(name);
    Object.defineProperty(record.dataValues, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
}
