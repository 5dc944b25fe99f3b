/**
 * Differences between the models and the database, logged once at the start. These are tables, columns and indexes that the database
 * lacks, and columns that a model would have to write and does not have.
 */

import type { ResourcePlan } from '../compile/resource-plan.js';
import type { ModelClass } from '../declare/crud-options.js';
import type { RecordInfo } from '../describe/model-info.js';
import { identifier, quotedTable } from '../execute/sql/sql-fragment.js';
import { indexesOf } from '../execute/sql/table-indexes.js';
import type { FeatureNeeds } from '../operation/feature.js';
import type { CatalogueTable, Tables } from './catalogue.js';
import { adviseIndexes, holdsAlive, indexNeeds, readIndex, tablesRead } from './index-advice.js';

/** An error for each table or column that is missing. None of them stops the application: a migration may be under way. */
export function missingLines(plans: readonly ResourcePlan[], tables: Tables): string[] {
  const infos = new Map(plans.flatMap(tablesRead).map((info) => [info.model, info]));
  return [...infos.values()].flatMap((info) => missingParts(info, tables.get(info.model)));
}

/** A warning for each column that no create can fill. */
export function unknownLines(plans: readonly ResourcePlan[], tables: Tables): string[] {
  return plans.filter(createsRows).flatMap(({ info }) => unknownColumns(info, tables.get(info.model)));
}

/** A warning with all indexes that are missing, and those of features about indexes that are there. */
export function adviceLines(
  plans: readonly ResourcePlan[],
  tables: Tables,
  features: readonly FeatureNeeds[],
  indexAdvice: boolean,
): readonly string[] {
  // A view has no indexes, and no advice is made for the tables behind it.
  const infos = new Map(plans.flatMap(tablesRead).map((info) => [info.model, info]));
  const ownIndexes = (model: ModelClass) => {
    const { facts, indexes = [] } = tables.get(model) ?? {};
    const info = infos.get(model);
    const used = info && indexes.filter(({ predicate }) => predicate !== null && holdsAlive(info, predicate));
    return facts?.isTable ? [...(indexesOf(model) ?? []), ...(used ?? []).map(readIndex)] : undefined;
  };
  const needs = indexAdvice ? plans.flatMap((plan) => indexNeeds(plan, features)) : [];
  const lines = adviseIndexes(needs, ownIndexes);
  return [
    ...(lines.length > 0 ? [indexWarning(lines)] : []),
    ...plans.flatMap((plan) =>
      features.flatMap(({ adviseOn }) => adviseOn?.(plan, tables.get(plan.model)?.indexes ?? []) ?? []),
    ),
  ];
}

/** Lines of advice in a log, at most. */
const MAX_ADVICE = 20;

function indexWarning(lines: readonly string[]): string {
  const count = lines.length;
  const [are, them] = count === 1 ? ['index is', 'it'] : ['indexes are', 'them'];
  const shown = lines.slice(0, MAX_ADVICE);
  const rest = count - shown.length;
  return [
    `${count} ${are} missing, and requests without ${them} read a whole table; create ${them}, or set indexAdvice: false in ` +
      'bootstrap where the tables are small:',
    ...shown,
    ...(rest > 0 ? [`and ${rest} more; npx crud-controllers sql prints them with the others.`] : []),
  ].join('\n  ');
}

function missingParts({ name, model, attributes }: RecordInfo, found: CatalogueTable | undefined): string[] {
  const table = quotedTable(model);
  if (!found) {
    return [
      `${name}: there is no table ${table}; create it by a migration, or by createAll: true of engineLifespan.`,
    ];
  }
  const { columns } = found.facts;
  return [...attributes.values()]
    .filter(({ type, column }) => type.kind !== 'virtual' && !columns.has(column))
    .map(
      (attribute) =>
        `${name}.${attribute.name}: the table ${table} has no column ${identifier(attribute.column)}; add it by a migration, ` +
        'as createAll changes no table that exists.',
    );
}

function createsRows({ endpoints }: ResourcePlan): boolean {
  return (['create', 'replace', 'createMany'] as const).some((each) => endpoints.has(each));
}

/** A line for each column that every new row needs, and that a model does not have. */
function unknownColumns(
  { name, model, attributes }: RecordInfo,
  table: CatalogueTable | undefined,
): string[] {
  const known = new Set([...attributes.values()].map(({ column }) => column));
  const lacking = table?.required.filter((column) => !known.has(column)) ?? [];
  return lacking.map((column) => {
    const text = `the table ${quotedTable(model)} has a column ${identifier(column)} that is NOT NULL without a default`;
    return `${name}: ${text}, and the model lacks it, so no record can be created; declare it, or give it a default by a migration.`;
  });
}
