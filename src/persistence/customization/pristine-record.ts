/**
 * Records that read the texts of their row when they are first looked at. Many are passed on by code that does not look into
 * them, and leave as their rows do. From the first look on they are as other records.
 */
import type { InspectOptions, inspect } from 'node:util';
import { buildableModel } from '../../model/sequelize-internals.js';
import type { TextRow } from '../protocol/batch.js';
import {
  type Hydrate,
  type RecordColumns,
  type RecordValues,
  recordFields,
  valueReader,
} from './hydrate-record.js';

/** The row that a record is as it was read. */
export interface PristineRow {
  readonly columns: RecordColumns;
  readonly row: TextRow;
}

/** The properties that hold the values of a record. Both hold the same objects, as Sequelize's do. */
type ValuesName = 'dataValues' | '_previousDataValues';

/** What a record is made of. */
interface Origin extends PristineRow, Record<ValuesName, RecordValues> {
  readonly record: object;
  /** Null when the texts have been read. */
  read: ((row: TextRow) => RecordValues) | null;
}

const ORIGIN = Symbol('origin');
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/** A record of ours. The symbol is found through proxies, and by what inherits from the record. */
interface MadeRecord {
  readonly [ORIGIN]: Origin;
}

/** The maker of such records from rows with these columns. */
export function pristineHydrator(columns: RecordColumns): Hydrate {
  const { prototype } = buildableModel(columns.info.model);
  const read = valueReader(columns);
  const fields = recordFields(columns);
  return (row) => {
    const record: object = Object.create(prototype);
    Object.defineProperty(record, 'dataValues', ACCESSORS.dataValues);
    Object.defineProperty(record, '_previousDataValues', ACCESSORS._previousDataValues);
    const origin: Origin = { columns, row, record, read, dataValues: UNREAD, _previousDataValues: UNREAD };
    Object.defineProperty(record, ORIGIN, { value: origin });
    Object.defineProperty(record, INSPECT, SHOWN);
    return fields(record);
  };
}

/** The row of a record that no code has looked into since it was read, nor changed in another way; else null. */
export function pristineRow(record: object): PristineRow | null {
  const { [ORIGIN]: origin } = record as Partial<MadeRecord>;
  return origin?.read && origin.record === record && isAsMade(origin) ? origin : null;
}

/** Whether a record has its class, its values, and no method of its own in the place of Sequelize's. */
function isAsMade({ record, columns: { info } }: Origin): boolean {
  const hasClass = Object.getPrototypeOf(record) === info.model.prototype;
  return hasClass && !Object.hasOwn(record, 'get') && isUnread(record, 'dataValues');
}

const UNREAD: RecordValues = Object.freeze({});
const ORDINARY = { enumerable: true, configurable: true, writable: true };
const ACCESSORS = {
  dataValues: unreadProperty('dataValues'),
  _previousDataValues: unreadProperty('_previousDataValues'),
};

/** A property whose first use reads the texts, and makes it an ordinary one. */
function unreadProperty(name: ValuesName): PropertyDescriptor & ThisType<MadeRecord> {
  return {
    enumerable: true,
    configurable: true,
    get() {
      return readOrigin(this[ORIGIN])[name];
    },
    set(values: RecordValues) {
      const origin = readOrigin(this[ORIGIN]);
      // Also of what inherits from the record.
      const isSet = Reflect.defineProperty(this, name, { ...ORDINARY, value: values });
      if (!isSet) origin[name] = values;
    },
  };
}

function isUnread(record: object, name: ValuesName): boolean {
  return Object.getOwnPropertyDescriptor(record, name)?.get === ACCESSORS[name].get;
}

/** A record that was frozen before keeps its accessors, which give the values all the same. */
function readOrigin(origin: Origin): Origin {
  const { record, read, row } = origin;
  if (!read) return origin;
  origin.read = null;
  origin.dataValues = read(row);
  origin._previousDataValues = { ...origin.dataValues };
  for (const name of ['dataValues', '_previousDataValues'] as const) {
    const { [name]: value } = origin;
    if (isUnread(record, name)) Reflect.defineProperty(record, name, { ...ORDINARY, value });
  }
  Reflect.defineProperty(record, INSPECT, { value: undefined });
  return origin;
}

/** Node would show accessors. */
const SHOWN: PropertyDescriptor & ThisType<MadeRecord & object> = {
  configurable: true,
  value(depth: number, options: InspectOptions, show: typeof inspect) {
    const { record } = readOrigin(this[ORIGIN]);
    return show(Object.isFrozen(record) ? { ...record } : record, { ...options, depth });
  },
};
