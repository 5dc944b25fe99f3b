/** Handler of imports: a file is read in chunks, each of which is parsed and written before the next one is read. */
import type { Request } from 'express';
import type { Action, ActionMetadata } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import type { ImportMode } from '../../declare/import-options.js';
import { noteOperation } from '../../diagnostics/channels.js';
import type { RequestUnit } from '../../execute/records/unit-of-work.js';
import { joinableSession, retried } from '../../execute/session/savepoint.js';
import type { ActionRunner } from '../../express/resources/controller-metadata.js';
import { commitRequest, operationSessions, type RunInSession } from '../../handle/commit-request.js';
import { answerWith, formatFor, type Story } from '../../handle/handle.js';
import type { HandlerContext } from '../../handle/handled-route.js';
import { compileAloneTarget, sessionTarget } from '../../handle/run-rows.js';
import type { AnswerDraft, Feature } from '../../operation/feature.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { USUAL } from '../../operation/route-spec.js';
import { WorkLimit } from '../../operation/work-limit.js';
import { DEFAULT_LIMIT } from '../../request/read-body.js';
import { setCurrentItem } from '../../request/request-notes.js';
import { requestSessions } from '../../request/request-sessions.js';
import { noteProblem } from '../../respond/problem.js';
import { BodyError } from '../../schema/request-issue.js';
import { keptIn } from '../../util/memo.js';
import { endsInTime } from '../../util/promises.js';
import { REPLAYED } from '../idempotency/idempotency-key.js';
import type { KeySettings } from '../idempotency/idempotency-options.js';
import { evaluatePrincipal, fingerprintOf, scopeOf } from '../idempotency/idempotent-write.js';
import { type FileSource, openFile } from './file-source.js';
import { decodeFile } from './file-text.js';
import type { ImportPlan } from './import-options.js';
import { ImportReport, type ImportSummary } from './import-report.js';
import {
  compileColumns,
  compileImportParser,
  compileRowParser,
  type ImportArguments,
} from './parse-import.js';
import { ProgressLines, wantsProgress } from './progress-lines.js';
import { type FileRow, readChunks } from './read-rows.js';
import { ResumedImport } from './resumed-import.js';
import { compileRowWriter } from './write-rows.js';

/** Each holds a connection, and the memory of a chunk. */
const IMPORTS = new WorkLimit(2, 'imports');

/** The feature, as its handler sees it. */
export interface ImportFeature extends Feature {
  /** Null where the application keeps no keys. */
  readonly importKeys: KeySettings | null;
}

interface ModeWork {
  readonly columns: ReturnType<typeof compileColumns>;
  readonly parse: ReturnType<typeof compileRowParser>;
  readonly write: ReturnType<typeof compileRowWriter>;
}

