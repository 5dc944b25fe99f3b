/** Arbitrary bodies for a model: right ones by the types of its columns, and ones with mistakes in them. */
import fc from 'fast-check';
import { namedForm } from '../../src/declare/named-types.js';
import type { ColumnType } from '../../src/describe/column-type.js';
import type { AttributeInfo } from '../../src/describe/model-info.js';
import { NETWORK_FORMS } from '../../src/describe/network-value.js';
import { isJsonNumber } from '../../src/schema/json-value.js';

type JsonObject = Record<string, unknown>;

const REMOVED = Symbol('removed');

const UNICODE_TEXT = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
const DAY = fc
  .date({ min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString());

/** JSON without the keys and numbers that are refused. */
export const SAFE_JSON = fc
  .jsonValue({ maxDepth: 4, stringUnit: 'grapheme' })
  .map(
    (value) =>
      JSON.parse(JSON.stringify(value).replaceAll('\\u0000', '?'), (_key, member) =>
        typeof member === 'number' && !isJsonNumber(member) ? 0 : member,
      ) as unknown,
  )
  .filter((value) => !/"(?:__proto__|constructor|prototype)":/.test(JSON.stringify(value)));

function decimal(precision: number, scale: number): fc.Arbitrary<string> {
  const limit = 10n ** BigInt(precision);
  return fc.bigInt({ min: 1n - limit, max: limit - 1n }).map((scaled) => {
    const digits = String(scaled < 0n ? -scaled : scaled).padStart(scale + 1, '0');
    const [whole, fraction] = [digits.slice(0, digits.length - scale), digits.slice(digits.length - scale)];
    return `${scaled < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
  });
}

/** Values of a column, as a body has them. */
export function rightValue(type: ColumnType): fc.Arbitrary<unknown> {
  switch (type.kind) {
    case 'string':
      return UNICODE_TEXT.map((text) => [...text].slice(0, type.maxLength ?? undefined).join(''));
    case 'integer':
      return fc.integer({ min: type.minimum, max: type.maximum });
    case 'float':
      return fc.double({ min: -type.maximum, max: type.maximum, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'bigint':
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
    case 'decimal':
      return decimal(type.precision ?? 30, type.scale ?? 10);
    case 'date':
      return fc
        .tuple(DAY, fc.constantFrom('Z', 'z', '+00:00', '-01:30', '+02:00'))
        .map(([instant, offset]) => `${instant.slice(0, -1)}${offset}`);
    case 'dateonly':
      return DAY.map((instant) => instant.slice(0, 10));
    case 'time':
      return DAY.map((instant) => instant.slice(11, -1));
    case 'uuid':
      return fc.tuple(fc.uuid(), fc.boolean()).map(([id, upper]) => (upper ? id.toUpperCase() : id));
    case 'enum':
      return fc.constantFrom(...type.values);
    case 'array':
      return fc.array(rightValue(type.element), { maxLength: 4 });
    case 'blob':
      return fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64'));
    case 'range':
      return fc.oneof(
        fc.constant({ empty: true }),
        rightValue(type.bound).map((lower) => ({ lower, upper: null, bounds: '[)' })),
      );
    case 'multirange':
      // PostgreSQL joins those that touch, and leaves out empty ones.
      return fc
        .array(rightValue(type.bound), { maxLength: 1 })
        .map((each) => each.map((lower) => ({ lower, upper: null })));
    case 'network':
      if (type.form === 'inet')
        return fc.oneof(fc.ipV4(), fc.constantFrom('2001:DB8::1/64', '::ffff:1.2.3.4'));
      return fc.constant(NETWORK_FORMS[type.form].example);
    case 'interval':
      return fc.integer().map((days) => `P${days}D`);
    case 'money':
      return decimal(17, 2);
    case 'bit':
      return fc.constant('1'.repeat(type.length ?? 3));
    case 'named':
      return fc.constant(namedForm(type.name).examples?.[0] ?? '(1,2)');
    case 'hstore':
      return fc.dictionary(fc.constantFrom('a', 'b'), fc.option(UNICODE_TEXT, { nil: null }));
    case 'json':
    case 'other':
    case 'virtual':
      return SAFE_JSON.filter((value) => value !== null);
  }
}

/** Bodies with these attributes, some of the `optional` ones left out, in any order of the properties. */
export function rightBody(
  attributes: readonly AttributeInfo[],
  isOptional: (attribute: AttributeInfo) => boolean,
): fc.Arbitrary<JsonObject> {
  const entries = attributes.map((attribute) => {
    const { name, type, nullable } = attribute;
    const value = nullable ? fc.option(rightValue(type), { nil: null, freq: 6 }) : rightValue(type);
    const entry = value.map((given) => [[name, given]] as [string, unknown][]);
    return isOptional(attribute) ? fc.oneof(entry, fc.constant<[string, unknown][]>([])) : entry;
  });
  return fc
    .tuple(fc.tuple(...entries), fc.array(fc.nat(), { minLength: entries.length, maxLength: entries.length }))
    .map(([given, ranks]) =>
      Object.fromEntries(
        given
          .map((entry, index) => [ranks[index] ?? 0, entry] as const)
          .sort(([a], [b]) => a - b)
          .flatMap(([, entry]) => entry),
      ),
    );
}

/** The same bodies with up to two mistakes in them: another value, another property, one less. */
export function mutatedBody(body: fc.Arbitrary<JsonObject>, names: readonly string[]): fc.Arbitrary<unknown> {
  const name = fc.oneof(
    fc.constantFrom(...names, '__proto__', 'constructor', 'toString', 'then', 'id', ''),
    fc.string(),
  );
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>(
      undefined,
      null,
      '',
      '1',
      Number.POSITIVE_INFINITY,
      'a\0',
      '\ud800',
      '2026-02-30',
      [undefined],
    ),
    fc
      .constantFrom('__proto__', 'constructor')
      .map((key) => JSON.parse(`{"deep":[{"${key}":1}]}`) as unknown),
    fc.constantFrom<unknown>(new Date(0), new Map(), () => 1, Buffer.from('x'), Object.create(null)),
  );
  const change = fc.oneof(
    fc.record({ name, value }),
    name.map((removed) => ({ name: removed, value: REMOVED })),
  );
  return fc.tuple(body, fc.array(change, { minLength: 1, maxLength: 2 })).map(([right, changes]) => {
    const entries = new Map(Object.entries(right));
    for (const { name: changed, value: given } of changes) {
      if (given === REMOVED) entries.delete(changed);
      else entries.set(changed, given);
    }
    // `__proto__` becomes a property of its own, as in JSON.parse.
    return Object.fromEntries(entries);
  });
}
