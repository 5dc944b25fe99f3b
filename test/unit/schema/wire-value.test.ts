import { expect } from 'chai';
import fc from 'fast-check';
import {
  isBigint,
  isDecimal,
  isStorableText,
  isTimeOfDay,
  isUuid,
  parseBase64,
  parseDay,
  parseTimestamp,
  WIRE_PATTERNS,
} from '../../../src/schema/wire-value.js';

/** A number written with at least as many digits. */
function padded(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

/** Checks a property of values of any kind. */
function forAny<T>(values: fc.Arbitrary<T>, check: (value: T) => unknown, numRuns = 100): void {
  fc.assert(
    fc.property(values, (value) => void check(value)),
    { numRuns },
  );
}

describe('[B8] parseTimestamp', () => {
  for (const [value, iso] of [
    ['2026-01-31T08:00:00.000Z', '2026-01-31T08:00:00.000Z'],
    ['2026-01-31T08:00:00Z', '2026-01-31T08:00:00.000Z'],
    ['2026-01-31t08:00:00z', '2026-01-31T08:00:00.000Z'],
    ['2026-01-31T08:00:00.1+02:00', '2026-01-31T06:00:00.100Z'],
    ['2026-01-31T08:00:00.123000-15:59', '2026-01-31T23:59:00.123Z'],
    ['2026-01-31T08:00:00-00:00', '2026-01-31T08:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ] as const) {
    it(`reads ${value}`, () => expect(parseTimestamp(value)?.toISOString()).to.equal(iso));
  }

  for (const [value, why] of [
    ['2024-02-30T00:00:00Z', 'a day that does not exist'],
    ['2023-02-29T00:00:00Z', 'a day that this year does not have'],
    ['1900-02-29T00:00:00Z', 'a day that this century does not have'],
    ['2024-00-01T00:00:00Z', 'a month that does not exist'],
    ['2024-13-01T00:00:00Z', 'a month that does not exist'],
    ['2024-01-00T00:00:00Z', 'a day that does not exist'],
    ['-000000-01-01T00:00:00Z', 'another spelling of the year zero'],
    ['-004713-01-01T00:00:00Z', 'a year before those of PostgreSQL'],
    ['+294277-01-01T00:00:00Z', 'a year after those of PostgreSQL'],
    ['+294276-12-31T23:59:59-00:01', 'an offset that leads there'],
    ['+275761-02-30T00:00:00Z', 'a day that does not exist, beyond a Date'],
    ['10000-01-01T00:00:00Z', 'a year of five digits'],
    ['+10000-01-01T00:00:00Z', 'an expanded year of five digits'],
    ['2024-01-01T24:00:00Z', 'an hour that does not exist'],
    ['2024-01-01T00:60:00Z', 'a minute that does not exist'],
    ['2024-06-30T23:59:60Z', 'a leap second'],
    ['2024-01-01T00:00:00', 'no offset'],
    ['2024-01-01T00:00:00+16:00', 'an offset that PostgreSQL does not read'],
    ['2024-01-01T00:00:00+24:00', 'an offset that does not exist'],
    ['2024-01-01T00:00:00+0100', 'an offset without a colon'],
    ['2024-01-01T00:00:00.1234Z', 'more than milliseconds'],
    ['2024-01-01T00:00:00.Z', 'a point without digits'],
    ['2024-01-01 00:00:00Z', 'a blank for the T'],
    ['2024-01-01', 'no time'],
    ['2024-1-1T0:0:0Z', 'missing zeros'],
    ['1', 'a number'],
    ['', 'nothing'],
    ['infinity', 'a word of PostgreSQL'],
    [' 2024-01-01T00:00:00Z', 'a blank before'],
    ['2024-01-01T00:00:00Z\n', 'a line break after'],
  ] as const) {
    it(`refuses ${JSON.stringify(value)}: ${why}`, () => expect(parseTimestamp(value)).to.equal(undefined));
  }

  it('accepts of what is written like an answer exactly what a Date gives back', () => {
    const parts = fc.tuple(
      fc.integer({ min: 1, max: 9999 }),
      fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 32 }),
      fc.integer({ min: 0, max: 25 }),
      fc.integer({ min: 0, max: 61 }),
      fc.integer({ min: 0, max: 61 }),
      fc.integer({ min: 0, max: 999 }),
    );
    fc.assert(
      fc.property(parts, ([year, month, day, hour, minute, second, ms]) => {
        const date = `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
        const value = `${date}T${padded(hour, 2)}:${padded(minute, 2)}:${padded(second, 2)}.${padded(ms, 3)}Z`;
        const instant = new Date(value);
        const isGivenBack = !Number.isNaN(instant.getTime()) && instant.toISOString() === value;
        expect(parseTimestamp(value)).to.deep.equal(isGivenBack ? instant : undefined);
      }),
      { numRuns: 2000 },
    );
  });

  it('reads every instant of these years from any offset', () => {
    const instants = fc.date({
      min: new Date('0001-01-03T00:00:00Z'),
      max: new Date('9999-12-29T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instants, fc.integer({ min: -959, max: 959 }), (instant, offset) => {
        const local = new Date(instant.getTime() + offset * 60_000).toISOString().slice(0, -1);
        const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60];
        const value = `${local}${offset < 0 ? '-' : '+'}${padded(hours, 2)}:${padded(minutes, 2)}`;
        expect(parseTimestamp(value)).to.deep.equal(instant);
      }),
    );
  });

  it('never throws, and gives a valid date or nothing', () =>
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+:.TtZz0-9 ]{15,30}$/)), (value) => {
        const parsed = parseTimestamp(value);
        expect(parsed === undefined || !Number.isNaN(parsed.getTime())).to.equal(true);
      }),
    ));
});

/** Texts that a type takes, and texts that it does not take. */
const TEXTS: Readonly<
  Record<string, { takes(text: string): boolean; right: readonly string[]; wrong: readonly string[] }>
> = {
  'a date': {
    takes: (value) => parseDay(value) !== undefined,
    right: [
      ...'2026-01-31 2024-02-29 0001-01-01 9999-12-31 0000-02-29 -000043-03-15 +012026-01-01 infinity'.split(
        ' ',
      ),
    ],
    wrong: [
      '2024-01-01\n',
      '',
      ...'2024-02-30 2023-02-29 2024-04-31 2024-13-01 2024-00-10 2024-01-00 -000000-01-01 10000-01-01 +9999999-01-01 2024-1-1 20240101 2024-01-01T00:00:00Z Infinity'.split(
        ' ',
      ),
    ],
  },
  'a time of day': {
    takes: isTimeOfDay,
    right: ['00:00', '08:00:00', '23:59:59', '23:59:59.9', '12:00:00.123456'],
    wrong: [
      '12:00 PM',
      '12:00\n',
      '',
      ...'24:01 24:00:01 12:60 12:00:60 8:00 12 12:00.5 12:00:00. 12:00:00.1234567 12:00:00Z 12:00:00+02'.split(
        ' ',
      ),
    ],
  },
  'a UUID': {
    takes: isUuid,
    right: [],
    wrong: [
      '',
      '6f9619ff-8b86-d011-b42d-00c04fc964ff\n',
      ...'6f9619ff8b86d011b42d00c04fc964ff {6f9619ff-8b86-d011-b42d-00c04fc964ff} urn:uuid:6f9619ff-8b86-d011-b42d-00c04fc964ff 6f9619ff-8b86-d011-b42d-00c04fc964f 6f9619ff-8b86-d011-b42d-00c04fc964ffa 6f9619fg-8b86-d011-b42d-00c04fc964ff'.split(
        ' ',
      ),
    ],
  },
  'an integer of 64 bits': {
    takes: isBigint,
    right: [],
    wrong: ['', '-', '1.0', '1e3', '0x10', '007', '+1', ' 1', '1 ', '1n', '٣', '9'.repeat(100_000)],
  },
  'a decimal of any column': {
    takes: (text) => isDecimal(text, null, null) || isDecimal(text, 10, 5),
    right: [],
    wrong: ['', ' 1', ...'. 1. .5 +1 01 00 1e3 1e-400 1,5 nan infinity 0x1 ٣ --1'.split(' ')],
  },
  base64: {
    takes: (text) => parseBase64(text) !== undefined,
    right: [],
    wrong: ['AA==\n', ' AAAA', ...'A AA AAA AAAA= AA=A AA-_ AAAA==== ==== ÄÄÄÄ AB== AAB='.split(' ')],
  },
};

for (const [label, { takes, right, wrong }] of Object.entries(TEXTS)) {
  describe(`the text of ${label}`, () => {
    for (const text of [...right, ...wrong]) {
      const isRight = right.includes(text);
      it(`${isRight ? 'may' : 'may not'} be ${JSON.stringify(text.slice(0, 50))}`, () =>
        expect(takes(text)).to.equal(isRight));
    }
  });
}

describe('parseDay', () => {
  it('accepts exactly the days that a Date gives back', () => {
    const parts = fc.tuple(
      fc.integer({ min: 1, max: 9999 }),
      fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 32 }),
    );
    fc.assert(
      fc.property(parts, ([year, month, day]) => {
        const value = `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
        const instant = new Date(`${value}T00:00:00.000Z`);
        const isDay = !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(value);
        expect(parseDay(value) !== undefined).to.equal(isDay);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('isUuid', () => {
  it('accepts the canonical form of any version, in either case', () => {
    forAny(fc.uuid(), (uuid) =>
      expect([isUuid(uuid), isUuid(uuid.toUpperCase())]).to.deep.equal([true, true]),
    );
    expect(isUuid('00000000-0000-0000-0000-000000000000')).to.equal(true);
  });
});

describe('isBigint', () => {
  it('accepts exactly the integers of 64 bits', () => {
    forAny(fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }), (integer) =>
      expect(isBigint(String(integer))).to.equal(BigInt.asIntN(64, integer) === integer),
    );
    const boundaries = [2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n), -(2n ** 63n) - 1n];
    expect(boundaries.map((integer) => isBigint(String(integer)))).to.deep.equal([true, false, true, false]);
  });
});

describe('isDecimal', () => {
  /** True where the value is stored as it is: in units of the last digit it is whole, and has few enough digits. */
  function fitsExactly(value: string, precision: number, scale: number): boolean {
    const [whole = '', fraction = ''] = value.replace('-', '').split('.');
    const shifted = BigInt(whole + fraction) * 10n ** BigInt(scale);
    const unit = 10n ** BigInt(fraction.length);
    return shifted % unit === 0n && shifted / unit < 10n ** BigInt(precision);
  }

  const decimals = fc
    .tuple(
      fc.boolean(),
      fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 10n ** 8n })),
      fc.option(fc.stringMatching(/^[0-9]{1,8}$/), { nil: undefined }),
    )
    .map(([isNegative, whole, fraction]) => {
      return `${isNegative ? '-' : ''}${whole}${fraction === undefined ? '' : `.${fraction}`}`;
    });

  it('agrees with exact arithmetic for every precision and scale', () =>
    fc.assert(
      fc.property(decimals, fc.nat({ max: 8 }), fc.nat({ max: 8 }), (value, scale, integerDigits) => {
        const precision = Math.max(1, scale + integerDigits);
        expect(isDecimal(value, precision, scale)).to.equal(fitsExactly(value, precision, scale));
      }),
      { numRuns: 5000 },
    ));

  it('accepts every decimal where the column has no limits', () =>
    forAny(decimals, (value) => expect(isDecimal(value, null, null)).to.equal(true)));

  for (const [value, expected] of [
    ['999.99', true],
    ['-999.99', true],
    ['1000', false],
    ['999.999', false],
    ['0.990', true],
    ['0.991', false],
    ['0', true],
    ['-0', true],
    ['-0.00', true],
  ] as const) {
    it(`${expected ? 'accepts' : 'refuses'} ${value} in DECIMAL(5, 2)`, () =>
      expect(isDecimal(value, 5, 2)).to.equal(expected));
  }

  it('accepts all digits of the widest column, and no endless text', () => {
    expect(isDecimal(`-0.${'9'.repeat(1000)}`, 1000, 1000)).to.equal(true);
    expect(isDecimal('9'.repeat(1004), null, null)).to.equal(false);
  });
});

describe('parseBase64', () => {
  it('reads what Buffer writes', () =>
    forAny(fc.uint8Array(), (bytes) =>
      expect(parseBase64(Buffer.from(bytes).toString('base64'))).to.deep.equal(Buffer.from(bytes)),
    ));

  it('reads exactly what its pattern says', () => {
    const pattern = new RegExp(WIRE_PATTERNS.base64, 'u');
    const text = fc.string({ unit: fc.constantFrom(...'AQZgwz019+/=-_ \n'), maxLength: 9 });
    forAny(text, (value) => expect(parseBase64(value) !== undefined).to.equal(pattern.test(value)), 2_000);
  });
});

describe('[A9] isStorableText', () => {
  it('accepts exactly what has no NUL and can be encoded in UTF-8', () => {
    const text = fc.array(fc.nat({ max: 0xffff })).map((units) => String.fromCharCode(...units));
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), (value) => {
        const isEncodable = Buffer.from(value, 'utf8').toString('utf8') === value;
        expect(isStorableText(value)).to.equal(isEncodable && !value.includes('\0'));
      }),
    );
    const known = ['\ud83d\ude00', '\ud83d', 'a\0'].map(isStorableText);
    expect(known).to.deep.equal([true, false, false]);
  });
});