/** Compiles the handler of imports. */
export function importHandler(context: HandlerContext, option: ImportPlan): ActionRunner {
  const { resource, decisions, shaper } = context;
  const { plan, bodyLimit } = resource;
  const sequelize = plan.model.sequelize as Sequelize;
  const parse = compileImportParser(resource, option);
  const features: readonly Partial<ImportFeature>[] = resource.features.all;
  const keys = features.find(({ importKeys }) => importKeys)?.importKeys ?? null;
  const works = new Map<ImportMode, ModeWork>();
  const workOf = (mode: ImportMode): ModeWork =>
    keptIn(works, mode, () => ({
      columns: compileColumns(resource, mode),
      parse: compileRowParser(resource, mode),
      write: compileRowWriter(context, mode),
    }));
  const { transaction } = operationSessions(resource, USUAL.create, decisions.settings);

  /** Runs a part of an import in a transaction of its own; a dry run undoes it. */
  const inTransaction = async <T>(
    { request, response }: Action,
    { isDryRun }: ImportArguments['inputs'],
    work: (unit: RequestUnit) => Promise<T>,
  ): Promise<T> => {
    const sessions = requestSessions(request, response);
    const run = async () => {
      const unit = await sessions.unit(sequelize);
      return isDryRun ? unit.rehearse(() => work(unit)) : work(unit);
    };
    const action = { request, response } as Action;
    try {
      return await commitRequest(sessions.action as ActionMetadata, action, transaction, run);
    } finally {
      sessions.renew();
    }
  };

  const chunksOf = async function* (
    file: FileSource,
    { inputs, access, form }: ImportArguments,
    kept: ResumedImport | null,
  ) {
    const settings = {
      onHeader: (text: string) => kept?.readHeader(text),
      form,
      delimiter: inputs.delimiter,
      maxRow: bodyLimit ?? DEFAULT_LIMIT,
      columns: workOf(inputs.mode).columns(access.form),
    };
    let rows = 0;
    for await (const chunk of readChunks(decodeFile(file, option.maxBytes), settings)) {
      rows += chunk.length;
      if (rows > option.maxRows) throw tooMany(option.maxRows);
      if (inputs.isAtomic && rows > option.atomicRows) throw tooManyAtOnce(option.atomicRows);
      file.hold();
      yield chunk;
      file.renew();
    }
  };

  /** The key of a request; null where it has none, or undoes everything. @throws RefusedRequestError 400 where it needs one */
  const claimKey = async (request: Request, { inputs, access, form }: ImportArguments) => {
    const { isAtomic, isDryRun, idempotencyKey: key } = inputs;
    if (isDryRun || (isAtomic && key === undefined)) return null;
    if (!keys || key === undefined) throw missingKey(keys !== null);
    const principal = await evaluatePrincipal(keys, request);
    return ResumedImport.claim(plan.model, {
      scope: scopeOf(request, `${plan.prefix}/import`, principal),
      key,
      fingerprint: fingerprintOf(request, access, form),
      retention: keys.retention,
    });
  };

  const awakeIn = <T>({ transaction }: RequestUnit, items: AsyncIterable<T>) =>
    keptAwake(items, () => sequelize.query('SELECT 1', { transaction }));

  /** Writes all rows, or none. Where the schema refuses rows, only these are reported: the database has not seen all others then. */
  const importWhole: Importer = async (action, input, chunks, kept, onChunk) => {
    const { write, parse: parseRows } = workOf(input.inputs.mode);
    const wrong = new ImportReport();
    const report = new ImportReport(kept?.before);
    if (kept?.isDone) return skipAll(kept, chunks, report);
    await inTransaction(action, input.inputs, async (unit) => {
      for await (const chunk of awakeIn(unit, chunks)) {
        kept?.hasStored(chunk);
        wrong.rows += chunk.length;
        report.rows += chunk.length;
        const items = await parseRows(action.request, chunk, input, wrong);
        if (wrong.failed === 0) await write(action, unit, items, input.access, report);
        onChunk(wrong.failed > 0 ? wrong : report);
      }
      const told = wrong.failed > 0 ? wrong : report;
      if (told.failed > 0) throw refused(told);
      kept?.checkEnd();
      await kept?.keep(report.summary(), true, await sessionTarget(sequelize, 'post'));
    });
    return report;
  };

  /** Tries each row. Later chunks see the rows of those before, as they do when these are stored. */
  const tryParts: Importer = async (action, input, chunks, _kept, onChunk) => {
    const { write, parse: parseRows } = workOf(input.inputs.mode);
    const report = new ImportReport();
    await inTransaction(action, input.inputs, async (unit) => {
      for await (const chunk of awakeIn(unit, chunks)) {
        report.rows += chunk.length;
        const items = await parseRows(action.request, chunk, input, report);
        await write(action, unit, items, input.access, report);
        onChunk(report);
      }
    });
    return report;
  };

  /** Writes each chunk in a transaction of its own, and again where a deadlock has undone it. */
  const importInParts: Importer = async (action, input, chunks, kept, onChunk) => {
    const { write, parse: parseRows } = workOf(input.inputs.mode);
    let report = new ImportReport(kept?.before);
    if (kept?.isDone) return skipAll(kept, chunks, report);
    // A unit of work of the user's around it is undone as a whole.
    const tried = joinableSession(sequelize, 'write') ? <T>(work: () => Promise<T>) => work() : retried;
    for await (const chunk of chunks) {
      if (kept?.hasStored(chunk)) continue;
      report.rows += chunk.length;
      const items = await parseRows(action.request, chunk, input, report);
      const before = report.summary();
      const writeChunk = async (unit: RequestUnit) => {
        report = new ImportReport(before);
        await write(action, unit, items, input.access, report);
        await kept?.keep(report.summary(), false, await sessionTarget(sequelize, 'post'));
      };
      await tried(() => inTransaction(action, input.inputs, writeChunk));
      onChunk(report);
    }
    kept?.checkEnd();
    // Within the unit of work that a middleware may have begun: another connection would wait for its lock.
    await inTransaction(action, input.inputs, async () => {
      await kept?.keep(report.summary(), true, await sessionTarget(sequelize, 'post'));
    });
    return report;
  };

  const runImport = async (action: Action, input: ImportArguments) => {
    const { request, response } = action;
    noteOperation(request, { operation: 'import' });
    const format = formatFor(response, decisions.answer);
    const progress = wantsProgress(request) ? new ProgressLines(request, response) : null;
    const file = openFile(request, option.maxBytes);
    let kept: ResumedImport | null = null;
    try {
      kept = await claimKey(request, input);
      const chunks = chunksOf(file, input, kept);
      const { isAtomic, isDryRun } = input.inputs;
      const run = isAtomic ? importWhole : isDryRun ? tryParts : importInParts;
      const report = await run(action, input, chunks, kept, (each) => progress?.write(each.summary()));
      const summary = report.summary();
      if (kept?.isDone) {
        // Nothing was kept that would have ended the claim.
        await kept.release();
        response.setHeader(REPLAYED, 'true');
      }
      return progress?.end(summary) ? null : draftOf(summary, format);
    } catch (error) {
      const released = kept?.release();
      // A unit of work of the user's around it may have the lock of the claim, and ends after this request.
      if (!joinableSession(sequelize, 'write')) await released;
      if (progress?.fail(error)) return null;
      throw error;
    } finally {
      setCurrentItem(request, null);
      file.end();
    }
  };

  const story: Story<ImportArguments, never> = {
    parse,
    around: null,
    aloneTarget: compileAloneTarget(sequelize, decisions.settings, false),
    plan: () => 'session',
    runAlone: () => Promise.resolve(null),
    shape: () => {
      throw new TypeError('An import has no result outside of its transactions.');
    },
    sessions: { session: inNone, transaction: inNone },
    runWithin: (action, input) => IMPORTS.run(() => runImport(action, input)),
    isTagged: false,
  };
  return answerWith(story, decisions.answer, shaper);
}

