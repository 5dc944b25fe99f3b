/** `POST /cities/{id}/revert`: an update to the state that a record had after one of its changes. */
import { isDeepStrictEqual } from 'node:util';
import type { Request } from 'express';
import type { Sequelize } from 'sequelize';
import { accessRules, type RuledKey } from '../../access/reference-access.js';
import { isPlain } from '../../compile/compile-options.js';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { ColumnType } from '../../describe/column-type.js';
import { customAttributes, isGenerated } from '../../describe/model-info.js';
import { keyText } from '../../describe/row-key.js';
import { ofTables } from '../../describe/table-facts.js';
import { noSuchRecord } from '../../errors/errors.js';
import { storedAttributes } from '../../execute/customization/hydrate-record.js';
import { selectValues } from '../../execute/session/select-values.js';
import { encodeParameter, keySlots } from '../../execute/sql/encode-parameter.js';
import { joinSlots, NO_SLOTS } from '../../execute/sql/statement.js';
import type { ActionRunner } from '../../express/resources/controller-metadata.js';
import type { Resource } from '../../express/resources/resource.js';
import { compileAround, compileCompletions } from '../../handle/around.js';
import { compileGuardedMethod } from '../../handle/around-method.js';
import { operationSessions } from '../../handle/commit-request.js';
import { compileOperationHandler } from '../../handle/handle.js';
import type { HandlerContext } from '../../handle/handled-route.js';
import type { Outcome } from '../../handle/outcome.js';
import type { RowRunner } from '../../handle/run-rows.js';
import { compileShape, type Shape } from '../../handle/shape-answer.js';
import { type AccessForm, closedAttributes, perForm } from '../../operation/access.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { type RouteSpec, USUAL } from '../../operation/route-spec.js';
import { currentTarget, onPrimary, type StatementTarget } from '../../postgres/index.js';
import {
  compileValuesParser,
  type ParsedValues,
  type RequestArguments,
} from '../../request/parse-request.js';
import { readBody } from '../../request/read-body.js';
import { parsePathId } from '../../request/read-id.js';
import { withMembers } from '../../respond/row-view.js';
import { wireFormat } from '../../respond/wire-format.js';
import { bodySchema, unknownProperty } from '../../schema/body-schema.js';
import { losesDigits } from '../../schema/json-value.js';
import { hasType, isTransformed } from '../../schema/model-decorators.js';
import { bodyPointer, InvalidBodyError, notAnObject } from '../../schema/request-issue.js';
import { historyOf } from '../capture/capture-options.js';
import { addToContext } from '../capture/context.js';
import { stateSql } from './history-sql.js';
import { findPast } from './past-record.js';

/** Parsed arguments of a request. Its values are read where the record is written. */
interface RevertArguments extends RequestArguments {
  readonly request: Request;
  /** The change whose state the record gets. */
  readonly to: string;
}

interface Reverted extends Outcome {
  /** Names of values of the state that the record cannot have again. */
  readonly skipped: readonly string[];
}

const LARGEST = 2n ** 63n - 1n;

/** Compiles the handler. The update is that of a PATCH with the values of the state. */
export function compileRevertHandler(route: RouteSpec, context: HandlerContext): ActionRunner {
  const { resource, decisions, rows, shaper, settings } = context;
  const { shapedBy } = decisions;
  const parse = compileParser(resource);
  const toValues = compileValues(resource);
  const update = compileGuardedMethod(resource, USUAL.update, { isDecorated: false }, shaper);
  const shape = withSkipped(compileShape(resource, route, shapedBy));
  const { sequelize } = resource.plan.model;
  const reverted = async (
    input: RevertArguments,
    on: StatementTarget | null,
    run: (written: RequestArguments) => Promise<Outcome | null>,
  ): Promise<Reverted | null> => {
    const { values, access, skipped } = await toValues(input, on);
    const found = await run({ id: input.id, query: input.query, access, values });
    return found && { ...found, skipped };
  };
  return compileOperationHandler<RevertArguments>(
    {
      resource,
      verb: route.verb,
      parse,
      parseOnce: parse,
      // The state is read where the write is, so that it is not older.
      rows:
        rows &&
        withRun(rows, (input, on) =>
          reverted(input, onPrimary(on ?? currentTarget(sequelize as Sequelize)), (written) =>
            rows.run(written, on),
          ),
        ),
      runMethod: (action, input) =>
        reverted(input as RevertArguments, null, (written) => update(action, written)),
      completions: compileCompletions(resource, 'update'),
      shape: shape as Shape,
      around: compileAround(resource, route, { shape, shapedBy, shaper }),
      sessions: operationSessions(resource, route, settings),
      // Without its lock, two requests would write the values that differ from one state, and leave a mixture of two.
      isLocking: true,
    },
    decisions,
    shaper,
  );
}

