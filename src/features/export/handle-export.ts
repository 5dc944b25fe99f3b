/** The story of an export: parse, count, read a chunk, write it as the client takes it, and so on. It is whole, or visibly cut. */

import type { Request, Response } from 'express';
import type { Action } from 'routing-controllers';
import { type ExportFormat, MEDIA_TYPES } from '../../declare/export-options.js';
import { noteOperation } from '../../diagnostics/channels.js';
import { answering } from '../../express/resources/application-access.js';
import type { ActionRunner } from '../../express/resources/controller-metadata.js';
import type { Resource } from '../../express/resources/resource.js';
import type { HandlerContext } from '../../handle/handled-route.js';
import { WorkLimit } from '../../operation/work-limit.js';
import { compileWorkParser, type RequestArguments } from '../../request/parse-request.js';
import type { Keyset } from '../../request/query/cursor-codec.js';
import type { Inclusion, ListQuery } from '../../request/query/list-query.js';
import { parseQueryString } from '../../request/query/query-string.js';
import { requestSessions } from '../../request/request-sessions.js';
import { cutConnection } from '../../respond/cut-connection.js';
import { hasOwnJson, jsonReplacer } from '../../respond/json-answer.js';
import { logFailure } from '../../respond/send-problem.js';
import { InvalidQueryError, type RequestIssue } from '../../schema/request-issue.js';
import {
  type ExportInputs,
  type ExportPlan,
  exportInputs,
  exportOf,
  listInputNames,
} from './export-options.js';
import { compileReader, type ExportChunk, type ExportReader } from './read-chunks.js';
import { CutAnswer, StreamedAnswer } from './streamed-answer.js';
import { csvHead, csvLines, type WriteLine } from './write-csv.js';

/** Characters of a piece that is written at once. */
const PIECE = 64 * 1024;

const EXPORTS = new WorkLimit(4, 'exports');
/** A snapshot holds back the vacuum of all tables. */
const SNAPSHOTS = new WorkLimit(1, 'consistent exports');

interface ExportArguments extends RequestArguments {
  readonly query: ExportInputs;
}

/** Compiles the handler of the list of a resource that has exports. */
export function exportHandler(context: HandlerContext): ActionRunner {
  const { resource, compileJoined } = context;
  if (!compileJoined) throw new TypeError('An export has no list.');
  const list = compileJoined(resource.parsers.list);
  const plan = exportOf(resource.plan) as ExportPlan;
  const chooseFormat = compileChoice(plan);
  const readers = resource.features.listInputs(
    listInputNames(resource.plan),
    exportInputs(resource.plan, resource.cursors),
  );
  const parse = compileWorkParser(resource, 'export', readers);
  const withReader = compileReader(context);
  return async (metadata, action, params) => {
    const { request, response } = action;
    response.vary('Accept');
    const format = chooseFormat(request);
    if (format === null) return list(metadata, action, params);
    noteOperation(request, { operation: 'export' });
    const input = (await parse(request)) as ExportArguments;
    const { query } = input;
    checkTogether(format, query);
    if (!hasOwnJson(response))
      throw new TypeError(
        'A middleware has replaced response.json or response.send, which no export goes through.',
      );
    const isConsistent = query.isConsistent === true;
    const seconds = isConsistent ? plan.snapshot : null;
    const run = () =>
      withReader(action, input, isConsistent, (reader) =>
        answer(resource, plan, { action, input, format, reader, seconds }),
      );
    try {
      await EXPORTS.run(() => (isConsistent ? SNAPSHOTS.run(run) : run()));
    } catch (error) {
      if (!response.headersSent && !(error instanceof CutAnswer))
        throw error instanceof Error ? requestSessions(request, response).explain(error) : error;
      cutConnection(response);
      if (!(error instanceof CutAnswer && error.isByClient)) logFailure(request, 500, error);
    }
    return response;
  };
}

/** Finds the format of a request; null for a list. */
function compileChoice({ formats }: ExportPlan): (request: Request) => ExportFormat | null {
  const types = formats.map((each) => MEDIA_TYPES[each]);
  const all = ['application/json', ...types];
  return (request) => {
    const { url, headers } = request;
    if (url.includes('?') && (url.includes('format') || url.includes('%'))) {
      const { parameters, issues } = parseQueryString(url);
      const text = parameters.get('format');
      // Any other one is refused by the parser of exports.
      if (text !== undefined || issues.some((each) => 'parameter' in each && each.parameter === 'format'))
        return formats.find((each) => each === text) ?? (formats[0] as ExportFormat);
    }
    const { accept } = headers;
    if (accept === undefined || accept === '*/*' || accept === 'application/json') return null;
    const chosen = request.accepts(all);
    return formats.find((each) => MEDIA_TYPES[each] === chosen) ?? null;
  };
}

/** @throws InvalidQueryError for parameters that do not go with the format */
function checkTogether(
  format: ExportFormat,
  { hasCheckpoints, isForSpreadsheet, include = [] }: ExportInputs,
): void {
  const issues: RequestIssue[] = [];
  const refuse = (parameter: string, detail: string) =>
    issues.push({ parameter, code: 'export.not-allowed', detail });
  if (hasCheckpoints && format === 'csv')
    refuse('checkpoints', 'A CSV has no checkpoints; use format=ndjson.');
  if (isForSpreadsheet && format === 'ndjson') refuse('spreadsheet', 'Spreadsheets read format=csv.');
  if (include.length > 0 && format === 'csv')
    refuse('include', 'A CSV has the attributes of the records alone; use format=ndjson to include others.');
  for (const path of toMany(include))
    refuse(
      'include',
      `An export includes one record of each relation, and '${path}' may have many; export those by themselves.`,
    );
  if (issues.length > 0) throw new InvalidQueryError(issues);
}

