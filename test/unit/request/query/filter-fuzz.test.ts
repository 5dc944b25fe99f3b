/** Any text is a filter, or has problems with a position in it; the parser throws nothing else. */
import { expect } from 'chai';
import fc from 'fast-check';
import { DataTypes } from 'sequelize';
import { parseFilter } from '../../../../src/request/query/parse-filter.js';
import type { RequestIssue } from '../../../../src/schema/request-issue.js';
import { defineModel, planOf } from '../../../support/offline-models.js';
import { wholeOr } from '../../../support/short.js';

const ATTRIBUTES = {
  name: DataTypes.STRING(20),
  age: DataTypes.INTEGER,
  big: DataTypes.BIGINT,
  exact: DataTypes.DECIMAL(10, 2),
  ratio: DataTypes.DOUBLE,
  flag: DataTypes.BOOLEAN,
  moment: DataTypes.DATE,
  day: DataTypes.DATEONLY,
  time: DataTypes.TIME,
  key: DataTypes.UUID,
  grade: DataTypes.ENUM('good', 'bad'),
  data: DataTypes.JSONB,
  tags: DataTypes.ARRAY(DataTypes.STRING(5)),
  counts: DataTypes.ARRAY(DataTypes.INTEGER),
};
const INSIDE = { 'data.text': 'string', 'data.size': 'number', 'data.deep.on': 'boolean' };
const NAMES = [...Object.keys(ATTRIBUTES), ...Object.keys(INSIDE)];
const filterAllow = { ...Object.fromEntries(Object.keys(ATTRIBUTES).map((name) => [name, true])), ...INSIDE };
const plan = planOf(defineModel('Thing', ATTRIBUTES), { filterAllow });

const CODES = new Set(
  'syntax unclosed unknown-field unknown-operator operator-not-allowed arity type range bad-escape too-long too-complex too-deep list-too-long encoding'
    .split(' ')
    .map((name) => `q.${name}`),
);

function expectFilterOrIssues(text: string): void {
  const issues: RequestIssue[] = [];
  const filter = parseFilter(plan, text, issues);
  if (issues.length > 0) expect(filter).to.equal(null);
  else if (text.trim() !== '') expect(filter).to.be.frozen;
  for (const issue of issues) {
    expect(issue).to.include({ parameter: 'q' });
    expect(CODES).to.include(issue.code);
    expect(issue).to.have.property('position').that.is.within(0, text.length);
    expect(issue.detail).to.match(/^[^\0]{10,900}\.$/s);
    expect(issue.detail.isWellFormed()).to.equal(true);
  }
}

const OPERATORS =
  '== != < <= > >= =lt= =le= =gt= =ge= =in= =out= =between= =notbetween= =like= =notlike= =ilike= =inotlike= =isnull= =contains= =overlaps= =within= =isempty= =has= = ~ !';
const VALUES =
  '1 -1 01 1.5 1e400 1e-400 9223372036854775808 99999999999999999999 true null NaN good 2026-02-30 2026-01-31T08:00:00Z 2026-01-31T08:00:00+02:00 25:00 * ** \\ \\* \\q a*b*c*d*e* 00000000-0000-0000-0000-000000000000 "x y" \'\' ( ) (1,2) (1) ☃ 🙂';

const grammarLike = fc
  .array(
    fc.oneof(
      fc.constantFrom(...NAMES, 'other', '__proto__', 'constructor', 'name.x'),
      fc.constantFrom(...OPERATORS.split(' ')),
      fc.constantFrom(...VALUES.split(' ')),
      fc.constantFrom(';', ',', '(', ')', ' ', ' and ', ' or ', '"', "'", '\\', '\0', '\ud800'),
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(''));

const wellBuilt = fc
  .array(
    fc
      .tuple(
        fc.constantFrom(...NAMES),
        fc.constantFrom(...OPERATORS.split(' ')),
        fc.constantFrom(...VALUES.split(' ')),
      )
      .map((parts) => parts.join('')),
    { minLength: 1, maxLength: 12 },
  )
  .map((comparisons) => comparisons.join(';'));

describe('parseFilter', () => {
  const texts: Readonly<Record<string, fc.Arbitrary<string>>> = {
    'any text': fc.string({ maxLength: 200 }),
    'any Unicode': fc.string({ unit: 'binary', maxLength: 200 }),
    'any UTF-16': fc.string({
      unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)),
      maxLength: 200,
    }),
    'texts that look like filters': grammarLike,
    'texts that are built like filters': wellBuilt,
    'long texts': fc
      .tuple(grammarLike, fc.integer({ min: 1, max: 100 }))
      .map(([text, times]) => text.repeat(times)),
  };
  for (const [name, arbitrary] of Object.entries(texts)) {
    it(`gives a filter or positioned issues for ${name}`, () =>
      fc.assert(fc.property(arbitrary, expectFilterOrIssues), { numRuns: wholeOr(1_000, 3_000) }));
  }
});
