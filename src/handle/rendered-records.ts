/** Rows and records, as records of an answer. */

import type { ModelInfo } from '../describe/model-info.js';
import { loadedNow } from '../execute/records/load-relations.js';
import { recordColumn } from '../execute/records/record-column.js';
import type { RelatedRowsFound } from '../execute/rows/related-rows.js';
import type { ShownModel } from '../express/resources/resource.js';
import type { TextRow } from '../postgres/index.js';
import type { WireRecord } from '../respond/record-serializer.js';
import { withMembers } from '../respond/row-view.js';
import type { Fields, ShownRecords, WholeRecords } from './outcome.js';

/** Records of both, one behind the other. */
export function joinShown(first: WholeRecords, second: WholeRecords): WholeRecords {
  return {
    size: first.size + second.size,
    writer(fields) {
      const writers = [first.writer(fields), second.writer(fields)] as const;
      return (index, more) =>
        index < first.size ? writers[0](index, more) : writers[1](index - first.size, more);
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
    size: records.length,
    rows: [],
    column: (attribute) => columns?.get(attribute) ?? recordColumn(info, records, attribute),
    writer: (fields) => (index, more) => {
      const record = records[index] as object;
      return withMembers(
        rowView.ofRecord(record, fields) ?? JSON.stringify(serialize(record, fields)),
        more ?? '',
      );
    },
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
    size: rows.length,
    rows,
    column(attribute) {
      const position = columns.indexOf(attribute);
      if (position < 0) throw new TypeError(`${name}.${attribute} was not read.`);
      return rows.map((row) => row[position] ?? null);
    },
    // Where there are no rows, nobody has said how to read one.
    writer(fields) {
      if (rows.length === 0) return () => '';
      const { text } = rowView.writer(parsers, fields);
      return (index, more) => text(rows[index] as TextRow, more);
    },
    values: (fields: Fields) => (rows.length === 0 ? [] : rowView.writer(parsers, fields).values(rows)),
  };
}
