/** A piece of SQL with its values apart from it: text around placeholders, the values of these, and the names of tables and columns. */

import type { Model } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import type { RecordInfo } from '../../describe/model-info.js';
import type { Slot, Value } from '../../request/query/predicate.js';
import { quoteText } from '../../util/quote-text.js';

/** SQL text and values; there is one text more than there are values. */
export interface SqlFragment {
  readonly texts: readonly string[];
  /** Texts in the form of the type they are compared with; PostgreSQL infers the type from the other side. */
  readonly values: readonly Value[];
}

/**
 * A fragment from a template. A string or a slot that is interpolated is a value; a fragment becomes part of this one.
 *
 * @example sql`${raw('"age"')} > ${'5'}`
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Value | SqlFragment)[]): SqlFragment {
  const whole = { texts: [strings[0] ?? ''], values: [] };
  for (const [index, part] of parts.entries()) {
    append(whole, isFragment(part) ? part : { texts: ['', ''], values: [part] });
    appendText(whole, strings[index + 1] ?? '');
  }
  return whole;
}

function isFragment(part: Value | SqlFragment): part is SqlFragment {
  return typeof part === 'object' && 'texts' in part;
}

/** SQL text without values. It must come from a model, never from a request. */
export function raw(text: string): SqlFragment {
  return { texts: [text], values: [] };
}

/** The same fragment with another one in the place of a slot. */
export function inlineSlot({ texts, values }: SqlFragment, slot: Slot, other: SqlFragment): SqlFragment {
  const whole = { texts: [texts[0] ?? ''], values: [] };
  for (const [index, value] of values.entries()) {
    const part = typeof value === 'object' && value.slot === slot.slot ? other : sql`${value}`;
    append(whole, part);
    appendText(whole, texts[index + 1] ?? '');
  }
  return whole;
}

/** Several fragments with a separator between them. */
export function joinSql(fragments: readonly SqlFragment[], separator: string): SqlFragment {
  const whole = { texts: [''], values: [] };
  for (const [index, fragment] of fragments.entries()) {
    if (index > 0) appendText(whole, separator);
    append(whole, fragment);
  }
  return whole;
}

/** A fragment that is being put together; the parts are not copied on the way. */
interface GrowingFragment {
  readonly texts: string[];
  readonly values: Value[];
}

function append(whole: GrowingFragment, { texts, values }: SqlFragment): void {
  appendText(whole, texts[0] ?? '');
  for (let index = 1; index < texts.length; index += 1) whole.texts.push(texts[index] as string);
  for (const value of values) whole.values.push(value);
}

function appendText({ texts }: GrowingFragment, text: string): void {
  texts[texts.length - 1] += text;
}

/** The SQL text with something in place of each value, such as `$1` or a quoted literal. */
export function renderSql(
  { texts, values }: SqlFragment,
  placeholder: (value: Value, index: number) => string,
): string {
  return texts.reduce(
    (text, next, index) => text + placeholder(values[index - 1] as Value, index - 1) + next,
  );
}

/** The text of a value that has to be bound. */
export function boundText(value: Value): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`The slot '${value.slot}' stands where only a bound value can.`);
}

/** The SQL text with its values as literals, for statements of Sequelize's. */
export function quotedSql(fragment: SqlFragment): string {
  return renderSql(fragment, (value) => quoteText(boundText(value)));
}

/** A quoted identifier. Sequelize leaves quotes in a name out, everywhere, so its meaning has none. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '')}"`;
}

/** The name of a column, not qualified. */
export function columnName({ column }: { readonly column: string }): SqlFragment {
  return raw(identifier(column));
}

/** The table with its schema, quoted as Sequelize does. The model must be attached to an instance. */
export function quotedTable<M extends Model>(model: ModelClass<M>): string {
  return quote(model, model.getTableName());
}

/** The table as a statement names the rows of a model, with an alias. */
export function tableSource(
  { model, leavesHeirs }: Pick<RecordInfo, 'model' | 'leavesHeirs'>,
  alias: string,
): SqlFragment {
  return raw(`${leavesHeirs ? 'ONLY ' : ''}${quotedTable(model)} AS ${identifier(alias)}`);
}

/** Another table in the schema of a model's. */
export function tableBeside(model: ModelClass, tableName: string): string {
  const own: unknown = model.getTableName();
  return quote(model, typeof own === 'object' ? { ...own, tableName } : tableName);
}

function quote<M extends Model>({ sequelize }: ModelClass<M>, name: unknown): string {
  const generator = sequelize?.getQueryInterface().queryGenerator as { quoteTable(name: unknown): string };
  return generator.quoteTable(name);
}
