/** Amounts in the body of a change: `{"stock": {"$inc": -1}}`. */
import { isPlain } from '../../compile/compile-options.js';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { AttributeInfo } from '../../describe/model-info.js';
import { AddedValue } from '../../operation/added-value.js';
import type { BodyForms } from '../../operation/body-forms.js';
import { columnSchema } from '../../schema/body-json-schema.js';
import { type BodySchema, bodySchema, unknownProperty } from '../../schema/body-schema.js';
import { columnRules } from '../../schema/column-rules.js';
import type { JsonSchema } from '../../schema/json-schema.js';
import { bodyPointer, type RequestIssue } from '../../schema/request-issue.js';
import { isNonFinite } from '../../schema/wire-value.js';
import { lazy } from '../../util/memo.js';
import { incrementsOf } from './increment-options.js';

const AMOUNT = '$inc';

/** The schema of a body with these attributes alone. */
export function sumSchema(plan: ResourcePlan): BodySchema {
  const names = incrementsOf(plan);
  return bodySchema(
    plan,
    'update',
    new Set([...plan.info.attributes.keys()].filter((name) => !names.includes(name))),
  );
}

/** Compiles the reader and the description of amounts. */
export function compileAmounts(plan: ResourcePlan): BodyForms {
  const attributes = incrementsOf(plan).map((name) => plan.info.attributes.get(name) as AttributeInfo);
  const schema = lazy(() => sumSchema(plan));
  // Values of an attribute with decorators of the user's are read through the class alone.
  const judgedNames = lazy(
    () =>
      new Set(attributes.flatMap(({ name, type }) => (schema().read({ [name]: zeroOf(type) }) ? [] : name))),
  );
  return {
    take(body, properties, { unreadable }) {
      if (!isPlain(body)) return null;
      const sent = body as Readonly<Record<string, unknown>>;
      const given = attributes.filter(
        ({ name }) =>
          Object.hasOwn(sent, name) &&
          isPlain(sent[name]) &&
          Object.hasOwn(sent[name] as object, AMOUNT) &&
          properties.has(name) &&
          // Refused sums would tell a value that the request may not read.
          !unreadable.has(name),
      );
      if (given.length === 0) return null;
      const rest = { ...sent };
      const values: Record<string, unknown> = {};
      const issues: RequestIssue[] = [];
      for (const attribute of given) {
        const { name } = attribute;
        delete rest[name];
        const amount = readAmount(attribute, sent[name] as object, issues);
        values[name] = new AddedValue(amount, judgedNames().has(name));
      }
      return { rest, values, issues };
    },
    describe: (body) => ({
      ...body,
      properties: {
        ...body.properties,
        ...Object.fromEntries(
          attributes.flatMap(({ name, type }) => {
            const property = body.properties?.[name];
            return property ? [[name, withAmount(property, amountSchema(type))]] : [];
          }),
        ),
      },
    }),
  };
}

function zeroOf({ kind }: AttributeInfo['type']): unknown {
  return kind === 'integer' || kind === 'float' ? 0 : '0';
}

/** The text of an amount. Its problems are added to the issues. */
function readAmount({ name, type }: AttributeInfo, sent: object, issues: RequestIssue[]): string {
  const { [AMOUNT]: amount, ...others } = sent as Readonly<Record<string, unknown>>;
  for (const other of Object.keys(others))
    issues.push(unknownProperty(bodyPointer(name, other), other, [AMOUNT]));
  const broken = columnRules(type).find(({ check }) => !check(amount));
  const isNumber = typeof amount !== 'string' || !isNonFinite(amount);
  if (broken || !isNumber) {
    const detail = `${AMOUNT} of ${name} ${broken?.text ?? 'must be a finite number'}.`;
    issues.push({ pointer: bodyPointer(name, AMOUNT), code: broken?.name ?? 'isFinite', detail });
  }
  return String(amount);
}

/** No infinity is added. */
function amountSchema(type: AttributeInfo['type']): JsonSchema {
  return type.kind === 'float' ? { type: 'number' } : columnSchema(type);
}

function withAmount({ description, ...value }: JsonSchema, amount: JsonSchema): JsonSchema {
  const form: JsonSchema = {
    description: 'A number that is added to the value of the record.',
    type: 'object',
    properties: { [AMOUNT]: amount },
    required: [AMOUNT],
    additionalProperties: false,
  };
  return { ...(description === undefined ? {} : { description }), oneOf: [value, form] };
}
