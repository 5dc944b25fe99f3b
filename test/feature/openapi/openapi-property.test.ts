/** Requests made from the document alone: allowed ones are accepted, and forbidden ones are refused. */
// @runs fast
import { expect } from 'chai';
import fc from 'fast-check';
import type { Response } from 'supertest';
import type { ParameterObject } from '../../../src/openapi/openapi-object.js';
import type { JsonSchema } from '../../../src/schema/json-schema.js';
import { ApiContract, type ContractOperation } from '../../support/api-contract.js';
import {
  DESCRIBED_OPTIONS,
  DESCRIBED_TABLES,
  Gadget,
  Maker,
  Material,
  Member,
  Note,
  Part,
} from '../../support/described-models.js';
import { allowedValue } from '../../support/schema-arbitrary.js';
import { wholeOr } from '../../support/short.js';
import { serveTestApp } from '../../support/test-app.js';

const RUNS = { numRuns: wholeOr(20, 60) };
/** Rules that the description of 422 names because no schema can express them, and addresses that only the validator checks. */
const BEYOND_SCHEMA =
  'isStorableText isStorableJson isJsonNumber isBigint isDateTime isDate isEmail isFinite sum.null sum.range'.split(
    ' ',
  );
const IDS: Readonly<Record<string, string>> = {
  Maker: '0b6b1a52-5f0e-4c39-9d35-6a4bdf4c7f11',
  Gadget: '1',
  Note: 'one',
  Member: '1',
};

// The parsers of requests are the same on every Express.
const suite = process.env['CRUD_TEST_EXPRESS'] === '4' ? describe.skip : describe;

