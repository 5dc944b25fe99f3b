/** Counts the rows that each UPDATE of a record writes: Sequelize reports them to models with a version alone. */
import type { Model, QueryInterface } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { versionOf } from '../../describe/model-info.js';
import { keptIn } from '../../util/memo.js';
import type { WriteValues } from '../sql/encode-parameter.js';

/** Numbers of rows, one for each UPDATE, by record. */
const counted = new WeakMap<Model, number[]>();

/** The interfaces whose UPDATEs are counted: each Sequelize has one. */
const counting = new WeakSet<QueryInterface>();

/** Counts the rows of each UPDATE of a record, until `endCount`. @returns their numbers, to which the next ones are added */
export function countUpdates(record: Model): readonly number[] {
  countOf(record.sequelize.getQueryInterface());
  return keptIn(counted, record, () => []);
}

/** Ends the count of a record. */
export function endCount(record: Model): void {
  counted.delete(record);
}

function countOf(queryInterface: QueryInterface): void {
  if (counting.has(queryInterface)) return;
  counting.add(queryInterface);
  const { update } = queryInterface;
  const counts = async function (this: QueryInterface, ...args: Parameters<QueryInterface['update']>) {
    const [record, , values] = args;
    const numbers = counted.get(record);
    if (numbers) countVersion(record, values as Record<string, unknown>);
    const result = await Reflect.apply(update, this, args);
    numbers?.push(Number(Reflect.get(result, 1)));
    return result;
  };
  Object.assign(queryInterface, { update: counts });
}

/** Sequelize has no version to count from where only a hook has changed a record. */
function countVersion(record: Model, values: Record<string, unknown>): void {
  const model = record.constructor as ModelClass;
  const version = versionOf(model) ?? '';
  const column = model.getAttributes()[version]?.field ?? version;
  if (Number.isNaN(values[column])) values[column] = Number((record.dataValues as WriteValues)[version]) + 1;
}
