/** The schema of a database -> the plan of its models: names, keys, relations, and all that is left out. */
import type {
  DatabaseSchema,
  DatabaseTable,
  LeftOut,
  ModelPlan,
  ModelsPlan,
  RelationPlan,
} from './model-plan.js';
import { checkNames, keyOf } from './name-choices.js';
import { NameProblems } from './name-problems.js';
import {
  nameReason,
  planAttributes,
  planQueries,
  type UsableColumns,
  usableColumns,
} from './plan-attributes.js';
import { type ClassNames, planClasses } from './plan-classes.js';
import { findTenants, planHints, proposalHints } from './plan-hints.js';
import { findReferences, oneName, planRelations } from './plan-relations.js';

interface PlanOptions {
  /** The parsed file of names. */
  readonly names?: unknown;
}

/**
 * Plans the models. The same schema has the same plan, in whatever order it was created.
 *
 * @throws ConfigError where names are unknown, or several things would have one name, with the lines to add to the file of names
 */
export function planModels(schema: DatabaseSchema, { names = {} }: PlanOptions = {}): ModelsPlan {
  const choices = checkNames(names, schema);
  const problems = new NameProblems();
  const leftOut: LeftOut[] = [...schema.leftOut];
  const usable = new Map<DatabaseTable, UsableColumns>();
  for (const table of schema.tables) {
    const found = usableColumns(table, choices[keyOf(table)] ?? {});
    const reason = modelProblem(table, found);
    if (reason === null) usable.set(table, found);
    else leftOut.push({ construct: `${table.kind} ${keyOf(table)}`, reason });
    if (reason === null) leftOut.push(...found.leftOut);
  }
  const tables = [...usable.keys()];
  const classes = planClasses(tables, choices, problems);
  const { references, leftOut: unjoined } = findReferences(usable, schema.otherTables);
  leftOut.push(...unjoined);
  const drafts = new Map(
    tables.map((table) => {
      const own = references.filter(({ child }) => child === table);
      const relationNames = own
        .filter(({ more }) => more.length === 0)
        .map((each) => ({
          column: each.column,
          relation: choices[keyOf(table)]?.relations?.[each.key.name]?.one ?? oneName(each),
        }));
      const columns = usable.get(table) as UsableColumns;
      const attributes = planAttributes(table, columns, relationNames, choices[keyOf(table)] ?? {}, problems);
      const relations: RelationPlan[] = [];
      return [table, { columns, attributes, relations }] as const;
    }),
  );
  const sites = new Map(
    [...drafts].map(([table, { attributes, relations }]) => [
      table,
      {
        className: classes.get(table)?.className ?? '',
        attributes: new Map(attributes.map(({ column, name }) => [column.name, name])),
        relations,
      },
    ]),
  );
  planRelations(references, sites, usable, choices, problems);
  problems.throwAll();
  const tenants = findTenants(tables);
  const keyless = new Set(
    tables
      .filter((table) => usable.get(table)?.key.length === 0)
      .map((table) => classes.get(table)?.className),
  );
  const hints: string[] = [];
  const models = [...drafts].map(([table, { columns, attributes, relations }]): ModelPlan => {
    const nameOf = new Map(attributes.map(({ column, name }) => [column.name, name]));
    const model = {
      table,
      ...(classes.get(table) as ClassNames),
      attributes,
      relations,
      id: columns.key.map((column) => nameOf.get(column) ?? column),
      ...planQueries(table, attributes),
    };
    const found = planHints(
      model,
      relations.filter(({ target }) => !keyless.has(target)),
      tenants,
    );
    hints.push(...found.hints);
    return { ...model, proposals: found.proposals };
  });
  return { models, leftOut, hints: [...hints, ...proposalHints(models)] };
}

/** Why a table has no model; null where it has one. */
function modelProblem({ schema, name }: DatabaseTable, { columns }: UsableColumns): string | null {
  const misread = nameReason(schema) ?? nameReason(name);
  if (misread !== null) return misread;
  return columns.length === 0 ? 'It has no column that an attribute can have the values of.' : null;
}