suite('a value that the document allows', () => {
  const app = serveTestApp(() => ({
    models: DESCRIBED_TABLES,
    bootstrap: { ...DESCRIBED_OPTIONS, bodyLimit: '1mb' },
  }));
  let contract: ApiContract;

  before(async () => {
    contract = new ApiContract(app.crud.openapi());
    await Maker.create({ id: IDS['Maker'], name: 'Bolt', secret: 'x' });
    await Gadget.create({ code: 'first' });
    await Material.create({ symbol: 'Fe' });
    await Part.bulkCreate([
      { name: 'screw', length: '1.50', gadgetId: 1, materialSymbol: 'Fe' },
      { name: 'nut', gadgetId: 1 },
    ]);
    await Note.create({ name: 'one', text: 'one' });
    await Member.create({ name: 'Ann' });
  });

  for (const name of Object.keys(IDS)) {
    for (const kind of ['create', 'update'] as const) {
      const operationId = `${kind}${name}`;

      it(`is accepted by ${operationId}`, () =>
        fc.assert(
          fc.asyncProperty(allowedValue(bodySchema(operationId), resolve), async (body) => {
            expect(contract.allows(bodySchema(operationId), body)).to.equal(true);
            expectAccepted(operationId, await send(operationId, body), body);
          }),
          RUNS,
        ));

      it(`is all that is accepted by ${operationId}`, async () => {
        const schema = bodySchema(operationId);
        const { properties = {} } = resolve(schema.$ref as string);
        const names = fc.constantFrom(...Object.keys(properties), 'unknown', 'id');
        const change = fc.record({ name: names, value: fc.oneof(strange, fc.jsonValue()) });
        await fc.assert(
          fc.asyncProperty(allowedValue(schema, resolve), change, async (body, { name: property, value }) => {
            const changed = JSON.parse(JSON.stringify({ ...(body as object), [property]: value }));
            const answer = await send(operationId, changed);
            if (contract.allows(schema, changed)) expectAccepted(operationId, answer, changed);
            else expect(answer.status, shown(operationId, changed, answer)).to.equal(422);
            contract.check(operationId, answer);
          }),
          RUNS,
        );
      });

      it(`is missed by ${operationId} where something required is`, async () => {
        const schema = bodySchema(operationId);
        const { required = [] } = resolve(schema.$ref as string);
        for (const property of required) {
          const [body] = fc.sample(allowedValue(schema, resolve), 1) as [Record<string, unknown>];
          delete body[property];
          const answer = await send(operationId, body);
          expect(answer.status, shown(operationId, body, answer)).to.equal(422);
          expect(answer.body.errors).to.deep.include({
            pointer: `/${property}`,
            ...(name === 'Member'
              ? answer.body.errors[0]
              : { code: 'isDefined', detail: `${property} is required.` }),
          });
        }
      });
    }

    const list = `list${name}s`;

    it(`is accepted by ${list}, in every combination of parameters`, async () => {
      const parameters = parametersOf(list).filter(({ name: each }) => each !== 'after' && each !== 'before');
      const combination = fc.record(
        Object.fromEntries(parameters.map((parameter) => [parameter.name, parameterValue(parameter)])),
        { requiredKeys: [] },
      );
      await fc.assert(
        fc.asyncProperty(combination, fc.boolean(), async (chosen, isCompleted) => {
          const values = isCompleted ? withIncludes(chosen) : chosen;
          const answer = await app.agent.get(`${pathOf(list)}?${queryOf(values)}`);
          contract.check(list, answer);
          expect(answer.status, `${queryOf(values)} ${answer.text}`).to.equal(isCoherent(values) ? 200 : 400);
        }),
        RUNS,
      );
    });

    it(`is all that is accepted by ${list}`, async () => {
      for (const parameter of parametersOf(list)) {
        await fc.assert(
          fc.asyncProperty(forbiddenValue(parameter), async (value) => {
            const query = queryOf({ ...includeOf(parameter.name), [parameter.name]: value });
            const answer = await app.agent.get(`${pathOf(list)}?${query}`);
            contract.check(list, answer);
            expect(answer.status, `${parameter.name}=${value}`).to.equal(400);
            const named = answer.body.errors.map((issue: { parameter: string }) => issue.parameter);
            expect(named).to.include(parameter.name);
          }),
          { numRuns: 15 },
        );
      }
    });

    it(`is an id of read${name}, there or not`, async () => {
      const [parameter] = parametersOf(`read${name}`) as [ParameterObject];
      await fc.assert(
        fc.asyncProperty(allowedValue(parameter.schema, resolve), async (id) => {
          // An address cannot hold these: they would be parts of the path.
          fc.pre(!['.', '..'].includes(String(id)));
          const answer = await app.agent.get(pathOf(`read${name}`, encodeURIComponent(String(id))));
          contract.check(`read${name}`, answer);
          expect([200, 404], `${id}`).to.include(answer.status);
        }),
        RUNS,
      );
    });
  }

  for (const [name, ids] of [
    ['Maker', ['1', 'x', '0b6b1a52']],
    ['Gadget', ['x', '1.5', '0x10', '01', '+1', '1e3']],
    ['Member', ['x', '1.5', '01']],
  ] as const) {
    it(`is all that is an id of read${name}`, async () => {
      for (const id of ids) {
        const answer = await app.agent.get(pathOf(`read${name}`, id));
        contract.check(`read${name}`, answer);
        expect(answer.status, id).to.equal(400);
      }
    });
  }

  /** Accepted, or refused for a reason that the document names. */
  function expectAccepted(operationId: string, answer: Response, body: unknown): void {
    contract.check(operationId, answer);
    if (answer.status === 422) {
      const codes = answer.body.errors.map(({ code }: { code: string }) => code);
      expect(BEYOND_SCHEMA, shown(operationId, body, answer)).to.include.members(codes);
    } else expect([200, 201, 409], shown(operationId, body, answer)).to.include(answer.status);
  }

  function shown(operationId: string, body: unknown, { status, text }: Response): string {
    return `${operationId} ${JSON.stringify(body)}: ${status} ${text}`;
  }

  function send(operationId: string, body: unknown): Promise<Response> {
    const { method } = contract.operations.get(operationId) as ContractOperation;
    const id = IDS[operationId.replace(/^[a-z]+/, '')] ?? '';
    const request = app.agent[method](pathOf(operationId, id)).set('content-type', 'application/json');
    return Promise.resolve(request.send(JSON.stringify(body)));
  }

  function pathOf(operationId: string, id = ''): string {
    return (contract.operations.get(operationId) as ContractOperation).path.replace(/\{\w+\}/, () => id);
  }

  function parametersOf(operationId: string): readonly ParameterObject[] {
    return contract.operations.get(operationId)?.operation.parameters ?? [];
  }

  function bodySchema(operationId: string): JsonSchema {
    const content = contract.operations.get(operationId)?.operation.requestBody?.content;
    return content?.['application/json']?.schema as JsonSchema;
  }

  function resolve(reference: string): JsonSchema {
    return app.crud.openapi().components.schemas[reference.replace(/^.*\//, '')] as JsonSchema;
  }

  function parameterValue({ name, schema }: ParameterObject): fc.Arbitrary<unknown> {
    if (isFilter(name)) return fc.constantFrom(...(schema.examples ?? []), '');
    if (schema.items) {
      const { minItems = 0, maxItems = 5 } = schema;
      const bounds = { minLength: minItems, maxLength: maxItems };
      return fc.uniqueArray(fc.constantFrom(...(schema.items.enum ?? [])), bounds).map(String);
    }
    return allowedValue(schema, resolve);
  }
});

/** Rules over several parameters, which the schema of one parameter cannot express. */
function isCoherent(values: Readonly<Record<string, unknown>>): boolean {
  const included = String(values['include'] ?? '').split(',');
  return Object.entries(values).every(([name, value]) => {
    const { include: path } = includeOf(name);
    if (path !== undefined && !included.some((each) => `${each}.`.startsWith(`${path}.`))) return false;
    if (!/(^|\.)sort$/.test(name)) return true;
    const names = String(value).replaceAll('-', '').split(',');
    return new Set(names).size === names.length;
  });
}

/** The same with all relations included that have a parameter. */
function withIncludes(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const paths = Object.keys(values).flatMap((name) => includeOf(name).include ?? []);
  return paths.length === 0 ? values : { ...values, include: [...new Set(paths)].join() };
}

/** The relation of a parameter, as the `include` that it needs beside it. */
function includeOf(parameter: string): { readonly include?: string } {
  const [, include] = /^(.+)\.\w+$/.exec(parameter) ?? [];
  return include === undefined ? {} : { include };
}

function isFilter(parameter: string): boolean {
  return /(^|\.)q$/.test(parameter);
}

/** Values around the limits of columns. */
const strange = fc.constantFrom(
  ...[null, '', 0, -6, 6, 32_768, 2_147_483_648, 1.5, true, [], {}, [null], ['seven!!']],
  ...'12.345 1234567.1 123456.10 9223372036854775807 01 24:01 23:59:59.1234567'.split(' '),
  ...'2026-02-30 2026-01-31 2026-01-31T08:00:00 2026-01-31T08:00:00.1234Z 2026-01-31T08:00:00.120000Z'.split(
    ' ',
  ),
  ...['aGVsbG8', 'not base64!', 'red', 'RED', 'dark green', 'ann@example.com'],
  'a text that is longer than every column here can hold, which are not many',
);

function forbiddenValue({ name, schema }: ParameterObject): fc.Arbitrary<unknown> {
  if (schema.type === 'integer') {
    return fc.oneof(
      fc.integer({ max: (schema.minimum ?? 0) - 1 }),
      fc.bigInt({ min: BigInt((schema.maximum ?? 0) + 1), max: 10n ** 30n }),
      fc.constantFrom('', ' 1', '1.0', '1e1', '0x1', '01', 'one'),
    );
  }
  if (schema.items) {
    return fc
      .string({ unit: 'grapheme-ascii', maxLength: 10 })
      .filter((text) => !(schema.items?.enum ?? []).includes(text.trim().replace(/^\+/, '').trim()));
  }
  const junk = isFilter(name) ? 'nothing==' : '';
  return fc.string({ unit: 'grapheme-ascii', maxLength: 20 }).map((text) => `${junk}${text}`);
}

function queryOf(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&');
}