type Importer = (
  action: Action,
  input: ImportArguments,
  chunks: AsyncIterable<readonly FileRow[]>,
  kept: ResumedImport | null,
  onChunk: (report: ImportReport) => void,
) => Promise<ImportReport>;

/** Milliseconds. The server ends a transaction that does nothing for a while. */
const PULSE = 4_000;

/** The same items. Calls `pulse` now and then while an item is awaited. */
async function* keptAwake<T>(items: AsyncIterable<T>, pulse: () => Promise<unknown>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = iterator.next();
      const settled = next.then(
        () => {},
        () => {},
      );
      while (!(await endsInTime(settled, PULSE))) await pulse();
      const { done, value } = await next;
      if (done) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** Compares a file with the one that was imported under its key. */
async function skipAll(
  kept: ResumedImport,
  chunks: AsyncIterable<readonly FileRow[]>,
  report: ImportReport,
): Promise<ImportReport> {
  for await (const chunk of chunks) kept.hasStored(chunk);
  kept.checkEnd();
  return report;
}

/** Parts of an import have sessions of their own. */
const inNone: RunInSession = (_sessions, work) => work();

function draftOf(summary: ImportSummary, format: string): AnswerDraft {
  const status = summary.failed > 0 ? 207 : 200;
  return { status, headers: {}, body: format === 'text' ? JSON.stringify(summary) : summary };
}

/** The error of an import that was undone, because rows of it were refused. */
function refused(report: ImportReport): object {
  const { errors, rows, failed, errors_shown } = report.summary();
  const detail = `${failed} of ${rows} rows are refused, and nothing was stored.`;
  return noteProblem(new Error(detail), {
    status: 422,
    detail,
    errors,
    members: { rows, failed, errors_shown },
  });
}

function missingKey(isKept: boolean): RefusedRequestError {
  const needs =
    'atomic=false stores a file in parts, and needs the header Idempotency-Key, so that it can be sent again';
  return new RefusedRequestError(
    400,
    isKept
      ? `${needs}; send a random UUID for this file, or leave atomic=false out.`
      : `${needs}. This server keeps none: have it set the option idempotency, or leave atomic=false out.`,
  );
}

function tooMany(maxRows: number): BodyError {
  return new BodyError(413, 'tooMany', `The body has more than ${maxRows} rows; split the file.`);
}

function tooManyAtOnce(atomicRows: number): BodyError {
  const detail = `The body has more than ${atomicRows} rows, and nothing was stored; send it with atomic=false and an Idempotency-Key, or split the file.`;
  return new BodyError(400, 'atomicRows', detail);
}
