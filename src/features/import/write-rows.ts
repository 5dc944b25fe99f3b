/** Writes the rows of a chunk: with one statement, and where that is refused, with statements for halves, down to the rows that are wrong. */
import type { Action } from 'routing-controllers';
import type { ImportMode } from '../../declare/import-options.js';
import { describeFault, isRefusal } from '../../errors/database-fault.js';
import type { RequestUnit } from '../../execute/records/unit-of-work.js';
import { inCondition } from '../../handle/around-method.js';
import { decideRoute } from '../../handle/decide-route.js';
import type { RouteContext } from '../../handle/handled-route.js';
import { compileMethod } from '../../handle/run-method.js';
import { compileRowRunners, type RowRunner, sessionTarget } from '../../handle/run-rows.js';
import type { Access } from '../../operation/access.js';
import { type RouteSpec, USUAL } from '../../operation/route-spec.js';
import { setCurrentItem, setToldNames } from '../../request/request-notes.js';
import { itemIssues } from '../../respond/item-problem.js';
import { inHalves } from '../../util/halves.js';
import type { BulkItem } from '../bulk/parse-item.js';
import { compileSingle, lockTargets, settle } from '../bulk/write-in-turn.js';
import { compileManyRunner, type ManyRunner } from '../bulk/write-together.js';
import { compileUpsertMethod, compileUpsertRows } from '../upsert/run-upsert.js';
import { compileUpsertTogether } from '../upsert/upsert-together.js';
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

interface ModeCode {
  /** Null where Sequelize writes, or code of the user's. */
  readonly rows: RowRunner | null;
  readonly writeMany: ManyRunner | null;
  readonly writeOne: ReturnType<typeof compileSingle>;
}

/** Route of an upsert, as its methods and decisions need it. */
const UPSERT: RouteSpec = { ...USUAL.create, endpoint: 'upsert', operation: 'upsert' };

function compileCode({ resource, shaper, settings, lineage }: RouteContext, mode: ImportMode): ModeCode {
  const route = mode === 'upsert' ? UPSERT : USUAL[mode];
  const isByRows = decideRoute(resource, route, lineage, settings).runner === 'rows';
  if (mode === 'upsert') {
    const rows = isByRows ? compileUpsertRows(resource) : null;
    const runMethod = compileUpsertMethod(resource, shaper);
    const writeMany = rows && compileUpsertTogether(resource, false);
    return { rows, writeMany, writeOne: compileSingle(resource, route, rows, runMethod) };
  }
  const rows = isByRows ? compileRowRunners(resource)(mode) : null;
  const runMethod = inCondition(resource, mode, compileMethod(resource, route, shaper));
  return {
    rows,
    writeMany: rows && compileManyRunner(resource, mode, []),
    writeOne: compileSingle(resource, route, rows, runMethod),
  };
}

/** Compiles the writer of a mode. */
export function compileRowWriter(context: RouteContext, mode: ImportMode): RowWriter {
  const { resource } = context;
  const { plan } = resource;
  const { rows: rowRunner, writeMany, writeOne } = compileCode(context, mode);
  const isRuled = Boolean(plan.access?.fields.size);
  const count = (report: ImportReport, isNew: boolean) => {
    report[isNew ? 'created' : 'updated'] += 1;
  };

  /** False where nothing was written: a row is refused, or one statement cannot write them. */
  const together = async (
    unit: RequestUnit,
    rows: readonly ImportItem[],
    access: Access,
    report: ImportReport,
  ): Promise<boolean> => {
    if (!writeMany || !rowRunner?.isOpen()) return false;
    const input = { items: rows.map(({ item }) => item), inputs: TOGETHER, access, each: null };
    try {
      const written = await unit.attempt(async () => {
        const on = await sessionTarget(plan.model.sequelize, 'post');
        return writeMany(input, rows.length, on);
      });
      if (!written) return false;
      for (const index of rows.keys()) count(report, written.created?.[index] ?? mode === 'create');
      return true;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  };
  const alone = async (
    action: Action,
    unit: RequestUnit,
    { item, ...place }: ImportItem,
    access: Access,
    report: ImportReport,
  ): Promise<void> => {
    const { request } = action;
    setCurrentItem(request, null);
    if (isRuled) setToldNames(request, access.form, item.body);
    const write = async () => {
      if (!item.input) throw item.problem ?? new TypeError('A row has neither values nor a problem.');
      return writeOne(action, item.input);
    };
    const { problem, item: outcome } = await settle(action, unit, write, item.input !== null, isOfAll);
    if (problem) report.refuse(place, itemIssues(problem));
    else count(report, outcome.isNew ?? mode === 'create');
  };
  return async (action, unit, rows, access, report) => {
    // A record that has its values already is not written, and another transaction could change it between two others.
    if (mode === 'update' && !writeMany)
      await lockTargets(
        resource,
        action,
        rows.map(({ item }) => item),
        () => plan.info.address,
      );
    await inHalves(
      rows,
      (some) => together(unit, some, access, report),
      (row) => alone(action, unit, row, access, report),
      // Where each row runs code of the user's, a search in halves finds nothing sooner.
      () => writeMany !== null,
    );
  };
}

/** True for an error that is of no row: the transaction has to run again, because the locks of rows before are a part of the cause. */
function isOfAll(error: unknown): boolean {
  return describeFault(error)?.isRetryable === true;
}

/** Parameters of a write of many records. */
const TOGETHER = Object.freeze({ filter: null, isAtomic: true, isDryRun: false });
