import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import { parseFilter } from '../../../../src/request/query/parse-filter.js';
import type { RequestIssue } from '../../../../src/schema/request-issue.js';
import { defineModel, planOf } from '../../../support/offline-models.js';

const ATTRIBUTES = {
  name: DataTypes.STRING(10),
  note: DataTypes.TEXT,
  code: DataTypes.CHAR(3),
  nick: DataTypes.CITEXT,
  small: DataTypes.SMALLINT,
  age: DataTypes.INTEGER,
  big: DataTypes.BIGINT,
  exact: DataTypes.DECIMAL(10, 2),
  real: DataTypes.REAL,
  ratio: DataTypes.DOUBLE,
  flag: DataTypes.BOOLEAN,
  moment: DataTypes.DATE,
  day: DataTypes.DATEONLY,
  time: DataTypes.TIME,
  key: DataTypes.UUID,
  grade: DataTypes.ENUM('good', 'not bad'),
  data: DataTypes.JSONB,
  tags: DataTypes.ARRAY(DataTypes.STRING(10)),
  counts: DataTypes.ARRAY(DataTypes.SMALLINT),
  marks: DataTypes.ARRAY(DataTypes.ENUM('good', 'not bad')),
  grid: DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.INTEGER)),
};
const Thing = defineModel('Thing', { ...ATTRIBUTES, secret: DataTypes.STRING, shape: DataTypes.BLOB });
const plan = planOf(Thing, { filterAllow: Object.keys(ATTRIBUTES) });

function parse(text: string, of = plan) {
  const issues: RequestIssue[] = [];
  const filter = parseFilter(of, text, issues);
  return { filter, issues };
}

/** The values that a comparison has after parsing. */
function valuesOf(text: string): readonly string[] {
  const { filter, issues } = parse(text);
  expect(issues).to.deep.equal([]);
  if (filter?.kind !== 'comparison') throw new Error(`${text} is not a comparison`);
  return filter.values;
}

function issueOf(text: string, of = plan): RequestIssue {
  const { filter, issues } = parse(text, of);
  expect(filter).to.equal(null);
  expect(issues).to.have.lengthOf(1);
  return issues[0] as RequestIssue;
}

const EQUALITY = ['==', '!=', '=in=', '=out=', '=isnull='];
const ORDER = ['=lt=', '=le=', '=gt=', '=ge=', '=between=', '=notbetween='];

