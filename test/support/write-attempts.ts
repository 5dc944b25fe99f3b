/** Attempts of a user's code to write where nothing may be written. */
import { QueryTypes, type Sequelize } from 'sequelize';
import { type ModelClass, unitOfWork } from '../../src/index.js';

/** Each way to create a row with these values. */
export function writeAttempts(
  model: ModelClass,
  values: Readonly<Record<string, string>>,
): Readonly<Record<string, () => Promise<unknown>>> {
  const create = (options: object = {}) => model.create(values, options);
  const database = () => model.sequelize as Sequelize;
  const columns = Object.keys(values).map((name) => `"${name}"`);
  const what =
    columns.length > 0 ? `(${columns}) VALUES ('${Object.values(values).join("', '")}')` : 'DEFAULT VALUES';
  const insert = () => `INSERT INTO ${model.getTableName()} ${what}`;
  return {
    'creates a record': () => create(),
    'sends SQL': () => database().query(insert()),
    'sends SQL and says that it is a SELECT': () =>
      database().query(`${insert()} RETURNING id`, { type: QueryTypes.SELECT }),
    'opens a transaction of its own': () => database().transaction((transaction) => create({ transaction })),
    'opens one and ends it itself': async () => {
      const transaction = await database().transaction();
      await create({ transaction }).finally(() => transaction.rollback());
    },
    'opens a unit of work': () => unitOfWork((uow) => uow.repository(model).create(values)),
  };
}
