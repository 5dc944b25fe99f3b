import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import { operatorsOf } from '../../../src/compile/filter-operators.js';
import { FILTER_OPERATORS } from '../../../src/declare/filter-operators.js';
import { filterDescription, filterExamples } from '../../../src/features/filter-guide.js';
import { parseFilter } from '../../../src/request/query/parse-filter.js';
import type { RequestIssue } from '../../../src/schema/request-issue.js';
import { defineModel, infoOf, planOf } from '../../support/offline-models.js';

const Article = defineModel('Article', {
  text: DataTypes.TEXT,
  code: DataTypes.STRING(1),
  count: DataTypes.INTEGER,
  big: DataTypes.BIGINT,
  price: DataTypes.DECIMAL(3, 1),
  ratio: DataTypes.DOUBLE,
  on: DataTypes.BOOLEAN,
  moment: DataTypes.DATE,
  day: DataTypes.DATEONLY,
  time: DataTypes.TIME,
  key: DataTypes.UUID,
  colour: DataTypes.ENUM('dark green', 'a|b'),
  data: DataTypes.JSONB,
  words: DataTypes.ARRAY(DataTypes.TEXT),
  marks: DataTypes.ARRAY(DataTypes.ENUM('a b', 'c')),
});

describe('filterExamples', () => {
  const pairs = [...infoOf(Article).attributes.values()].flatMap(({ name, type }) =>
    FILTER_OPERATORS.filter((operator) => operatorsOf(type).includes(operator)).map(
      (operator) => [name, operator] as const,
    ),
  );

  it('are filters that the resource accepts, for every column and operator', () => {
    for (const [name, operator] of pairs) {
      const plan = planOf(Article, { filterAllow: { [name]: [operator] } });
      const [example = '', ...others] = filterExamples(plan);
      const issues: RequestIssue[] = [];
      expect(parseFilter(plan, example, issues), example).to.deep.include({ attribute: name, operator });
      expect([issues, others]).to.deep.equal([[], []]);
    }
    expect(pairs).to.have.length.above(90);
  });

  it('show how two are joined', () => {
    const plan = planOf(Article, { filterAllow: { colour: true, count: ['=ge='], text: true } });
    expect(filterExamples(plan)).to.deep.equal([
      'colour=="dark green"',
      'count=ge=1',
      'colour=="dark green";count=ge=1',
    ]);
  });
});

describe('filterDescription', () => {
  it('is a table whose cells hold what they say', () => {
    const plan = planOf(Article, { filterAllow: { colour: ['=='] } });
    expect(filterDescription(plan).split('\n').slice(-5)).to.deep.equal([
      'For example `colour=="dark green"`.',
      '',
      '| field | type | operators |',
      '| --- | --- | --- |',
      '| `colour` | `dark green` `a\\|b` | `==` |',
    ]);
  });

  it('says what the operators of arrays mean, where there are any', () => {
    const sentence = /=contains=\(a,b\)[\s\S]+=overlaps=\(a,b\)/;
    const plan = planOf(Article, { filterAllow: ['marks'] });
    expect(filterDescription(plan)).to.match(sentence);
    expect(filterDescription(plan)).to.include('For example `marks=contains=("a b")`.\n\n| field |');
    expect(filterDescription(plan).split('\n').at(-1)).to.equal(
      '| `marks` | array of `a b` `c` | `=contains=` `=overlaps=` `=isempty=` `=isnull=` |',
    );
    const others = planOf(Article, { filterAllow: { text: true, words: ['=isnull='] } });
    expect(filterDescription(others)).not.to.match(sentence);
  });
});