function toMany(included: readonly Inclusion[]): readonly string[] {
  return included.flatMap(({ plan, include }) => [
    ...(plan.size === null ? [] : [plan.path]),
    ...toMany(include),
  ]);
}

interface UnderWay {
  readonly action: Action;
  readonly input: ExportArguments;
  readonly format: ExportFormat;
  readonly reader: ExportReader;
  /** After which it is cut; null is never. */
  readonly seconds: number | null;
}

async function answer(resource: Resource, plan: ExportPlan, underWay: UnderWay): Promise<void> {
  const { action, input, format, reader, seconds } = underWay;
  const { request, response } = action;
  const total = await countBefore(plan, input.query, reader);
  const headers = headersOf(resource, format, total);
  if (request.method === 'HEAD') {
    setHead(response, headers);
    response.end();
    return;
  }
  const stream = new StreamedAnswer(response, seconds);
  const makePieces = compilePieces(resource, underWay);
  let written = 0;
  try {
    for await (const chunk of reader.chunks()) {
      stream.check();
      const pieces = makePieces(chunk, written === 0 && !response.headersSent);
      for (const piece of pieces) {
        // Whatever fails before has a problem for an answer.
        if (!response.headersSent) begin(response, headers);
        await stream.write(piece);
      }
      written += chunk.outcome.size;
      stream.flush();
      if (chunk.next) stream.goOn();
    }
  } catch (error) {
    // A failure behind the end of an answer is no error of its own.
    stream.check();
    throw error;
  }
  if (response.hasHeader('Trailer')) response.addTrailers({ 'Crud-Rows': String(written) });
  stream.end();
}

/** @returns the number of rows where the request counts them, else null @throws InvalidQueryError where there are too many */
async function countBefore(
  { maxRows }: ExportPlan,
  { isCounted }: ExportInputs,
  reader: ExportReader,
): Promise<number | null> {
  if (maxRows === null && !isCounted) return null;
  const rows = await reader.count(isCounted ? Number.POSITIVE_INFINITY : (maxRows as number));
  if (maxRows !== null && rows > maxRows) {
    const detail = `An export has ${maxRows} records at most, and these are more; ask for fewer with q.`;
    throw new InvalidQueryError([{ parameter: 'format', code: 'export.too-large', detail }]);
  }
  return isCounted ? rows : null;
}

function headersOf({ plan }: Resource, format: ExportFormat, total: number | null): Record<string, string> {
  // A header has ASCII alone, and a name of a model may have other letters.
  const name = (plan.prefix.split('/').at(-1) || plan.name).replace(/[^\w.~-]+/g, '-');
  const day = new Date().toISOString().slice(0, 10);
  return {
    'Content-Type': format === 'csv' ? 'text/csv; charset=utf-8' : MEDIA_TYPES.ndjson,
    'Content-Disposition': `attachment; filename="${name}-${day}.${format}"`,
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
    ...(total === null ? {} : { 'Crud-Total': String(total) }),
  };
}

function setHead(response: Response, headers: Record<string, string>): void {
  response.statusCode = 200;
  for (const name in headers) response.setHeader(name, headers[name] as string);
}

function begin(response: Response, headers: Record<string, string>): void {
  setHead(response, headers);
  // Only chunks have one: neither HTTP/1.0 nor an adapter without a socket sends any.
  if (response.useChunkedEncodingByDefault) response.setHeader('Trailer', 'Crud-Rows');
}

/** The texts of a chunk, in pieces; made as they are written. @param isFirst true where nothing comes before */
type MakePieces = (chunk: ExportChunk, isFirst: boolean) => Iterable<string>;

function compilePieces(resource: Resource, { action, input, format }: UnderWay): MakePieces {
  const { request, response } = action;
  const { query } = input;
  const fields = query.fields ?? null;
  const options = {
    names: columnsOf(resource, request, fields),
    fields,
    isJson: (name: string) => resource.plan.info.attributes.get(name)?.type.kind === 'json',
    isForSpreadsheet: query.isForSpreadsheet === true,
    replacer: jsonReplacer(response),
  };
  const linesOf = (outcome: ExportChunk['outcome']): WriteLine => {
    if (format === 'csv') return csvLines(outcome, options);
    const { replacer } = options;
    if (replacer) {
      const values = outcome.values(fields);
      return (index) => `${JSON.stringify(values[index], replacer)}\n`;
    }
    const write = outcome.writer(fields);
    return (index) => `${write(index)}\n`;
  };
  const checkpoint = ({ next }: ExportChunk) =>
    query.hasCheckpoints ? `${JSON.stringify({ next_cursor: next && encode(next) })}\n` : '';
  const encode = (place: Keyset) => {
    const { sort } = query as unknown as ListQuery;
    const digest = resource.features.list.digest(query, input.access);
    return resource.cursors.encode(place, { plan: resource.plan, sort, digest });
  };
  return function* makePieces(chunk, isFirst) {
    const { size } = chunk.outcome;
    const write = answering(request, () => linesOf(chunk.outcome));
    let index = 0;
    let head = isFirst && format === 'csv' ? csvHead(options) : '';
    do {
      yield answering(request, () => {
        let text = head;
        while (index < size && text.length < PIECE) {
          text += write(index);
          index += 1;
        }
        return index < size ? text : text + checkpoint(chunk);
      });
      head = '';
    } while (index < size);
  };
}

/** The properties of the records, in the order that the request names them. */
function columnsOf(
  { readable }: Resource,
  { url }: Request,
  fields: readonly string[] | null,
): readonly string[] {
  const asked = parseQueryString(url).parameters.get('fields')?.split(',');
  const known = fields ?? readable;
  return asked && asked.length === known.length && asked.every((name) => known.includes(name))
    ? asked
    : known;
}
