/** The values that rules of `set` return for a request: checked as those of a body are, once for each request. */
import { NO_SCHEMAS, type ResourcePlan } from '../compile/resource-plan.js';
import { writesOf } from '../declare/endpoint.js';
import type { AttributeInfo } from '../describe/model-info.js';
import { NONE_GIVEN } from '../operation/access.js';
import { RefusedRequestError } from '../operation/refused-request-error.js';
import { exactText } from '../request/query/rule-filters.js';
import { type BodySchema, bodySchema, parseBody } from '../schema/body-schema.js';
import type { BodyValues } from '../schema/body-values.js';
import { InvalidBodyError } from '../schema/request-issue.js';
import { lazy } from '../util/memo.js';
import { all, type Maybe, then } from '../util/promises.js';
import { type EvaluateGiven, guarded } from './evaluate-rules.js';

/** Compiles the rules; null where there are none. */
export function compileGivenValues(plan: ResourcePlan): EvaluateGiven | null {
  const rules = [...(plan.access?.set ?? [])];
  if (rules.length === 0) return null;
  const { info } = plan;
  // The catalogue of the database completes the plan after the start.
  const schema = lazy(() => schemaOf(plan, new Set(rules.map(([name]) => name))));
  return (request, endpoint) => {
    const kinds = writesOf(endpoint);
    const asked = rules.filter(([, { on }]) => kinds.some((kind) => on === kind || on === 'both'));
    if (asked.length === 0) return NONE_GIVEN;
    return then(all(asked.map(([, { value }]) => guarded(value, request))), (answers) => {
      const sent: BodyValues = {};
      for (const [index, [name]] of asked.entries()) {
        const attribute = info.attributes.get(name) as AttributeInfo;
        const answer = answers[index];
        if (answer === undefined || (answer === null && !attribute.nullable))
          throw new RefusedRequestError(403, `This request has no access to ${info.name}.`);
        sent[name] = wireValue(attribute, answer);
      }
      return then(check(info.name, schema(), sent), (values) => {
        const of = (kind: 'create' | 'update') =>
          Object.freeze(
            Object.fromEntries(
              asked.flatMap(([name, { on }]) => (on === kind || on === 'both' ? [[name, values[name]]] : [])),
            ),
          );
        return Object.freeze({ create: of('create'), update: of('update') });
      });
    });
  };
}

/** The schema of a body with these attributes alone, each of which may be absent. */
function schemaOf(plan: ResourcePlan, names: ReadonlySet<string>): BodySchema {
  const { exposure, info } = plan;
  const unwritable = new Set([...exposure.unwritable].filter((name) => !names.has(name)));
  const others = [...info.attributes.keys()].filter((name) => !names.has(name));
  const open = { ...plan, explicitSchemas: NO_SCHEMAS, exposure: { ...exposure, unwritable } };
  return bodySchema(open, 'update', new Set(others));
}

/** @throws TypeError where a body could not have one of the values; it names the rule, and no value */
function check(model: string, schema: BodySchema, sent: BodyValues): Maybe<BodyValues> {
  const refuse = (error: unknown): never => {
    if (!(error instanceof InvalidBodyError)) throw error;
    const details = error.errors.map(({ detail }) => detail).join(' ');
    throw new TypeError(`set of ${model} gave a value that no body could have: ${details}`);
  };
  try {
    const parsed = parseBody(schema, sent);
    return parsed instanceof Promise ? parsed.catch(refuse) : parsed;
  } catch (error) {
    return refuse(error);
  }
}

/** The value as JSON has it: a key may be a number, a text or a bigint, for any column. */
function wireValue({ type }: AttributeInfo, value: unknown): unknown {
  const text = exactText(type, value);
  if (text === undefined) return value;
  switch (type.kind) {
    case 'integer':
    case 'float':
      return text.trim() !== '' && !Number.isNaN(Number(text)) ? Number(text) : value;
    case 'boolean':
    case 'json':
    case 'array':
      return value;
    default:
      return text;
  }
}
