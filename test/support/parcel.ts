/** A model with a column of every type that is written, and rows with values that are hard to write. */
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../src/index.js';
import { NumberedRow } from '../models/rows.js';

const TYPES = {
  small: DataType.SMALLINT,
  big: DataType.BIGINT,
  exact: DataType.DECIMAL(20, 4),
  unlimited: DataType.DECIMAL,
  real: DataType.REAL,
  double: DataType.DOUBLE,
  flag: DataType.BOOLEAN,
  moment: DataType.DATE,
  day: DataType.DATEONLY,
  time: DataType.TIME,
  uuid: DataType.UUID,
  json: DataType.JSON,
  jsonb: DataType.JSONB,
  colour: DataType.ENUM('red', 'dark green', "o'clock"),
  bytes: DataType.BLOB,
  text: DataType.TEXT,
  short: DataType.STRING(5),
  code: DataType.CHAR(3),
  words: DataType.ARRAY(DataType.TEXT),
  numbers: DataType.ARRAY(DataType.INTEGER),
  bigs: DataType.ARRAY(DataType.BIGINT),
  decimals: DataType.ARRAY(DataType.DECIMAL),
  moments: DataType.ARRAY(DataType.DATE),
  uuids: DataType.ARRAY(DataType.UUID),
  documents: DataType.ARRAY(DataType.JSONB),
  sizes: DataType.ARRAY(DataType.ENUM('s', 'm', 'l')),
  address: DataType.INET,
} as const;

/** The names of its columns, without the key. */
export const PARCEL_COLUMNS = Object.keys(TYPES);

@Crud()
@Table({ tableName: 'parcels', timestamps: false, version: true })
export class Parcel extends NumberedRow {}

for (const [name, type] of Object.entries(TYPES)) {
  Column({ type, allowNull: true, field: `of ${name}` })(Parcel.prototype, name);
}

const UUID = '7fffffff-0000-4000-8000-00000000000a';

/** Rows, all with the same attributes. Neighbours differ, and the last are as others, in other words. */
export const HARD_ROWS: readonly Readonly<Record<string, unknown>>[] = [
  Object.fromEntries(PARCEL_COLUMNS.map((name) => [name, null])),
  {
    small: -32768,
    big: '-9223372036854775808',
    exact: '1234567890123456.7891',
    unlimited: '0.1000000000000000000000000000001',
    real: 0.1,
    double: 5e-324,
    flag: true,
    moment: new Date('2026-01-31T08:00:00.001Z'),
    day: '2026-02-01',
    time: '08:00:00.000001',
    uuid: UUID,
    json: { b: [1, '"', "'", '\\', '{}', null], a: 1 },
    jsonb: { b: [1, '"', "'", '\\', '{}', null], a: 1 },
    colour: "o'clock",
    bytes: Buffer.from([0, 1, 0x5c, 0x22, 0xff]),
    text: '{"a",\\"b\\",NULL} \u{1f600}\n\'; --$1',
    short: '',
    code: 'ab ',
    words: ['', 'NULL', '"', '\\', '{a,b}', 'null'],
    numbers: [1, 2, 3],
    bigs: ['9007199254740993', '-1'],
    decimals: ['1.50', '0'],
    moments: [new Date('2026-01-31T08:00:00.000Z')],
    uuids: [UUID, UUID],
    documents: [{ a: ['x', '"'] }, [], 'y', 1],
    sizes: ['l', 's'],
    address: '10.0.0.1/8',
  },
  {
    small: 5,
    big: '007',
    exact: '1.5',
    unlimited: '1.50',
    real: 0.123456789,
    double: 0.30000000000000004,
    flag: false,
    moment: new Date(-62_135_596_800_000),
    day: '0001-01-01',
    time: '10:00',
    uuid: UUID.toUpperCase(),
    json: 'text',
    jsonb: 'text',
    colour: 'red',
    bytes: Buffer.alloc(0),
    text: 'NULL',
    short: 'äöüß😀',
    code: 'c',
    words: [],
    numbers: [],
    bigs: [],
    decimals: [],
    moments: [],
    uuids: [],
    documents: [],
    sizes: [],
    address: '::1',
  },
  {
    small: 0,
    big: 7,
    exact: 1.5,
    unlimited: 1.5,
    real: 3,
    double: 1e300,
    flag: true,
    moment: new Date(0),
    day: '2026-12-31',
    time: '10:00:00',
    uuid: UUID,
    json: 0,
    jsonb: false,
    colour: 'dark green',
    bytes: Buffer.from('x'),
    text: '',
    short: 'a  ',
    code: 'abc',
    words: [null, 'x'],
    numbers: [null],
    bigs: ['01'],
    decimals: ['1.5'],
    moments: [null, new Date(0)],
    uuids: [null],
    documents: [null],
    sizes: [null, 'm'],
    address: '10.0.0.1',
  },
];
