/** Options of exports, in the words of users and clients. Nothing is checked or computed here. */

/** The formats of an export, by the names that clients use. */
export const EXPORT_FORMATS = ['csv', 'ndjson'] as const;

/** Format of an export: CSV (RFC 4180), or JSON with a line for each record. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The media type of each format, of imports, too. */
export const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = Object.freeze({
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
});

/**
 * Exports of a resource.
 *
 * @example
 * ```ts
 * @Crud({ export: { formats: ['csv', 'ndjson'], maxRows: 1_000_000, snapshot: { seconds: 60 } } })
 * // GET /cities?format=csv&q=population>1000
 * ```
 */
export interface ExportOptions {
  /** Formats that a request may choose. */
  formats: readonly ExportFormat[];
  /**
   * Rows of an export at most, from 1: a request for more is refused with 400 before the first byte, and never cut. They are counted
   * before each export. Default: no limit.
   */
  maxRows?: number;
  /**
   * Lets requests send `consistent=true`, and have all rows of one snapshot. It holds a connection and a transaction as long as the client
   * reads, and `seconds` (1 to 3600) at most; then the connection to the client is cut. One at a time. Default: no request may.
   */
  snapshot?: { seconds: number };
}
