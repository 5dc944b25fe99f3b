/** Questions in the language of `q`, each with its condition in SQL: written by hand from the guide, not by the library. */
import type { Client } from 'pg';
import { type Column, quote, type Relation } from './tables.js';
import { queryText, ruleOf } from './wire.js';

/** A comparison. */
export interface Question {
  /** Behind the name of the attribute. */
  readonly q: string;
  readonly where: string;
  readonly values: readonly string[];
}

/** Each operator of a column, with values that rows have, and one that hardly any has. */
export async function questionsOf(client: Client, table: Relation, column: Column): Promise<Question[]> {
  const { operators } = ruleOf(column);
  const name = `t.${quote(column.name)}`;
  const all: Question[] = [];
  const ask = (q: string, where: string, ...values: string[]) => all.push({ q, where, values });
  ask('=isnull=true', `${name} IS NULL`);
  ask('=isnull=false', `${name} IS NOT NULL`);
  if (operators === '') return all;
  const { type } = column;
  const isArray = operators === '[';
  const [element = type] = type.split('[]');
  const single = isArray ? { ...column, type: element, base: column.element ?? '', element: null } : column;
  const say = (value: string) => quoted(queryText(single, value));
  const own = isArray ? name : `${name}::${type}`;
  const values = await valuesOf(client, table, isArray ? `unnest(${name})` : own);
  values.push(...absentOf(single));
  if (isArray) {
    ask('=isempty=true', `${name} = '{}'`);
    ask('=isempty=false', `${name} <> '{}'`);
  }
  for (const [at, value] of values.entries()) {
    const other = values[(at + 1) % values.length] ?? value;
    const [low, high] = [`$1::text::${type}`, `$2::text::${type}`];
    if (isArray) {
      ask(`=contains=(${say(value)})`, `${name} @> ARRAY[$1]::text[]::${type}`, value);
      ask(
        `=overlaps=(${say(value)},${say(other)})`,
        `${name} && ARRAY[$1, $2]::text[]::${type}`,
        value,
        other,
      );
      continue;
    }
    const pair = `(${say(value)},${say(other)})`;
    ask(`==${say(value)}`, `${own} = ${low}`, value);
    ask(`!=${say(value)}`, `${own} <> ${low}`, value);
    ask(`=in=${pair}`, `${own} IN (${low}, ${high})`, value, other);
    ask(`=out=${pair}`, `${own} NOT IN (${low}, ${high})`, value, other);
    if (operators.includes('<')) {
      for (const sign of ['<', '<=', '>', '>=']) ask(`${sign}${say(value)}`, `${own} ${sign} ${low}`, value);
      ask(`=between=${pair}`, `${own} BETWEEN ${low} AND ${high}`, value, other);
      ask(`=notbetween=${pair}`, `${own} NOT BETWEEN ${low} AND ${high}`, value, other);
    }
    if (operators.includes('w')) ask(`=within=${say(value)}`, `${own} <<= ${low}`, value);
    if (operators.includes('r')) {
      ask(`=contains=${say(value)}`, `${own} @> ${low}`, value);
      ask(`=overlaps=${say(value)}`, `${own} && ${low}`, value);
      ask(`=within=${say(value)}`, `${own} <@ ${low}`, value);
    }
    if (operators.includes('~')) patterns(column, name, value, ask);
  }
  return all;
}

/** Texts that begin, end or go on like a value, in both languages of patterns. */
function patterns(
  { base }: Column,
  name: string,
  value: string,
  ask: (q: string, where: string, value: string) => void,
): void {
  // A cast to text leaves the blanks out that pad a CHAR.
  const text = `${name}::${base === 'citext' ? base : 'text'}`;
  const part = [...value].slice(0, 2).join('') || 'x';
  const [ours, sql] = [part.replace(/[\\*]/g, '\\$&'), part.replace(/[\\%_]/g, '\\$&')];
  ask(`=like=${quoted(`${ours}*`)}`, `${text} LIKE $1`, `${sql}%`);
  ask(`=notlike=${quoted(`*${ours}`)}`, `${text} NOT LIKE $1`, `%${sql}`);
  ask(`=ilike=${quoted(`*${ours.toUpperCase()}*`)}`, `${text} ILIKE $1`, `%${sql.toUpperCase()}%`);
  ask(`=inotlike=${quoted(`${ours}*`)}`, `${text} NOT ILIKE $1`, `${sql}%`);
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Four values from all over their order. */
async function valuesOf(client: Client, table: Relation, own: string): Promise<string[]> {
  const { rows } = await client.query(
    `SELECT v::text FROM (SELECT v, row_number() OVER (ORDER BY v) AS place FROM (SELECT DISTINCT ${own} AS v FROM ${table.from} t) d
     WHERE v IS NOT NULL) n ORDER BY place * 7 % 10, place LIMIT 4`,
  );
  return rows.map(({ v }) => v);
}

function absentOf({ base, type, labels }: Column): string[] {
  if (labels) return [];
  if (/^(smallint|integer|bigint)$/.test(base)) return ['31999'];
  if (/^(char|text|citext)/.test(base)) return ['zq'.slice(0, Number(/\((\d+)\)/.exec(type)?.[1] ?? 2))];
  if (base === 'date') return ['1899-12-31'];
  if (base.startsWith('timestamp'))
    return [`1899-12-31 00:00:00${base.endsWith('with time zone') ? '+00' : ''}`];
  return base === 'uuid' ? ['00000000-0000-0000-0000-000000000000'] : [];
}
