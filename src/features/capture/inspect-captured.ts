/** Inspects tables whose changes are stored: those that have no such triggers, and rows and columns that triggers do not see. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { tableFacts } from '../../describe/table-facts.js';
import { quotedTable } from '../../execute/sql/sql-fragment.js';
import { selectCatalogue } from '../../inspect/catalogue.js';
import type { TableReport } from '../../operation/feature.js';
import { historyOf, isCaptured, judgedAttributes } from './capture-options.js';

const NOTHING: TableReport = Object.freeze({ problems: [], warnings: [] });

/** Problems of tables that have no such triggers, and of rows that none of them is for. */
export async function inspectCaptured(plan: ResourcePlan): Promise<TableReport> {
  const { kind = 'table' } = (isCaptured(plan) && tableFacts(plan.model)) || {};
  const isByRow = historyOf(plan)?.isByRow === true;
  if (kind === 'partitioned table' && !isByRow)
    return {
      problems: virtualProblems(plan),
      warnings: [
        `${plan.name}: its table is partitioned, so that changes are stored by a trigger for each row, and writes of many rows take longer; ` +
          "set history: { capture: 'row' }, so that npx crud-controllers sql prints these triggers.",
      ],
    };
  if (kind === 'table' || kind === 'partitioned table' || (kind === 'foreign table' && isByRow)) {
    const problems = virtualProblems(plan);
    return kind === 'table' && problems.length === 0 ? inspectHeirs(plan, isByRow) : { ...NOTHING, problems };
  }
  const mend = kind === 'foreign table' ? "set history: { capture: 'row' }, or leave it out" : 'leave it out';
  const problem = `${plan.name}: its table is a ${kind}, which has no triggers that history needs; ${mend}.`;
  return { ...NOTHING, problems: [problem] };
}

/** Problems of columns that PostgreSQL computes when they are read: triggers see none of their values. */
function virtualProblems(plan: ResourcePlan): readonly string[] {
  if (!isCaptured(plan)) return [];
  return judgedAttributes(plan)
    .filter(({ found }) => found?.isVirtual)
    .map(
      ({ name }) =>
        `${plan.name}: changes are judged by '${name}', whose column is VIRTUAL, so that triggers do not see its values; make it STORED.`,
    );
}

const HEIRS = `WITH RECURSIVE heir (id) AS (
  SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass($1) UNION SELECT inhrelid FROM pg_inherits JOIN heir ON inhparent = id)
  SELECT string_agg(id::regclass::text, ', ' ORDER BY id::regclass::text) AS names FROM heir`;

/** Rows of heirs are records, too. A trigger for each row is never for them, and one for a statement where the statement names the parent. */
async function inspectHeirs(plan: ResourcePlan, isByRow: boolean): Promise<TableReport> {
  const { name, model, info } = plan;
  if (!isCaptured(plan) || !tableFacts(model)?.isInherited || info.leavesHeirs) return NOTHING;
  const table = quotedTable(model);
  const [found] = await selectCatalogue<{ names: string }>(model.sequelize, HEIRS, [table]);
  const head = `${name}: rows of ${found?.names}, which inherit from ${table}, are records, too, and`;
  const mend = 'write only: true in its @Crud to leave them out';
  if (isByRow)
    return {
      ...NOTHING,
      problems: [
        `${head} no trigger for each row of ${table} stores their changes; leave capture: 'row' out, or ${mend}.`,
      ],
    };
  return {
    ...NOTHING,
    warnings: [
      `${head} their changes are stored where a statement writes ${table}, and not where it names their own table, so that history and feed ` +
        `lack these; ${mend}, or write them through ${table} alone.`,
    ],
  };
}
