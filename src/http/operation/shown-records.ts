/** Rows and records, as records of an answer. */
import type { ModelInfo } from '../../model/model-info.js';
import { loadedNow } from '../../persistence/records/loaded-relations.js';
import { recordColumn } from '../../persistence/records/record-column.js';
import type { RelatedRowsFound } from '../../persistence/rows/related-rows.js';
import type { WireRecord } from '../../response/record-serializer.js';
import { withMembers } from '../../response/row-writer.js';
import type { ShownModel } from '../resources/resource.js';
import type { Fields, ShownRecords } from './outcome.js';

/** Records of both, one behind the other. */
export function joinShown(first: ShownRecords, second: ShownRecords): ShownRecords {
  return {
    column: (attribute) => [...first.column(attribute), ...second.column(attribute)],
    texts(fields, more) {
      const texts = first.texts(fields, more);
      return [...texts, ...second.texts(fields, more?.slice(texts.length))];
    },
    values: (fields) => [...first.values(fields), ...second.values(fields)],
  };
}

/** Records, whatever has made them, as records of an answer. */
export function recordsShown(
  { plan: { info }, serialize, rowView }: ShownModel,
  records: readonly object[],
  columns?: ReadonlyMap<string, readonly (string | null)[]>,
): ShownRecords {
  return {
    column: (attribute) => columns?.get(attribute) ?? recordColumn(info, records, attribute),
    texts: (fields, more) =>
      records.map((record, index) =>
        withMembers(
          rowView.ofRecord(record, fields) ?? JSON.stringify(serialize(record, fields)),
          more?.[index] ?? '',
        ),
      ),
    values: (fields) =>
      records.map((record) => {
        const text = rowView.ofRecord(record, fields);
        return text === null ? serialize(record, fields) : (JSON.parse(text) as WireRecord);
      }),
    loaded: (inclusion, keys) =>
      records.map((record, index) =>
        loadedNow(record, inclusion.plan.relation.name, inclusion, keys[index] ?? null),
      ),
  };
}

/** Rows of our SQL, as records of an answer. */
export function rowsShown(
  { rowView }: Pick<ShownModel, 'rowView'>,
  { name }: Pick<ModelInfo, 'name'>,
  columns: readonly string[],
  { rows, parsers }: Pick<RelatedRowsFound, 'rows' | 'parsers'>,
): ShownRecords {
  return {
    column(attribute) {
      const position = columns.indexOf(attribute);
      if (position < 0) throw new TypeError(`${name}.${attribute} was not read.`);
      return rows.map((row) => row[position] ?? null);
    },
    // Where there are no rows, nobody has said how to read one.
    texts(fields, more) {
      if (rows.length === 0) return [];
      const { text } = rowView.writer(parsers, fields);
      return rows.map((row, index) => text(row, more?.[index]));
    },
    values: (fields: Fields) => (rows.length === 0 ? [] : rowView.writer(parsers, fields).values(rows)),
  };
}
