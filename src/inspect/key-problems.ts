/** Keys that do not address one row: a request for a record would read, change or delete several. */

import type { ResourcePlan } from '../compile/resource-plan.js';
import { isGenerated, type ModelInfo } from '../describe/model-info.js';
import { isUniqueKey, tableFacts } from '../describe/table-facts.js';
import { identifier, quotedTable } from '../execute/sql/sql-fragment.js';

/** Why the key of a resource is none of its table. The key of a view or a foreign table is trusted: its database cannot promise it. */
export function keyProblems({ info, endpoints }: Pick<ResourcePlan, 'info' | 'endpoints'>): string[] {
  const { model, name, primaryKey } = info;
  const facts = tableFacts(model);
  if (!facts) return [];
  const table = quotedTable(model);
  const column = identifier(primaryKey.column);
  if (!facts.columns.has(primaryKey.column)) {
    return [
      `${name}.${primaryKey.name}: the table ${table} has no column ${column}, which is the key of the model; add it by a migration, or ` +
        `declare another attribute with @PrimaryKey.`,
    ];
  }
  if (endpoints.has('replace') && isGenerated(primaryKey)) {
    return [
      `${name}: endpoints has 'replace', and the table ${table} makes the key ${column} of every new record by itself; leave it out.`,
    ];
  }
  if (!facts.isTable || isUniqueKey(facts, [primaryKey.column])) return [];
  const others = uniqueAttributes(info);
  const choice =
    others.length > 0
      ? `give @PrimaryKey to ${others.join(' or ')} instead, which is unique`
      : 'or give @PrimaryKey to an attribute whose values are unique, such as a new identity column';
  return [
    `${name}.${primaryKey.name}: no unique index or constraint of the table ${table} is over ${column} alone, so that a request for one ` +
      `record would read, change or delete several; CREATE UNIQUE INDEX ON ${table} (${column}); where its values are unique, ${choice}. ` +
      'A key of several columns cannot address a record yet; a view with such a column can be read in the place of its table.',
  ];
}

/** Attributes that could be the key. */
function uniqueAttributes({ model, attributes }: ModelInfo): string[] {
  const facts = tableFacts(model);
  return [...attributes.values()]
    .filter(
      ({ column, role, type }) =>
        role === 'data' && type.kind !== 'virtual' && facts?.columns.get(column)?.notNull,
    )
    .filter(({ column }) => facts && isUniqueKey(facts, [column]))
    .map(({ name }) => `'${name}'`);
}
