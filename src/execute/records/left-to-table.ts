/** New records of Sequelize's whose table fills in, or makes, what they have no value for. */
import type { Model } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { isFilled, isGenerated, type RecordInfo, versionOf } from '../../describe/model-info.js';
import type { WriteValues } from '../rows/encode-rows.js';

/** Model and options by which a record is created. */
export interface Creation<M extends Model> {
  readonly model: ModelClass<M>;
  /** Sequelize knows this option, and its types do not. */
  readonly options: { readonly skip?: readonly string[] };
}

/**
 * The same model, whose new records lack what its table fills in, or makes, unless there is a value for it: Sequelize has NULL for a key,
 * and asks for each attribute that may not be NULL. A Proxy, because methods of the user's class may build records.
 */
export function leavingToTable<M extends Model>(
  model: ModelClass<M>,
  { attributes }: RecordInfo,
  values: WriteValues,
): Creation<M> {
  const absent = [...attributes.values()].filter(({ name }) => values[name] === undefined);
  const left = absent.filter((each) => isGenerated(each) || (isFilled(each) && !each.hasDefault));
  const version = absent.find(({ name, hasDefault }) => name === versionOf(model) && !hasDefault)?.name;
  if (left.length === 0 && version === undefined) return { model, options: {} };
  const names = left.map(({ name }) => name);
  // Sequelize's types of a model's values are open here.
  const build = (...args: unknown[]): M => {
    const record = Reflect.apply(model.build, model, args) as M;
    for (const name of names) delete (record.dataValues as Record<string, unknown>)[name];
    if (version !== undefined) keepReturned(record, version);
    return record;
  };
  const leaving = new Proxy(model, {
    get: (target, key, receiver) => (key === 'build' ? build : Reflect.get(target, key, receiver)),
  });
  return { model: leaving, options: { skip: names } };
}

/** Sequelize puts the version that it has sent, which may be none, in the place of the one that came back with the row. */
function keepReturned({ dataValues }: Model, version: string): void {
  let kept: unknown;
  const set = (value: unknown): void => {
    if (value !== undefined) kept = value;
  };
  Object.defineProperty(dataValues, version, { get: () => kept, set, enumerable: true, configurable: true });
}
