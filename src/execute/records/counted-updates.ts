/** Counts the rows that each UPDATE of a record writes: Sequelize reports them to models with a version alone. */
import type { Model, QueryInterface } from 'sequelize';
import { keptIn } from '../../util/memo.js';

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
    const [record] = args;
    const numbers = counted.get(record);
    const result = await Reflect.apply(update, this, args);
    numbers?.push(Number(Reflect.get(result, 1)));
    return result;
  };
  Object.assign(queryInterface, { update: counts });
}
