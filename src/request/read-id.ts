/** An id of a path -> the value of the attribute that addresses a record, or the answer to a text that is none. */

import type { Request } from 'express';
import { HttpError } from 'routing-controllers';
import { compileId, type ParsedId, REFUSED } from '../compile/compile-id.js';
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { ModelClass } from '../declare/crud-options.js';
import { describeModel } from '../describe/describe-model.js';
import { idText } from '../describe/id-text.js';
import type { AttributeInfo } from '../describe/model-info.js';
import { declaredOptions } from '../describe/record.js';
import { idOf, keyNames, keyText } from '../describe/row-key.js';
import { noSuchRecord } from '../errors/errors.js';
import { storedText } from '../execute/customization/hydrate-record.js';
import type { Id } from '../execute/records/repository-operations.js';
import { attributeRules } from '../schema/column-rules.js';
import { InvalidQueryError, invalidAttribute } from '../schema/request-issue.js';
import { parseIdText } from '../schema/wire-value.js';
import { ConfigError } from '../util/config-error.js';
import { quote } from './query/query-string.js';

/** Part of a plan that decides the parser of ids. */
type IdPlan = Pick<ResourcePlan, 'name' | 'parseId'> & {
  readonly info: Pick<ResourcePlan['info'], 'address'>;
};

/**
 * Reads the id of a record from a text, as the generated routes do by the `idType` of the model's `@Crud`. For routes that
 * do not extend a generated controller; `@InjectId()` does it for those that do.
 *
 * @param raw the text, percent-decoded, as Express and routing-controllers pass a parameter of the path
 * @example
 * ```ts
 * app.get('/cities/:id/map', async (request, response) => {
 *   const city = await new Repository(City).get(readId(City, request.params.id));
 *   response.type('svg').send(draw(city));
 * });
 * ```
 * @throws InvalidQueryError where the text is no id: 400
 * @throws NotFoundError where no row can have it, such as a number beyond the range of the column: 404
 * @throws ConfigError when the model is not attached to a Sequelize instance, or its key needs an `idType`
 */
export function readId(model: ModelClass, raw: string): Id {
  const info = describeModel(model);
  const { name } = info;
  const { parser, problems } = compileId(info, declaredOptions(model)?.idType, parseIdText);
  if (problems.length > 0) throw new ConfigError(problems);
  return parseId({ name, info, parseId: parser }, raw) as Id;
}

/**
 * The text of the id of a record, as paths have it: the inverse of `readId`. For links, and for texts about a record that are kept elsewhere. It is not
 * percent-encoded.
 *
 * @param values a record, or any object with the attributes that address it
 * @example
 * ```ts
 * formatId(OrderLine, { orderId: 10248, lineNo: 11 }); // '10248,11'
 * ```
 * @throws TypeError where an attribute is missing or null
 * @throws ConfigError when the model is not attached to a Sequelize instance
 */
export function formatId(model: ModelClass, values: object): string {
  const info = describeModel(model);
  const { address } = info;
  const id = idOf(address, (name) => storedText(info, values, name));
  const text = idText(address, id);
  if (text !== null) return text;
  throw new TypeError(
    `An id of ${info.name} needs ${keyNames(address).join(' and ')}; one of them is missing or null.`,
  );
}

/** The id in the path of a request. @param parameter that of the path @throws NotFoundError @throws InvalidQueryError */
export function parsePathId(plan: IdPlan, request: Request, parameter = 'id'): unknown {
  return parseId(plan, String(request.params[parameter]), parameter);
}

/**
 * The id of a record that a request may make. There is nothing to find for one that no row can have, and nothing to make.
 *
 * @throws InvalidQueryError @throws InvalidBodyError
 */
export function parseNewId(plan: IdPlan, request: Request): unknown {
  const raw = String(request.params['id']);
  if (tryParseId(plan, raw).kind !== 'impossible') return parseId(plan, raw);
  const [address, ...others] = plan.info.address as readonly [AttributeInfo, ...AttributeInfo[]];
  const { name, type } = address;
  const beyond = `${keyText(plan.info.address)} is beyond the range of ids.`;
  if (others.length > 0) throw invalidAttribute(name, 'id', beyond);
  // As a body has it, so that the checks of a new record's key run on it.
  const value = type.kind === 'integer' || type.kind === 'float' ? Number(raw) : raw;
  const broken = attributeRules(address).find(({ check }) => !check(value));
  throw broken
    ? invalidAttribute(name, broken.name, `${name} ${broken.text}.`)
    : invalidAttribute(name, 'id', beyond);
}

function parseId(plan: IdPlan, raw: string, place = 'id'): unknown {
  const parsed = tryParseId(plan, raw);
  switch (parsed.kind) {
    case 'id':
      return parsed.value;
    case 'impossible':
      throw noSuchRecord({ name: plan.name, key: keyText(plan.info.address) });
    case 'malformed': {
      const [first, ...others] = plan.info.address;
      const parameter = place === 'id' && first?.isAddress && others.length === 0 ? first.name : place;
      const detail = `${quote(raw)} is not a valid id; it must be ${parsed.expected}.`;
      throw new InvalidQueryError([{ parameter, code: 'id', detail }]);
    }
  }
}

/** A user's `idType` function refuses an id by throwing; an HTTP error of his choice stays his. */
export function tryParseId(plan: Pick<IdPlan, 'parseId'>, raw: string): ParsedId {
  try {
    return plan.parseId(raw);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    return REFUSED;
  }
}
