/** Writes the rows of a chunk: with one statement, and where that is refused, with statements for halves, down to the rows that are wrong. */
import type { Action } from 'routing-controllers';
import type { Endpoint } from '../../declare/endpoint.js';
import { isRefusal } from '../../errors/database-fault.js';
import type { RequestUnit } from '../../execute/records/unit-of-work.js';
import { inCondition } from '../../handle/around-method.js';
import { decideRoute } from '../../handle/decide-route.js';
import type { RouteContext } from '../../handle/handled-route.js';
import { compileMethod } from '../../handle/run-method.js';
import { compileRowRunners, sessionTarget } from '../../handle/run-rows.js';
import type { Access } from '../../operation/access.js';
import { USUAL } from '../../operation/route-spec.js';
import { setCurrentItem, setToldNames } from '../../request/request-notes.js';
import { itemIssues } from '../../respond/item-problem.js';
import type { BulkItem } from '../bulk/parse-item.js';
import { compileSingle, settle } from '../bulk/write-in-turn.js';
import { compileManyRunner } from '../bulk/write-together.js';
import type { ImportReport, RowPlace } from './import-report.js';

/** A row that the schema has accepted. */
export interface ImportItem extends RowPlace {
  readonly item: BulkItem;
}

/** Writes rows in the transaction of a unit of work. Each that is refused is undone alone, and reported. */
export type RowWriter = (
  action: Action,
  unit: RequestUnit,
  rows: readonly ImportItem[],
  access: Access,
  report: ImportReport,
) => Promise<void>;

const WRITTEN = { create: 'created', update: 'updated' } as const;

/** Compiles the writer of a mode. */
export function compileRowWriter(
  { resource, shaper, settings, lineage }: RouteContext,
  operation: Extract<Endpoint, 'create' | 'update'>,
): RowWriter {
  const { plan } = resource;
  const route = USUAL[operation];
  const { runner } = decideRoute(resource, route, lineage, settings);
  const rowRunner = runner === 'rows' ? compileRowRunners(resource)(operation) : null;
  const writeMany = rowRunner && compileManyRunner(resource, operation);
  const writeOne = compileSingle(
    resource,
    route,
    rowRunner,
    inCondition(resource, operation, compileMethod(resource, route, shaper)),
  );
  const isRuled = Boolean(plan.access?.fields.size);
  const count = WRITTEN[operation];

  /** False where nothing was written: a row is refused, or one statement cannot write them. */
  const together = async (unit: RequestUnit, rows: readonly ImportItem[], access: Access) => {
    if (!writeMany || !rowRunner?.isOpen()) return false;
    const input = { items: rows.map(({ item }) => item), inputs: TOGETHER, access, each: null };
    try {
      return await unit.attempt(async () => {
        const on = await sessionTarget(plan.model.sequelize, route.verb);
        return (await writeMany(input, rows.length, on)) !== null;
      });
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  };
  const alone = async (action: Action, unit: RequestUnit, { item, ...place }: ImportItem, access: Access) => {
    const { request } = action;
    setCurrentItem(request, null);
    if (isRuled) setToldNames(request, access.form, item.body);
    const write = async () => {
      if (!item.input) throw item.problem ?? new TypeError('A row has neither values nor a problem.');
      return writeOne(action, item.input);
    };
    const { problem } = await settle(action, unit, write, item.input !== null);
    return problem ? { place, issues: itemIssues(problem) } : null;
  };
  return async function writeRows(action, unit, rows, access, report) {
    if (rows.length > 1 && (await together(unit, rows, access))) {
      report[count] += rows.length;
      return;
    }
    const [first] = rows;
    if (!first) return;
    if (rows.length === 1) {
      const refused = await alone(action, unit, first, access);
      if (refused) report.refuse(refused.place, refused.issues);
      else report[count] += 1;
      return;
    }
    // Where each row passes code of the user's, halves would be looked at in vain.
    const size = writeMany ? Math.ceil(rows.length / 2) : 1;
    for (let from = 0; from < rows.length; from += size)
      await writeRows(action, unit, rows.slice(from, from + size), access, report);
  };
}

/** Parameters of a write of many records. */
const TOGETHER = Object.freeze({ filter: null, isAtomic: true, isDryRun: false });
