/** Options of imports, in the words of users and clients. Nothing is checked or computed here. */

/** The modes of an import, by the names that clients use. */
export const IMPORT_MODES = ['create', 'update', 'upsert'] as const;

/**
 * Mode of an import: `'create'` stores new records, `'update'` changes records that are there, and `'upsert'` does either, by a key of the
 * option `upsert`.
 */
export type ImportMode = (typeof IMPORT_MODES)[number];

/**
 * Imports of files: `POST /cities/import` with `text/csv` or `application/x-ndjson`. Rows pass the rules, schemas, hooks and methods that
 * single requests pass.
 *
 * @example
 * ```ts
 * @Crud({ import: { modes: ['create', 'update'], maxBytes: '200mb' } })
 * // curl --data-binary @cities.csv -H 'Content-Type: text/csv' 'https://example.com/cities/import?dry_run=true'
 * ```
 */
export interface ImportOptions {
  /** Modes that a request may choose. The first one is that of a request without `mode`. Default: `['create']`. */
  modes?: readonly ImportMode[];
  /** Bytes of a file at most, after decompression: a number, or a text such as `'200mb'`. Default: `'50mb'`. */
  maxBytes?: number | string;
  /** Rows of a file at most. Default: 1,000,000. */
  maxRows?: number;
  /** Rows of a file at most that is stored whole or not at all. Default: 10,000. */
  atomicRows?: number;
}
