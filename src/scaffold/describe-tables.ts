/** Rows of the catalogue -> tables, and the constructs that no model has. */
import { actionOf, KINDS } from '../inspect/catalogue.js';
import type { CatalogueRow, ColumnRow, TableRow, TriggerRow } from './catalogue-statement.js';
import { hasForm } from './column-code.js';
import type { DatabaseColumn, DatabaseSchema, DatabaseTable, LeftOut } from './model-plan.js';

/** Tables that features make. They have bodies and rows of every user, which no resource should show. */
const OWN = /^crud_(?:idempotency|import|changes|ticks)$/;

/** The tables that the role may read, with all that is left out. */
export function describeTables({ role, schemas, tables }: CatalogueRow): DatabaseSchema {
  const closed = new Map(schemas.filter(({ isUsable }) => !isUsable).map(({ name, sql }) => [name, sql]));
  const leftOut: LeftOut[] = [];
  const described: DatabaseTable[] = [];
  for (const [schema, sql] of closed) {
    const count = tables?.filter((table) => table.schema === schema).length ?? 0;
    const reason = `The role may not use it; write GRANT USAGE ON SCHEMA ${sql} TO ${role};`;
    if (count > 0) leftOut.push({ construct: `schema ${schema} (${count} tables and views)`, reason });
  }
  for (const table of tables ?? []) {
    if (closed.has(table.schema)) continue;
    if (OWN.test(table.name)) {
      leftOut.push({ construct: placeOf(table), reason: 'It is of crud-controllers itself.' });
      continue;
    }
    const columns = (table.columns ?? []).filter(({ isReadable }) => isReadable);
    if (columns.length === 0) leftOut.push(unreadable(table, role));
    else {
      described.push(describeTable(table, columns));
      leftOut.push(...leftOutOf(table, role));
    }
  }
  return { tables: described, leftOut };
}

function placeOf({ schema, name, kind }: TableRow): string {
  return `${KINDS[kind]} ${schema}.${name}`;
}

function unreadable(table: TableRow, role: string): LeftOut {
  return {
    construct: placeOf(table),
    reason: table.columns
      ? `The role may not read it; write GRANT SELECT ON ${table.sql} TO ${role};`
      : 'It has no column.',
  };
}

function describeTable(table: TableRow, columns: readonly ColumnRow[]): DatabaseTable {
  const { schema, name, kind, comment, isInherited, indexes, foreignKeys, triggers } = table;
  const key = indexes.find(({ isPrimary }) => isPrimary)?.columns ?? [];
  const set = new Set(triggers.flatMap(columnsSetBy));
  return {
    schema,
    name,
    kind: KINDS[kind] ?? 'table',
    comment,
    isInherited,
    columns: columns.map(describeColumn),
    primaryKey: key.filter((column) => column !== null),
    indexes,
    foreignKeys: foreignKeys.map((each) => ({
      ...each,
      onDelete: actionOf(each.onDelete),
      onUpdate: actionOf(each.onUpdate),
    })),
    setByTriggers: columns.map((column) => column.name).filter((column) => set.has(column)),
  };
}

function describeColumn(column: ColumnRow): DatabaseColumn {
  const { name, comment, type, base, isArray, labels, domain, checks, isNotNull, isGenerated } = column;
  return {
    name,
    comment,
    type,
    base,
    isArray,
    labels,
    domain: domain === null ? null : { name: domain, checks },
    isNotNull,
    // `DEFAULT NULL` is none.
    defaultSql: /^NULL(?:::|$)/.test(column.defaultSql ?? '') ? null : column.defaultSql,
    identity: column.identity === 'a' ? 'always' : column.identity === 'd' ? 'by default' : null,
    isGenerated,
    formProblem: formProblem(column),
  };
}

/** Types without one in arrays, whose text is read as one value. */
const SINGLE =
  /^(?:xml|line|lseg|box|path|polygon|circle|name|"char"|xid8|pg_lsn|reg[a-z]+|tsvector|tsquery|hstore|ltree|cube|is[bsm]n(?:13)?|ean13|upc)$/;

function formProblem(column: ColumnRow): string | null {
  const { base, type, isArray, labels, typeKind, isArrayOfDomain, isVisible, extension } = column;
  if (isArrayOfDomain)
    return `Its type ${type} is an array of a domain; a view can cast it to an array of ${base}.`;
  if (typeKind === 'e') return labels === null ? `Its type ${base} is an enum without labels.` : null;
  if (typeKind === 'c')
    return `Its type ${type} is a row type, which has no form in JSON; a view can name its parts.`;
  if (isArray && SINGLE.test(base))
    return `Its type ${type} has no form in JSON; a view can make a text of it.`;
  if (extension !== null) {
    if (!hasForm(base))
      return `Its type ${type} of the extension ${extension} has no form in JSON; a view can make a text or numbers of it.`;
    // The operators of the type are not found either.
    if (!isVisible)
      return `Its type ${type} is in a schema outside of the search_path; add that schema to it by ALTER ROLE … SET search_path.`;
    return null;
  }
  // The vectors of the catalogue are written otherwise than arrays.
  const isKnown = hasForm(base) && isArray === type.endsWith('[]');
  return isKnown ? null : `Its type ${type} has no form in JSON; a view can make a text of it.`;
}