/** Without the part of a feature, whose statement would be that of an update. */
function withRun(
  { isOpen, mayDrop, isFollowed = false }: RowRunner,
  run: RowRunner<RevertArguments>['run'],
): RowRunner<RevertArguments> {
  return { isOpen, isFollowed, ...(mayDrop ? { mayDrop } : {}), run };
}

function withSkipped(shape: Shape): Shape {
  return (outcome, input, format, action) => {
    const draft = shape(outcome, input, format, action);
    const { skipped } = outcome as Reverted;
    const { body } = draft;
    if (typeof body === 'string')
      return { ...draft, body: body && withMembers(body, `"skipped":${JSON.stringify(skipped)}`) };
    return typeof body === 'object' ? { ...draft, body: { ...body, skipped } } : draft;
  };
}

function compileParser({ plan, access: evaluate, features, bodyLimit }: Resource) {
  const { readQuery, readHeaders } = features.update;
  return async (request: Request): Promise<RevertArguments> => {
    const access = await evaluate(request, 'revert');
    const query = readQuery(request.url, access);
    const id = parsePathId(plan, request);
    const head = { query: readHeaders(request, query, access, id), access, id, request };
    const body = await readBody(request, { limit: bodyLimit, mediaTypes: ['application/json'] });
    const to = changeOf(body);
    addToContext(request, { of: to });
    return { ...head, to };
  };
}

/** @throws InvalidBodyError */
function changeOf(body: unknown): string {
  if (!isPlain(body)) throw notAnObject();
  const { to, ...others } = body as Readonly<Record<string, unknown>>;
  const [other] = Object.keys(others);
  if (other !== undefined) throw new InvalidBodyError([unknownProperty(bodyPointer(other), other, ['to'])]);
  if (typeof to === 'string' && /^[1-9]\d{0,18}$/.test(to)) return to;
  const detail = 'to must be the id of a change, as the history has it.';
  throw new InvalidBodyError([{ pointer: '/to', code: 'isString', detail }]);
}

function unknownChange({ name }: Pick<ResourcePlan, 'name'>): InvalidBodyError {
  const detail = `to names no change of this ${name} that a revert can go back to; take the id of one in its history that is no delete.`;
  return new InvalidBodyError([{ pointer: '/to', code: 'revert.unknown', detail }]);
}

/** @throws NotFoundError where the request does not see the record @throws RefusedRequestError 409 where it is deleted */
async function findAlive(...found: Parameters<typeof findPast>): Promise<string> {
  const [{ plan }] = found;
  const { rowId, isAlive, isSeen } = await findPast(...found);
  if (!isAlive)
    throw new RefusedRequestError(
      409,
      `This ${plan.name} is deleted, and was not changed; restore it before.`,
    );
  if (!isSeen) throw noSuchRecord({ name: plan.info.name, key: keyText(plan.info.address) });
  return rowId;
}

/** Stored values by column, columns that are gone, those that have other values now, and the values of the state. */
type StateRow = readonly [
  texts: Readonly<Record<string, string>>,
  gone: readonly string[],
  differing: readonly string[],
  ...values: unknown[],
];

