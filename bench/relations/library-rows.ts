/** Rows of the library as JSON, put together by hand: texts of PostgreSQL that nothing parses. */
import { toIso } from '../contenders/support/article-text.js';
import type { TextRow } from '../contenders/support/lean-query.js';
import { quote } from '../contenders/support/quote.js';

/** The columns, in the order of answers. */
export const BOOK = ['id', 'title', 'category', 'rating', 'price', 'publishedAt', 'writerId', 'publisherId'];
export const WRITER = ['id', 'name', 'country', 'about', 'born'];
export const PUBLISHER = ['id', 'name', 'city', 'founded'];

/** The columns of a table that has another name in the statement. */
export function columnsOf(columns: readonly string[], alias: string): string {
  return columns.map((column) => `${alias}."${column}"`).join(', ');
}

/** A book without its last brace, so that relations can follow. @param at place of its first column */
export function bookJson(row: TextRow, at = 0): string {
  return (
    `{"id":${row[at]},"title":${quote(row[at + 1])},"category":${quote(row[at + 2])},"rating":${row[at + 3]},` +
    `"price":${row[at + 4]},"publishedAt":"${toIso(row[at + 5] as string)}","writerId":${row[at + 6]},` +
    `"publisherId":${row[at + 7]}`
  );
}

export function writerJson(row: TextRow, at = 0): string {
  return (
    `{"id":${row[at]},"name":${quote(row[at + 1])},"country":${quote(row[at + 2])},` +
    `"about":${quote(row[at + 3])},"born":${row[at + 4]}`
  );
}

export function publisherJson(row: TextRow, at = 0): string {
  return `{"id":${row[at]},"name":${quote(row[at + 1])},"city":${quote(row[at + 2])},"founded":${row[at + 3]}}`;
}