describe('a typed filter', () => {
  it('is frozen data', () => {
    const { filter } = parse('(name==Ann,age>=18);flag==true');
    expect(filter).to.deep.equal({
      kind: 'and',
      operands: [
        {
          kind: 'or',
          operands: [
            { kind: 'comparison', attribute: 'name', operator: '==', values: ['Ann'] },
            { kind: 'comparison', attribute: 'age', operator: '=ge=', values: ['18'] },
          ],
        },
        { kind: 'comparison', attribute: 'flag', operator: '==', values: ['true'] },
      ],
    });
    if (filter?.kind !== 'and') throw new Error('not a junction');
    expect([filter, filter.operands, ...filter.operands].every(Object.isFrozen)).to.equal(true);
  });

  const ALIASES: Readonly<Record<string, string>> = {
    'age<1': '=lt=',
    'age<=1': '=le=',
    'age>1': '=gt=',
    'age>=1': '=ge=',
    'age=bt=(1,2)': '=between=',
    'age=nb=(1,2)': '=notbetween=',
    'name=ke=a': '=like=',
    'name=nk=a': '=notlike=',
    'name=ik=a': '=ilike=',
    'name=ni=a': '=inotlike=',
    'name=null=true': '=isnull=',
  };
  for (const [text, operator] of Object.entries(ALIASES)) {
    it(`reads ${text} as ${operator}`, () =>
      expect(parse(text).filter).to.include({ kind: 'comparison', operator }));
  }

  describe('takes values by the type of the column', () => {
    const GOOD: Readonly<Record<string, readonly string[]>> = {
      name: ['', 'a', '1234567890', '\u{1f642}'.repeat(10), 'null', '%_\\'],
      note: ['', 'x'.repeat(256)],
      code: ['abc'],
      nick: ['x'.repeat(256)],
      small: ['-32768', '32767', '0', '-0'],
      age: ['-2147483648', '2147483647'],
      big: ['-9223372036854775808', '9223372036854775807'],
      exact: ['0', '-1.50', '9'.repeat(38), `0.${'9'.repeat(37)}`],
      real: ['3.4028234663852886e38', '-1e-45', '0'],
      ratio: ['1.7976931348623157e308', '5e-324', '-0', '0e999', '1.5E+3'],
      flag: ['true', 'false'],
      day: ['2024-02-29', '0001-01-01', '9999-12-31'],
      time: ['08:00', '23:59:59', '00:00:00.000001'],
      grade: ['good', 'not bad'],
    };
    for (const [attribute, texts] of Object.entries(GOOD)) {
      for (const text of texts) {
        it(`${attribute}: ${JSON.stringify(text.slice(0, 30))}`, () =>
          expect(valuesOf(`${attribute}=="${text.replaceAll('\\', '\\\\')}"`)).to.deep.equal([text]));
      }
    }

    it('moment: with an offset and up to microseconds, in capitals', () => {
      const texts = ['2026-01-31T08:00:00Z', '2026-01-31t08:00:00.123456z', '2026-01-31T08:00:00+02:00'];
      expect(texts.map((text) => valuesOf(`moment==${text}`)[0])).to.deep.equal(
        texts.map((text) => text.toUpperCase()),
      );
    });

    it('key: in either case, as lower', () =>
      expect(valuesOf('key==3F2504E0-4F89-11D3-9A0C-0305E82C3301')).to.deep.equal([
        '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
      ]));

    it('every value of a list', () => {
      expect(valuesOf('age=in=(1,2,3)')).to.deep.equal(['1', '2', '3']);
      expect(valuesOf('age=in=1')).to.deep.equal(['1']);
      expect(valuesOf('age=between=(9,1)')).to.deep.equal(['9', '1']);
    });

    it('elements of an array by their type, one or many', () => {
      expect(valuesOf('tags=contains=a')).to.deep.equal(['a']);
      expect(valuesOf('tags=overlaps=("a,b",\'"\',"{}",NULL,"")')).to.deep.equal([
        'a,b',
        '"',
        '{}',
        'NULL',
        '',
      ]);
      expect(valuesOf('counts=contains=(1,-2)')).to.deep.equal(['1', '-2']);
      expect(valuesOf('marks=overlaps=(good,"not bad")')).to.deep.equal(['good', 'not bad']);
      expect(valuesOf('tags=isempty=false')).to.deep.equal(['false']);
    });

    it('true or false for =isnull= on every kind', () => {
      for (const attribute of Object.keys(ATTRIBUTES)) {
        expect(valuesOf(`${attribute}=isnull=true`), attribute).to.deep.equal(['true']);
      }
    });
  });

  describe('refuses a value of another type', () => {
    const date = 'an RFC 3339 date and time with an offset, such as 2026-01-31T08:00:00Z';
    const BAD: readonly (readonly [attribute: string, text: string, expected: string, hint?: string])[] = [
      ['age', 'abc', 'an integer'],
      ['age', '1.5', 'an integer'],
      ['age', '01', 'an integer'],
      ['age', '1e3', 'an integer'],
      ['age', '+1', 'an integer'],
      ['age', '', 'an integer'],
      ['age', '٣', 'an integer'],
      ['age', 'null', 'an integer', ' Use age=isnull=true.'],
      ['big', '0x10', 'an integer'],
      ['exact', '1e3', 'a decimal number'],
      ['exact', '.5', 'a decimal number'],
      ['exact', 'nan', 'a decimal number'],
      ['ratio', 'infinity', 'a number'],
      ['ratio', '+Infinity', 'a number'],
      ['ratio', '1.', 'a number'],
      ['flag', 'TRUE', 'true or false'],
      ['flag', '1', 'true or false'],
      ['flag', 'null', 'true or false', ' Use flag=isnull=true.'],
      ['moment', '2026-01-31', date],
      ['moment', '2026-02-30T08:00:00Z', date],
      ['moment', '2026-01-31T08:00:00', date],
      ['moment', '2026-01-31T08:00:00.1234567Z', date],
      ['moment', '2026-01-31T08:00:00 02:00', date, " Write the '+' of the offset as %2B."],
      ['day', '2026-02-29', 'a date such as 2026-01-31'],
      ['day', 'Infinity', 'a date such as 2026-01-31'],
      ['time', '24:01', 'a time of day such as 08:00:00'],
      ['time', '8:00', 'a time of day such as 08:00:00'],
      ['key', '3f2504e04f8911d39a0c0305e82c3301', 'a UUID'],
      ['grade', 'bad', 'one of good, not bad'],
      ['grade', 'Good', 'one of good, not bad'],
      ['name=isnull=', 'yes', 'true or false'],
      ['tags=isempty=', '0', 'true or false'],
      ['counts=contains=', 'x', 'an integer'],
      ['counts=overlaps=', 'null', 'an integer', ' Use counts=isnull=true.'],
      ['marks=contains=', 'bad', 'one of good, not bad'],
    ];
    for (const [attribute, text, expected, hint = ''] of BAD) {
      const [field] = attribute.split('=');
      const operator = attribute.includes('=') ? '' : '==';
      const q = `${attribute}${operator}"${text}"`;
      it(q, () =>
        expect(issueOf(q)).to.deep.equal({
          parameter: 'q',
          code: 'q.type',
          detail: `'${text}' is not ${expected} (field '${field}').${hint}`,
          position: q.indexOf('"'),
        }),
      );
    }

    it('and quotes only the beginning of a long one, without half a character', () =>
      expect(issueOf(`age==${'x'.repeat(39)}\u{1f642}\u{1f642}`)).to.deep.equal({
        parameter: 'q',
        code: 'q.type',
        detail: `'${'x'.repeat(39)}\ufffd…' is not an integer (field 'age').`,
        position: 5,
      }));
  });

  describe('refuses a value that the column cannot hold', () => {
    const BAD: readonly (readonly [attribute: string, text: string])[] = [
      ['name', '12345678901'],
      ['code', 'abcd'],
      ['small', '32768'],
      ['small', '-32769'],
      ['age', '2147483648'],
      ['big', '9223372036854775808'],
      ['big', '9'.repeat(500)],
      ['exact', '9'.repeat(39)],
      ['real', '3.5e38'],
      ['real', '1e-46'],
      ['ratio', '1e309'],
      ['ratio', '1e-400'],
      ['tags=contains=', '12345678901'],
      ['counts=overlaps=', '32768'],
    ];
    for (const [attribute, text] of BAD) {
      it(`${attribute}: ${text.slice(0, 30)}`, () => {
        const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
        const [field] = attribute.split('=');
        const comparison = attribute.includes('=') ? attribute : `${attribute}==`;
        expect(issueOf(`${comparison}${text}`)).to.deep.equal({
          parameter: 'q',
          code: 'q.range',
          detail: `'${shown}' is outside the range of '${field}'.`,
          position: comparison.length,
        });
      });
    }
  });

  describe('refuses a name', () => {
    const allowed = ['name', 'age'];
    const small = planOf(Thing, { filterAllow: allowed });

    it('that is not allowed, with the allowed ones', () =>
      expect(issueOf('nme==x', small)).to.deep.equal({
        parameter: 'q',
        code: 'q.unknown-field',
        detail: "Cannot filter by 'nme'. Did you mean 'name'? Filterable: name, age.",
        position: 0,
        allowed,
      }));

    it('[D2] alike, whether the column exists or not', () => {
      const names = 'secret nothing shape __proto__ constructor hasOwnProperty name.x NAME'.split(' ');
      for (const name of names) {
        const { detail, ...issue } = issueOf(`${name}==x`, small);
        expect(issue).to.deep.equal({ parameter: 'q', code: 'q.unknown-field', position: 0, allowed });
        expect(detail.replace(" Did you mean 'name'?", '')).to.equal(
          `Cannot filter by '${name}'. Filterable: name, age.`,
        );
      }
    });

    it('where nothing can be filtered', () =>
      expect(issueOf('name==x', planOf(Thing))).to.deep.equal({
        parameter: 'q',
        code: 'q.unknown-field',
        detail: "Cannot filter by 'name'. Nothing can be filtered here.",
        position: 0,
        allowed: [],
      }));
  });

  describe('refuses an operator', () => {
    const allowed = [...EQUALITY, ...ORDER];
    for (const [q, code, detail] of [
      ['age=lik=5', 'q.unknown-operator', "Unknown operator '=lik='. Did you mean '=in='? Use"],
      ['age=5', 'q.unknown-operator', "Unknown operator '='. Did you mean '=='? Use"],
      ['age=five', 'q.unknown-operator', "Unknown operator '='. Did you mean '=='? Use"],
      ['age=in(5,6)', 'q.unknown-operator', "Unknown operator '=in'. Did you mean '=in='? Use"],
      ['age=in 5', 'q.unknown-operator', "Unknown operator '=in'. Did you mean '=in='? Use"],
      ['age=like=1*', 'q.operator-not-allowed', "'=like=' is not available for 'age' (integer). Use"],
    ] as const) {
      it(`as in ${q}, and names the ones of the type`, () =>
        expect(issueOf(q)).to.deep.equal({
          parameter: 'q',
          code,
          detail: `${detail} ${allowed.join(', ')}.`,
          position: 3,
          allowed,
        }));
    }

    it('[D7] of regular expressions, which would cost what nobody can tell', () => {
      for (const operator of '~ =~ ~= =~= !~ =regex= =re= =match= =similar= =rlike= =q='.split(' ')) {
        expect(issueOf(`name${operator}"^(a+)+$"`).code, operator).to.be.oneOf([
          'q.unknown-operator',
          'q.syntax',
        ]);
      }
    });

    it('that does not exist, with the one that is meant where the type has it', () =>
      expect(issueOf('name=lik=5').detail).to.match(
        /^Unknown operator '=lik='\. Did you mean '=like='\? Use ==, /,
      ));

    it('that the resource does not allow', () => {
      const narrow = planOf(Thing, { filterAllow: { name: ['==', '=ke='] } });
      expect(issueOf('name!=x', narrow)).to.deep.equal({
        parameter: 'q',
        code: 'q.operator-not-allowed',
        detail: "'!=' is not available for 'name' (string). Use ==, =like=.",
        position: 4,
        allowed: ['==', '=like='],
      });
      expect(parse('name=like=x*;name=ke=y', narrow).issues).to.deep.equal([]);
    });

    const TYPES: Readonly<Record<string, readonly string[]>> = {
      flag: EQUALITY,
      key: EQUALITY,
      grade: EQUALITY,
      data: ['=isnull='],
      tags: ['=contains=', '=overlaps=', '=isempty=', '=isnull='],
      grid: ['=isnull='],
    };
    for (const [attribute, allowed] of Object.entries(TYPES)) {
      it(`of order on ${attribute}`, () =>
        expect(issueOf(`${attribute}>x`))
          .to.include({ code: 'q.operator-not-allowed' })
          .and.deep.include({ allowed }));
    }
  });

  describe('refuses a number of values', () => {
    const ARITY: Readonly<Record<string, string>> = {
      'age==(1,2)': "'==' takes one value; use =in=(a,b) for a list.",
      'age>(1,2)': "'>' takes one value; use =in=(a,b) for a list.",
      'age=between=1': "'=between=' takes two values: =between=(low,high).",
      'age=bt=(1,2,3)': "'=bt=' takes two values: =bt=(low,high).",
      'age=isnull=(true,false)': "'=isnull=' takes one value; use =in=(a,b) for a list.",
    };
    for (const [text, detail] of Object.entries(ARITY)) {
      it(text, () =>
        expect(issueOf(text)).to.deep.equal({ parameter: 'q', code: 'q.arity', detail, position: 3 }),
      );
    }
  });

  it('names the wrong one of many elements', () =>
    expect(issueOf('counts=contains=(1,2,"3,4")')).to.include({ code: 'q.type', position: 21 }));

  it('compares one attribute ten times at most', () => {
    const ten = Array.from({ length: 10 }, (_, index) => `age!=${index}`).join(';');
    expect(parse(`${ten};name!=x`).issues).to.deep.equal([]);
    expect(issueOf(`${ten};age!=10`)).to.deep.equal({
      parameter: 'q',
      code: 'q.too-complex',
      detail: "At most 10 comparisons of 'age' are allowed.",
      position: 70,
    });
  });
});
