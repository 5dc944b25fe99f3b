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

/** What a record is made of. Texts are read once: both kinds of values hold the same objects, as Sequelize's do. */
interface Origin extends PristineRow {
  readonly record: object;
  /** Null when the texts have been read. */
  read: ((row: TextRow) => RecordValues) | null;
  values: RecordValues;
  previous: RecordValues;
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
    Object.defineProperty(record, 'dataValues', DATA_VALUES);
    Object.defineProperty(record, '_previousDataValues', PREVIOUS_VALUES);
    const origin: Origin = { columns, row, record, read, values: UNREAD, previous: UNREAD };
    Object.defineProperty(record, ORIGIN, { value: origin });
    Object.defineProperty(record, INSPECT, SHOWN);
    return fields(record);
  };
}

/** The row of a record that no code has looked into since it was read, nor given a method of its own; else null. */
export function pristineRow(record: object): PristineRow | null {
  const { [ORIGIN]: origin } = record as Partial<MadeRecord>;
  return origin?.read && origin.record === record && !Object.hasOwn(record, 'get') ? origin : null;
}

const UNREAD: RecordValues = Object.freeze({});
const DATA_VALUES = unreadProperty('dataValues', 'values');
const PREVIOUS_VALUES = unreadProperty('_previousDataValues', 'previous');

/** A property whose first use reads the texts, and makes it an ordinary one. */
function unreadProperty(
  name: string,
  kind: 'values' | 'previous',
): PropertyDescriptor & ThisType<MadeRecord> {
  return {
    enumerable: true,
    configurable: true,
    get() {
      return readOrigin(this[ORIGIN])[kind];
    },
    set(values: RecordValues) {
      const origin = readOrigin(this[ORIGIN]);
      const isOrdinary = Object.getOwnPropertyDescriptor(origin.record, name)?.get === undefined;
      if (isOrdinary) Reflect.set(this, name, values);
      else origin[kind] = values;
    },
  };
}

/** A record that was frozen before keeps its accessors, which give the values all the same. */
function readOrigin(origin: Origin): Origin {
  const { record, read, row } = origin;
  if (!read) return origin;
  origin.read = null;
  origin.values = read(row);
  origin.previous = { ...origin.values };
  const ordinary = { enumerable: true, configurable: true, writable: true };
  Reflect.defineProperty(record, 'dataValues', { ...ordinary, value: origin.values });
  Reflect.defineProperty(record, '_previousDataValues', { ...ordinary, value: origin.previous });
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