/** Assignments in PL/pgSQL: `NEW.name := …`, and with `=` at the beginning of a statement. */
const ASSIGNMENT =
  /(?<=(?:^|;|\b(?:begin|then|else|loop)\b)\s*)new\s*\.\s*(?:"((?:[^"]|"")+)"|([a-z_][\w$]*))\s*:?=([^;]*)/gi;
const MENTION = /\bnew\s*\.\s*(?:"((?:[^"]|"")+)"|([a-z_][\w$]*))/gi;
const COMMENT = /--[^\n]*|\/\*[\s\S]*?\*\//g;
const CONSTANT = /^\s*(?:null|true|false|'[^']*'|[\d.]+)\s*$/i;
const ROW = 1;
const BEFORE = 2;

/** Columns that a trigger sets whatever the statement has: none that it reads, or only empties. */
function columnsSetBy({ type, source }: TriggerRow): string[] {
  if ((type & ROW) === 0 || (type & BEFORE) === 0) return [];
  const statements = source.replace(COMMENT, ' ');
  const set = [...statements.matchAll(ASSIGNMENT)];
  const rest = statements.replace(ASSIGNMENT, (...[, , , value]) => ` ${value} `);
  const read = new Set([...rest.matchAll(MENTION)].map(nameIn));
  return set
    .filter(([, , , value = '']) => !CONSTANT.test(value))
    .map(nameIn)
    .filter((name) => !read.has(name));
}

function nameIn([, quoted, plain = '']: readonly (string | undefined)[]): string {
  return quoted?.replaceAll('""', '"') ?? plain.toLowerCase();
}

const SECURE =
  'Policies decide which rows the role reads and writes; the option rls of bootstrap sets what they read of a request.';
const BYPASSED =
  'Its policies do not hold for the role, which reads all rows; connect as another one, or use the option scope.';

/** All of a table that its model cannot say. */
function leftOutOf(table: TableRow, role: string): LeftOut[] {
  const { schema, name, sql, columns, indexes, constraints, triggers, rules, heirs, partitions } = table;
  const own = `${schema}.${name}`;
  const unread = (columns ?? []).filter(({ isReadable }) => !isReadable);
  return [
    ...unread.map((column) => ({
      construct: `column ${own}.${column.name}`,
      reason: `The role may not read it; write GRANT SELECT (${column.sql}) ON ${sql} TO ${role};`,
    })),
    ...(partitions > 0
      ? [
          {
            construct: `${partitions} partitions of ${own}`,
            reason: 'Their rows are read and written through it.',
          },
        ]
      : []),
    ...(heirs.length > 0
      ? [
          {
            construct: `inheritance of ${own}`,
            reason: `Its model has only: true, and leaves out the rows of ${heirs.join(', ')}, which have models of their own.`,
          },
        ]
      : []),
    ...constraints.map((each) => ({
      construct: `${each.kind === 'c' ? 'check' : 'exclusion constraint'} "${each.name}" of ${own}`,
      reason: `PostgreSQL alone checks it: ${each.definition}.`,
    })),
    ...indexes
      .filter(
        ({ isUnique, columns: keys, predicate }) => isUnique && (predicate !== null || keys.includes(null)),
      )
      .map((each) => ({
        construct: `unique index "${each.name}" of ${own}`,
        reason: `It is ${each.predicate === null ? 'over an expression' : 'over some rows only'}; PostgreSQL alone checks it.`,
      })),
    ...triggers.map((each) => ({
      construct: `trigger "${each.name}" of ${own}`,
      reason: triggerReason(each),
    })),
    ...rules.map((rule) => ({
      construct: `rule "${rule}" of ${own}`,
      reason: 'A write does what the rule says; one that returns no row is 409.',
    })),
    ...(table.isPopulated
      ? []
      : [
          {
            construct: `rows of ${own}`,
            reason: `It was never refreshed, and a request for it is 500; write REFRESH MATERIALIZED VIEW ${sql};`,
          },
        ]),
    ...(table.hasRowSecurity
      ? [{ construct: `row security of ${own}`, reason: table.isRowSecure ? SECURE : BYPASSED }]
      : []),
  ];
}

function triggerReason(trigger: TriggerRow): string {
  const columns = columnsSetBy(trigger);
  const does = `PostgreSQL executes ${trigger.function}()`;
  return columns.length > 0
    ? `${does}, which sets ${[...new Set(columns)].join(', ')}; a comment of the model proposes readOnly.`
    : `${does}; name columns that it sets in readOnly.`;
}
