/** The combinations of the two decisions, by name. The scripts that run the tests read them, too. */

/** The values of CRUD_TEST_PATH. Each text names the code that runs the SQL, and the code that writes the answer. */
export const COMBINATIONS = {
  fast: 'our SQL on connections of the pool; rows become JSON text',
  values: 'the same; an interceptor is given the answer as values',
  unit: 'writes in a unit of work that a middleware began: our SQL on its connection; rows become JSON text',
  session: 'overrides with an injected session: our SQL on its connection; records that no code looks into',
  records: 'overrides that look into each record; the serializer writes it',
  general: 'fastPath is false: Sequelize; the serializer writes records',
} as const;

export type Combination = keyof typeof COMBINATIONS;
