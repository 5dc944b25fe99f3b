/** A request to import a file -> its parameters, its access and the form of the file; and each row -> the arguments of its write. */
import type { Request } from 'express';
import { type ExportFormat, MEDIA_TYPES } from '../../declare/export-options.js';
import type { ImportMode } from '../../declare/import-options.js';
import type { AttributeInfo, RowKey } from '../../describe/model-info.js';
import { keyNames } from '../../describe/row-key.js';
import { type Access, type AccessForm, closedAttributes, perForm } from '../../operation/access.js';
import { compileHeaderReader, compileQueryReader } from '../../operation/compile-features.js';
import { compileValuesParser, type ParserSettings } from '../../request/parse-request.js';
import { checkMediaType } from '../../request/read-body.js';
import { itemIssues } from '../../respond/item-problem.js';
import { toProblem } from '../../respond/problem.js';
import { bodyJsonSchema, columnSchema } from '../../schema/body-json-schema.js';
import { bodySchema } from '../../schema/body-schema.js';
import type { JsonSchema } from '../../schema/json-schema.js';
import { MemberBudget } from '../../schema/json-value.js';
import { isPromise } from '../../util/promises.js';
import { refuseCondition } from '../bulk/parse-bulk.js';
import { compileItemParser, repeatedKey } from '../bulk/parse-item.js';
import { hidesState } from '../entity-tag.js';
import { compileRecordParser, compileTellsGone, compileUpsertItems } from '../upsert/parse-upsert.js';
import { type ColumnNames, typesOf } from './csv-columns.js';
import { type ImportInputs, type ImportPlan, importInputs } from './import-options.js';
import type { ImportReport } from './import-report.js';
import type { FileRow } from './read-rows.js';
import type { ImportItem } from './write-rows.js';

/** Arguments of an import. */
export interface ImportArguments {
  readonly inputs: ImportInputs;
  readonly access: Access;
  readonly form: ExportFormat;
}

/** Compiles the parser of the head of a request. The rules come first, as for all requests. */
export function compileImportParser(
  { plan, access: evaluateAccess, features }: ParserSettings,
  option: ImportPlan,
): (request: Request) => Promise<ImportArguments> {
  const readQuery = compileQueryReader(plan, importInputs(plan, option));
  const readHeaders = compileHeaderReader(features.create.inputs.filter(({ isForMany }) => isForMany));
  return async (request) => {
    const asked = await evaluateAccess(request, 'import');
    const inputs = readQuery(request.url, asked) as ImportInputs;
    const access = await evaluateAccess(request, inputs.mode);
    refuseCondition(
      request,
      `names states of one ${plan.name}, and nothing was done; give each row its version, or leave it out.`,
    );
    const whole = readHeaders(request, inputs, access) as ImportInputs;
    checkMediaType(request, { mediaTypes: Object.values(MEDIA_TYPES) });
    const form = /^\s*text\/csv/i.test(String(request.headers['content-type'])) ? 'csv' : 'ndjson';
    return { inputs: whole, access, form };
  };
}

/** Compiles the names of the columns of a mode, by the access of a request. */
export function compileColumns(
  { plan }: Pick<ParserSettings, 'plan'>,
  mode: ImportMode,
): (form: AccessForm) => ColumnNames {
  const { attributes, address } = plan.info;
  const kind = mode === 'update' ? 'update' : 'create';
  const { properties: shown = {}, required = [] } = bodyJsonSchema(plan, kind);
  // A change names its record as paths do, whatever type the column has.
  const ids = new Map<string, JsonSchema>(
    plan.idParts.map(({ attribute: { name }, kind: id }) => [
      name,
      { type: id === 'integer' ? 'integer' : 'string' },
    ]),
  );
  const schemaOf = (name: string): JsonSchema => {
    const attribute = attributes.get(name);
    const id = mode === 'update' ? ids.get(name) : undefined;
    const schema = id ?? shown[name] ?? (attribute ? columnSchema(attribute.type) : {});
    if (!attribute || !isTextOfType(attribute) || typesOf(schema).size > 0) return schema;
    return { type: schema.not?.type === 'null' ? 'string' : ['string', 'null'] };
  };
  const version = plan.entityTag?.kind === 'version' ? plan.entityTag : null;
  return perForm((form) => {
    const body = bodySchema(plan, kind, closedAttributes(form, kind));
    const state = version && !hidesState(version, form) ? [version.attribute] : [];
    const heads = mode === 'update' ? [...keyNames(address), ...state] : [];
    const names = [...new Set([...heads, ...body.properties])];
    return Object.freeze({
      properties: new Map(names.map((name) => [name, schemaOf(name)])),
      readOnly: body.readOnly,
      required: mode === 'update' ? keyNames(address) : required.filter((name) => body.properties.has(name)),
      hasDefaults: kind === 'create',
    });
  });
}

/** Types whose values are objects, as Sequelize writes them. */
const OBJECTS: readonly string[] = ['HSTORE', 'GEOMETRY', 'GEOGRAPHY'];

/** True for a type that only the database understands, and reads from a text: a cell has that text, and is no JSON. */
function isTextOfType({ type, found }: AttributeInfo): boolean {
  return type.kind === 'other' && !OBJECTS.includes(type.sqlType) && found?.baseType.endsWith('[]') === false;
}

/** Reads the rows of a chunk, and reports those that the schema refuses. */
export type RowParser = (
  request: Request,
  rows: readonly FileRow[],
  input: Pick<ImportArguments, 'access' | 'inputs'>,
  report: ImportReport,
) => Promise<readonly ImportItem[]>;

/** Compiles the parser of a mode. */
export function compileRowParser(
  { plan, features, access: evaluateAccess }: ParserSettings,
  mode: ImportMode,
): RowParser {
  const parseItem =
    mode === 'upsert'
      ? compileUpsertItems(compileRecordParser(plan))
      : compileItemParser(plan, mode, compileValuesParser(plan, mode));
  const { absentFor } = features[mode];
  const tellsGone = compileTellsGone({ plan, access: evaluateAccess });
  return async (request, rows, { access, inputs: { onConflict } }, report) => {
    const characters = rows.reduce((sum, { text }) => sum + text.length, 0);
    const usual = absentFor(access.form);
    const named = mode === 'upsert' && { onConflict, isKept: false, tellsGone: await tellsGone(request) };
    const context = {
      access,
      absent: named ? Object.freeze({ ...usual, ...named }) : usual,
      keys: new Map<string, number>(),
      isLeftOut: true,
      budget: new MemberBudget(characters),
      repeated: (key: RowKey, line: number) => repeatedKey(key, line, 'line'),
    };
    const items: ImportItem[] = [];
    for (const { row, line, body, issues } of rows) {
      if (issues.length > 0) {
        report.refuse({ row, line }, issues);
        continue;
      }
      const parsed = parseItem(request, { ...context, index: line }, body);
      const item = isPromise(parsed) ? await parsed : parsed;
      if (item.problem) report.refuse({ row, line }, itemIssues(toProblem(item.problem, { plan })));
      else items.push({ row, line, item });
    }
    return items;
  };
}
