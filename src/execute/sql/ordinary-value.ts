/** Tests a value: the column's type holds it, and Sequelize would write it alike. Sequelize handles all others. */
import { Utils } from 'sequelize';
import type { ColumnType } from '../../describe/column-type.js';

const NUMBER = /^-?\d+(?:\.\d+)?$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

/** True where Sequelize and we write the value alike; null is one of its own for each column. */
export function isOrdinary(type: ColumnType, value: unknown): boolean {
  switch (type.kind) {
    case 'integer':
    case 'bigint':
    case 'decimal':
      return isNumeric(value);
    case 'float':
      return typeof value !== 'bigint' && isNumeric(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'dateonly':
      return typeof value === 'string' && DAY.test(value);
    case 'virtual':
      // No column takes it, and a record holds it.
      return false;
    case 'json':
      return !(value instanceof Utils.SequelizeMethod);
    case 'date':
    case 'array':
    case 'blob':
      return true;
    default:
      // Sequelize writes a NUL, which PostgreSQL refuses, as something else.
      return typeof value === 'string' && !value.includes('\0');
  }
}

/** An object may have a `toString` that is no function, or code of the user's. */
function isNumeric(value: unknown): boolean {
  return typeof value !== 'object' && NUMBER.test(String(value));
}

/** True where a row may be found by the value: one beyond the range of the column would be an error, and not no row. */
export function isOrdinaryKey(type: ColumnType, value: unknown): boolean {
  if (value === null || !isOrdinary(type, value)) return false;
  if (type.kind !== 'integer' && type.kind !== 'bigint') return true;
  const isWhole = Number.isSafeInteger(Number(value));
  return (
    isWhole && (type.kind === 'bigint' || (Number(value) >= type.minimum && Number(value) <= type.maximum))
  );
}
