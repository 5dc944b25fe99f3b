/**
 * The settings of a request, by which row security knows who asks: set in each of its transactions, and gone with it. They are
 * kept apart from sessions, because each statement of a request needs them, also one that is in no session.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type QueryOptionsWithType, QueryTypes, type Sequelize, type Transaction } from 'sequelize';

/** Statement that sets them: one text for as many settings, and its values. Frozen. */
export interface RequestSettings {
  readonly text: string;
  /** Names and values in turn. */
  readonly values: readonly string[];
  /** The same for requests with the same settings, and for no others. */
  readonly key: string;
}

/** A statement that sets them until the end of its transaction. */
export function settingsOf(settings: readonly (readonly [name: string, value: string])[]): RequestSettings {
  const values = Object.freeze(settings.flat());
  return Object.freeze({ text: textFor(settings.length), values, key: JSON.stringify(values) });
}

/** By number of settings. */
const texts: string[] = [];

function textFor(count: number): string {
  const call = (index: number): string => `set_config($${2 * index + 1}, $${2 * index + 2}, true)`;
  texts[count] ??= `SELECT ${Array.from({ length: count }, (_, index) => call(index)).join(', ')}`;
  return texts[count];
}

const storage = new AsyncLocalStorage<RequestSettings | null>();

/** Runs work, and what it awaits, with the settings of its request; null for none. */
export function runWithSettings<T>(settings: RequestSettings | null, work: () => T): T {
  return storage.run(settings, work);
}

/** Runs work without any, which costs nothing where there are none. */
export function withoutSettings<T>(work: () => T): T {
  return storage.getStore() ? storage.run(null, work) : work();
}

/** The settings of the request that the running code is part of. */
export function currentSettings(): RequestSettings | null {
  return storage.getStore() ?? null;
}

/** Sets them in a transaction that has begun, or rolls it back. Their values are not logged. */
export async function applySettings(
  sequelize: Sequelize,
  transaction: Transaction,
  { text, values }: RequestSettings,
): Promise<void> {
  const type: QueryTypes.SELECT = QueryTypes.SELECT;
  const options: QueryOptionsWithType<QueryTypes.SELECT> = { type, transaction, logging: false };
  try {
    await sequelize.query(text, { ...options, bind: [...values] });
  } catch (error) {
    await transaction.rollback().catch(() => {});
    throw error;
  }
}