function compileValues(resource: Resource) {
  const { plan } = resource;
  const { info, hidden, explicitSchemas } = plan;
  const { model } = info;
  const parseValues = compileValuesParser(plan, 'update');
  const setters = customAttributes(model, 'set');
  const renamed = historyOf(plan)?.renamed ?? {};
  const shownNow = ofTables(() => {
    const { properties } = bodySchema(plan, 'update');
    return storedAttributes(info)
      .map((attribute, index) => ({
        ...attribute,
        index,
        format: wireFormat(attribute.type),
        hasSetter: setters.has(attribute.name),
        isUpdated: properties.has(attribute.name),
        isParsedByCode:
          explicitSchemas.update !== undefined ||
          hasType(model, attribute.name) ||
          isTransformed(model, attribute.name, 'write'),
      }))
      .filter(
        (each) => !hidden.has(each.name) && (each.isUpdated || (each.role === 'data' && !isGenerated(each))),
      );
  });
  const closedFor = perForm((form: AccessForm) => closedAttributes(form, 'update'));
  return async (
    { request, id, access, to }: RevertArguments,
    on: StatementTarget | null,
  ): Promise<ParsedValues & Pick<Reverted, 'skipped'>> => {
    const rowId = await findAlive(resource, request, { id, access }, on);
    if (BigInt(to) > LARGEST) throw unknownChange(plan);
    const slots = joinSlots(keySlots(info.address, id) ?? NO_SLOTS, access.slots);
    const [row] = await selectValues(info, stateSql(plan, access, rowId, to), slots, on);
    // The lock may have waited for another request, which has moved the record out of sight or has deleted it.
    await findAlive(resource, request, { id, access }, on);
    if (!row) throw unknownChange(plan);
    const [texts, gone, differing, ...stored] = row as unknown as StateRow;
    const { given, unreadable } = access.form;
    const closed = closedFor(access.form);
    const body: Record<string, unknown> = {};
    const shown = shownNow();
    const skipped = gone.filter((column) => !Object.hasOwn(renamed, column));
    for (const { name, column, index, type, format, hasSetter, isUpdated } of shown) {
      // The server writes the one, and the other one is not there for the request.
      if (given.has(name) || unreadable.has(name)) continue;
      const text = texts[column];
      const value = stored[index] ?? null;
      const differs = differing.includes(column);
      if (isUpdated && closed.has(name)) {
        if (differs) body[name] = null;
      } else if (isUpdated && (text === undefined || (text !== 'null' && value === null))) skipped.push(name);
      else if (!differs) continue;
      // No body has such a value, or code of the model makes another one of it.
      else if (!isUpdated || hasSetter || isInexact(type, text ?? '')) skipped.push(name);
      else body[name] = value === null ? null : format(value);
    }
    const parts = otherParts(accessRules(request)?.keysOf(model) ?? [], body);
    for (const { name, index, format, isUpdated } of shown) {
      if (!parts.has(name) || !isUpdated || closed.has(name) || given.has(name)) continue;
      const value = stored[index] ?? null;
      body[name] = value === null ? null : format(value);
    }
    const { values, ...parsed } = await parseValues(request, access, body);
    const same = Object.entries(values).filter(([name, value]) => {
      const attribute = shown.find((each) => each.name === name && each.isParsedByCode);
      return !attribute || isSameValue(attribute.type, value, stored[attribute.index] ?? null);
    });
    const kept = Object.fromEntries(same);
    return {
      ...parsed,
      values: kept,
      skipped: [...skipped, ...Object.keys(values).filter((name) => !Object.hasOwn(kept, name))],
    };
  };
}

/** The attributes that a body lacks, of foreign keys of which it has a part: a body names all parts. */
function otherParts(keys: readonly RuledKey[], body: object): ReadonlySet<string> {
  const names = keys.map(({ attribute, more = [] }) => [attribute, ...more.map((each) => each.attribute)]);
  const isIn = (name: string) => Object.hasOwn(body, name);
  return new Set(names.flatMap((parts) => (parts.some(isIn) ? parts.filter((name) => !isIn(name)) : [])));
}

/** Digits of a moment that its text in a body does not have. */
const MICROSECONDS = /\.\d{3}\d*[1-9]/;

/** True for a stored value that no body has with all its digits. */
function isInexact(type: ColumnType, text: string): boolean {
  if (type.kind === 'date') return MICROSECONDS.test(text);
  return elementOf(type).kind === 'json' && losesDigits(text);
}

function elementOf(type: ColumnType): ColumnType {
  return type.kind === 'array' ? elementOf(type.element) : type;
}

function isSameValue(type: ColumnType, one: unknown, other: unknown): boolean {
  const [text, otherText] = [one, other].map((value) => encodeParameter(type, value));
  return text === undefined ? isDeepStrictEqual(one, other) : text === otherText;
}
