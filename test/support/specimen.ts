/** A model with a column of every type that a list can be sorted by, nullable and not, and values that are hard to sort. */
import type { DataType as ColumnDataType } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../src/index.js';
import { KeyedRow } from '../models/rows.js';

/** Values of each type, as PostgreSQL reads them: the ends of the range, ties in other forms, and values that JavaScript rounds. */
export const HARD_VALUES = Object.freeze({
  whole: ['-2147483648', '-1', '0', '1', '2147483647'],
  big: [
    '-9223372036854775808',
    '-9007199254740993',
    '9007199254740992',
    '9007199254740993',
    '9223372036854775807',
  ],
  exact: (
    '-123456789012345678901234567890.123456789012345678 0 0.1 0.10 0.1000000000000000000000000000001 ' +
    '123456789012345678901234567890.123456789012345679 NaN'
  ).split(' '),
  real: ['-Infinity', '-0', '0', '0.1', '0.3', '1e-45', '3.4028235e38', 'Infinity', 'NaN'],
  float: (
    '-Infinity -1.7976931348623157e308 -0 0 5e-324 0.1 0.30000000000000004 1.7976931348623157e308 ' +
    'Infinity NaN'
  ).split(' '),
  moment: [
    '-infinity',
    '0044-03-15 12:00:00+00 BC',
    '2026-01-31 08:00:00.000001+00',
    '2026-01-31 08:00:00.000002+00',
    '2026-01-31 08:00:00+00',
    '2026-01-31 10:00:00+02',
    '294276-12-31 23:59:59.999999+00',
    'infinity',
  ],
  day: ['-infinity', '0044-03-15 BC', '2026-01-31', '2026-02-01', '5874897-12-31', 'infinity'],
  time: ['00:00:00', '08:00:00', '08:00:00.000001', '24:00:00'],
  uuid: [
    '00000000-0000-0000-0000-000000000000',
    '7fffffff-0000-4000-8000-000000000000',
    '80000000-0000-4000-8000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ],
  flag: ['true', 'false'],
  grade: ['middling', 'awful', 'good'],
  // A linguistic order differs from the order of the bytes in all of these.
  text: [
    '',
    ' ',
    'a',
    'A',
    'ä',
    'e\u0301',
    'é',
    'Z',
    'z',
    'co-op',
    'coop',
    "O'Neil",
    'back\\slash',
    '"quoted"',
    '$1',
    '%',
    'Ω',
    '中',
    '\u{1f600}',
  ],
  varying: ['', 'a', 'B', 'b ', "'; --"],
} satisfies Record<string, readonly string[]>);

/** The name of a column with hard values. */
export type HardColumn = keyof typeof HARD_VALUES;

/** Names of the columns. */
export const HARD_COLUMNS = Object.keys(HARD_VALUES) as HardColumn[];

/** For each hard column one that cannot be null and one that can, whose name in the table is another. */
export const SORT_COLUMNS = HARD_COLUMNS.flatMap((name) => [name, `${name}OrNull` as const]);

/** Their types. */
export const HARD_TYPES: Readonly<Record<HardColumn, ColumnDataType>> = {
  whole: DataType.INTEGER,
  big: DataType.BIGINT,
  exact: DataType.DECIMAL,
  real: DataType.REAL,
  float: DataType.DOUBLE,
  moment: DataType.DATE,
  day: DataType.DATEONLY,
  time: DataType.TIME,
  uuid: DataType.UUID,
  flag: DataType.BOOLEAN,
  grade: DataType.ENUM('middling', 'awful', 'good'),
  text: DataType.TEXT,
  varying: DataType.STRING(40),
};

/** The table's name of the nullable column. */
export const nullableColumn = (name: HardColumn): string => `or null ${name}`;

@Crud({
  pagination: 'cursor',
  prefix: '/specimens',
  sortAllow: ['id', ...SORT_COLUMNS] as never[],
})
@Table({ tableName: 'specimens', timestamps: false })
export class Specimen extends KeyedRow {}

for (const name of HARD_COLUMNS) {
  Column({ type: HARD_TYPES[name], allowNull: false })(Specimen.prototype, name);
  Column({ type: HARD_TYPES[name], allowNull: true, field: nullableColumn(name) })(
    Specimen.prototype,
    `${name}OrNull`,
  );
}
