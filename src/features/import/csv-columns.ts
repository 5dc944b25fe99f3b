/** The header and the cells of a CSV file -> bodies, each cell by the type of its column. */

import { refuseDepth } from '../../request/read-body.js';
import { MAX_GUESSES, unknownProperty } from '../../schema/body-schema.js';
import type { JsonSchema, JsonType } from '../../schema/json-schema.js';
import { BodyError, bodyPointer, type RequestIssue, readOnlyIssue } from '../../schema/request-issue.js';
import { counted } from '../../util/with-article.js';
import type { Cell } from './csv-rows.js';

/** Names of the columns that a file may have. */
export interface ColumnNames {
  /** The properties of a body, each with its schema. */
  readonly properties: ReadonlyMap<string, JsonSchema>;
  /** Names that the request may not set. */
  readonly readOnly: ReadonlySet<string>;
  /** Names that each file has. */
  readonly required: readonly string[];
  /** True where a value that is left out is the default of its column, as in a new record. */
  readonly hasDefaults: boolean;
}

/** Columns of a file. */
export interface Columns {
  readonly count: number;
  /** Makes a body of a row; issues where a cell is of another type than its column. */
  read(cells: readonly Cell[]): { readonly body: object; readonly issues: readonly RequestIssue[] };
}

/** Reads a header. @returns the columns, or everything that is wrong with it */
export function parseHeader(
  header: readonly Cell[],
  known: ColumnNames,
  delimiter: string,
): { readonly columns: Columns; readonly issues: readonly RequestIssue[] } {
  const names = header.map((cell) => cell ?? '');
  const others = delimiterIssues(names, known, delimiter);
  const issues = others ?? [
    ...names.flatMap((name, index) => columnIssues(name, names.indexOf(name) < index, known, index)),
    ...known.required
      .filter((name) => !names.includes(name))
      .map((name) => ({
        pointer: bodyPointer(name),
        code: 'isDefined',
        detail: `The header has no column ${name}, which is required.`,
      })),
  ];
  const readers = names.map((name) => [name, cellReader(name, known)] as const);
  return { columns: { count: names.length, read: (cells) => readRow(cells, readers) }, issues };
}

/** The delimiters that a file may have, by the names that the parameter has for them. */
export const DELIMITERS: ReadonlyMap<string, string> = new Map([
  [',', ','],
  [';', ';'],
  ['tab', '\t'],
]);

/** A header of one unknown name with another delimiter in it is that of a file which has this delimiter. */
function delimiterIssues(
  names: readonly string[],
  { properties }: ColumnNames,
  delimiter: string,
): readonly RequestIssue[] | null {
  const [name = ''] = names;
  const other = [...DELIMITERS].find(([, sign]) => sign !== delimiter && name.includes(sign));
  if (names.length !== 1 || properties.has(name) || !other) return null;
  const detail = `The header has one column, and its name has another delimiter in it; send delimiter=${other[0]}.`;
  return [{ pointer: bodyPointer(name), code: 'unknownProperty', detail }];
}

function columnIssues(
  name: string,
  isRepeated: boolean,
  { properties, readOnly }: ColumnNames,
  index: number,
): readonly RequestIssue[] {
  const pointer = bodyPointer(name);
  if (isRepeated)
    return [{ pointer, code: 'repeated', detail: `The header has the column '${name}' twice; keep one.` }];
  if (properties.has(name)) return [];
  if (readOnly.has(name)) {
    const { detail, ...issue } = readOnlyIssue(name);
    return [{ ...issue, detail: `${detail} Leave the column out.` }];
  }
  return [unknownProperty(pointer, name, [...properties.keys()], index < MAX_GUESSES)];
}

type CellReader = (cell: Cell) => unknown;

function readRow(
  cells: readonly Cell[],
  readers: readonly (readonly [name: string, read: CellReader])[],
): ReturnType<Columns['read']> {
  if (cells.length !== readers.length) {
    const detail = `The row has ${counted(cells.length, 'cell')}, and the header has ${readers.length}; quote a cell that has the delimiter in it.`;
    return { body: {}, issues: [{ pointer: '', code: 'columns', detail }] };
  }
  const body: Record<string, unknown> = {};
  const issues: RequestIssue[] = [];
  for (let index = 0; index < readers.length; index += 1) {
    const [name, read] = readers[index] as (typeof readers)[number];
    try {
      const value = read(cells[index] as Cell);
      if (value !== undefined) body[name] = value;
    } catch (error) {
      if (!(error instanceof BodyError)) throw error;
      issues.push(...error.errors.map((issue) => ({ ...issue, pointer: bodyPointer(name) })));
    }
  }
  return { body, issues };
}

/** Numbers as JSON has them. Other values stay texts, which the schema refuses with its own words. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function cellReader(name: string, { properties, required, hasDefaults }: ColumnNames): CellReader {
  const schema = properties.get(name) ?? {};
  const types = typesOf(schema);
  const isAny = types.size === 0;
  const isNullable = isAny ? schema.not?.type !== 'null' : types.has('null');
  // The default of the column takes the place of a value that may not be null.
  const empty = isNullable || !hasDefaults || required.includes(name) ? null : undefined;
  const parse = (text: string): unknown => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      const detail = `${name} must be JSON, with its quotes doubled inside of a quoted cell.`;
      throw new BodyError(400, 'json', detail);
    }
    // A body has the value one level deeper.
    refuseDepth({ [name]: value });
    return value;
  };
  return (cell) => {
    if (cell === null) return empty;
    if (isAny) return STRUCTURED.test(cell) ? parse(cell) : plainValue(cell);
    if (types.has('boolean') && (cell === 'true' || cell === 'false')) return cell === 'true';
    if ((types.has('number') || types.has('integer')) && NUMBER.test(cell)) return Number(cell);
    if ((types.has('array') && cell.startsWith('[')) || (types.has('object') && cell.startsWith('{')))
      return parse(cell);
    return cell;
  };
}

/** The beginning of a text that can only be JSON. */
const STRUCTURED = /^\s*["[{]/;

/** A number, true, false or null; any other text is a text, as exports write it. */
function plainValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The types that a value may have; empty is any. */
export function typesOf({
  type,
  anyOf = [],
  oneOf = [],
  $ref,
  enum: members,
}: JsonSchema): ReadonlySet<JsonType> {
  const own = [type ?? []].flat();
  const others = [...anyOf, ...oneOf].flatMap((each) => [...typesOf(each)]);
  const named: JsonType[] = $ref === undefined ? [] : ['object'];
  const texts: JsonType[] =
    type === undefined && members?.every((each) => typeof each === 'string') ? ['string'] : [];
  return new Set([...own, ...others, ...named, ...texts]);
}
