/** Relations of records that a repository has loaded, and what is known of them beside what the record holds. */
import type { Model } from 'sequelize';
import { attachRelation } from '../customization/hydrate-record.js';

/** A loaded relation of one record. */
export interface LoadedRelation {
  /** Request that loaded it. */
  readonly inclusion: object;
  /** The text of the record's key by which it was found. */
  readonly key: string | null;
  readonly value: readonly Model[] | Model | null;
  /** True where more rows follow. */
  readonly hasNext: boolean;
}

/** Present value of a relation of a record. */
export interface RelatedNow {
  readonly items: readonly object[];
  readonly hasNext: boolean;
}

const loaded = new WeakMap<object, Map<string, LoadedRelation>>();

/** Gives a record what was loaded of a relation. */
export function setLoaded(record: Model, name: string, relation: LoadedRelation): void {
  const known = loaded.get(record) ?? new Map<string, LoadedRelation>();
  loaded.set(record, known.set(name, relation));
  attachRelation(record, name, relation.value);
}

/**
 * Present value of a relation that was loaded for this inclusion, with changes by code of the user's; null where it was
 * not loaded, or where the record has another key meanwhile, or was read again.
 */
export function loadedNow(
  record: object,
  name: string,
  inclusion: object,
  key: string | null,
): RelatedNow | null {
  const known = loaded.get(record)?.get(name);
  if (!known || known.inclusion !== inclusion || known.key !== key) return null;
  const { [name]: own } = record as Readonly<Record<string, unknown>>;
  const { dataValues } = record as Model;
  // Sequelize keeps it twice; the one that differs was set. A record that was read again has it once.
  if (own === known.value && !Object.hasOwn(dataValues, name)) return null;
  const value = own === known.value ? dataValues[name] : own;
  const items = [value].flat().filter((each) => typeof each === 'object' && each !== null);
  return { items: items as readonly object[], hasNext: known.hasNext };
}
