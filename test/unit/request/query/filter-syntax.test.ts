import { expect } from 'chai';
import { FILTER_LIMITS, parseFilterSyntax } from '../../../../src/request/query/filter-syntax.js';
import { type Parsed, parsed, type ShortTree } from '../../../support/filter-trees.js';

const A: ShortTree = ['a', '==', '1'];
const B: ShortTree = ['b', '==', '2'];
const C: ShortTree = ['c', '!=', '3'];

const TREES: Readonly<Record<string, ShortTree | null>> = {
  // Texts without a filter.
  '': null,
  ' \t ': null,
  // The examples of the documentation.
  'name==Ann': ['name', '==', 'Ann'],
  'name=="Ann Lee"': ['name', '==', 'Ann Lee'],
  "name=='\r\nAnn\\\n\"'": ['name', '==', '\r\nAnn\n"'],
  "name=='O\\'Neil'": ['name', '==', "O'Neil"],
  'age>=18;age<65': {
    and: [
      ['age', '>=', '18'],
      ['age', '<', '65'],
    ],
  },
  'status=in=(new,"in progress")': ['status', '=in=', ['new', 'in progress']],
  'deletedAt=isnull=true': ['deletedAt', '=isnull=', 'true'],
  'title=ilike=*report*': ['title', '=ilike=', '*report*'],
  'code=like=50\\**': ['code', '=like=', '50\\**'],
  'createdAt=between=(2026-01-01T00:00:00Z,2026-02-01T00:00:00Z)': [
    'createdAt',
    '=between=',
    ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'],
  ],
  '(a==1,b==2);c!=3': { and: [{ or: [A, B] }, C] },
  'note==null': ['note', '==', 'null'],
  'name==🙂': ['name', '==', '🙂'],
  'name==שלום': ['name', '==', 'שלום'],
  'name==100%': ['name', '==', '100%'],
  // `and` binds tighter.
  'a==1,b==2;c!=3': { or: [A, { and: [B, C] }] },
  'a==1;b==2,c!=3': { or: [{ and: [A, B] }, C] },
  'a==1;(b==2,c!=3)': { and: [A, { or: [B, C] }] },
  // The words, and blanks.
  'a==1 and b==2 or c!=3': { or: [{ and: [A, B] }, C] },
  'a==1\tand\tb==2': { and: [A, B] },
  'a==1 and (b==2)': { and: [A, B] },
  ' ( a == 1 , b == 2 ) ; c != 3 ': { and: [{ or: [A, B] }, C] },
  'a=in=( 1 , 2 )': ['a', '=in=', ['1', '2']],
  'and==1 and or==2': {
    and: [
      ['and', '==', '1'],
      ['or', '==', '2'],
    ],
  },
  'a==and': ['a', '==', 'and'],
  'a==or or b==2': { or: [['a', '==', 'or'], B] },
  // Operators.
  'a<1': ['a', '<', '1'],
  'a<=1': ['a', '<=', '1'],
  'a>1': ['a', '>', '1'],
  'a=lt=1': ['a', '=lt=', '1'],
  'a=anything=1': ['a', '=anything=', '1'],
  'a=1': ['a', '=', '1'],
  'a=x-y;b==2': { and: [['a', '=', 'x-y'], B] },
  '(a=x)': ['a', '=', 'x'],
  'a=in': ['a', '=', 'in'],
  'a=in x': ['a', '=in', 'x'],
  'a=in(1)': ['a', '=in', ['1']],
  'a~1': ['a', '~', '1'],
  // Values.
  'a==-1.5e+3': ['a', '==', '-1.5e+3'],
  'a==\\': ['a', '==', '\\'],
  'a==x\\y': ['a', '==', 'x\\y'],
  'a==""': ['a', '==', ''],
  "a==''": ['a', '==', ''],
  'a=="it\'s"': ['a', '==', "it's"],
  'a==\'say "x"\'': ['a', '==', 'say "x"'],
  'a=="\\"\\\\\\x"': ['a', '==', '"\\x'],
  'a=="(1;2,3)=="': ['a', '==', '(1;2,3)=='],
  'a=="x\ty"': ['a', '==', 'x\ty'],
  'a==(1)': ['a', '==', ['1']],
  'a.b_c==1': ['a.b_c', '==', '1'],
  '((((((((a==1))))))))': A,
  // A condition in the place of a value.
  'a=any=(b==2,c!=3);a==1': { and: [{ of: 'a', operator: '=any=', condition: { or: [B, C] } }, A] },
  'a =none= ( b=any=(b==2) )': {
    of: 'a',
    operator: '=none=',
    condition: { of: 'b', operator: '=any=', condition: B },
  },
};

const NO_NOT =
  'a comparison; q has no NOT: write the opposite of each, with != =out= =notbetween= =notlike= =inotlike= =isnull= or =none=';

const ERRORS: Readonly<Record<string, Parsed>> = {
  'not(a==1)': unexpected("'('", 3, NO_NOT),
  'a==1;NOT b==1': unexpected("'b'", 9, NO_NOT),
  '!(a==1)': unexpected("'!'", 0, NO_NOT),
  '!a==1': unexpected("'!'", 0, NO_NOT),
  ')': unexpected("')'", 0, 'a field name'),
  ';': unexpected("';'", 0, 'a field name'),
  '=': unexpected("'='", 0, 'a field name'),
  '"a"==1': unexpected("'\"'", 0, 'a field name'),
  'ä==1': unexpected("'ä'", 0, 'a field name'),
  '🙂==1': unexpected("'🙂'", 0, 'a field name'),
  a: unexpected('end', 1, 'an operator, such as =='),
  'a b': unexpected("'b'", 2, 'an operator, such as =='),
  'a-b==1': unexpected("'-'", 1, 'an operator, such as =='),
  'a==': unexpected('end', 3, 'a value'),
  'a==;b==2': unexpected("';'", 3, 'a value'),
  'a===1': unexpected("'='", 3, 'a value'),
  'a=': unexpected('end', 2, 'a value'),
  'a=!1': unexpected("'!'", 2, 'a value'),
  'a==1;': unexpected('end', 5, 'a field name'),
  'a==1;;b==2': unexpected("';'", 5, 'a field name'),
  'a==1,,b==2': unexpected("','", 5, 'a field name'),
  'a==1)': unexpected("')'", 4, "',', ';' or the end"),
  'a==1 b==2': unexpected("'b'", 5, "',', ';' or the end; a value with blanks stands in quotes"),
  'a==1 andb==2': unexpected("'a'", 5, "',', ';' or the end; a value with blanks stands in quotes"),
  'a==1 AND b==2': unexpected("'A'", 5, "',', ';' or the end; a value with blanks stands in quotes"),
  'a==1 and': unexpected("'a'", 5, "',', ';' or the end; a value with blanks stands in quotes"),
  'a==1 and ': unexpected('end', 9, 'a field name'),
  'a=="x"y': unexpected("'y'", 6, "',', ';' or the end"),
  '()': unexpected("')'", 1, 'a field name'),
  '(a==1 b==2)': unexpected("'b'", 6, "',', ';' or ')'; a value with blanks stands in quotes"),
  'a==1 )': unexpected("')'", 5, "',', ';' or the end"),
  'a=in=(San Marino)': unexpected("'M'", 10, "',' or ')'; a value with blanks stands in quotes"),
  'a=in=()': unexpected("')'", 6, 'a value'),
  'a=in=(1,)': unexpected("')'", 8, 'a value'),
  'a=in=(1;2)': unexpected("';'", 7, "',' or ')'"),
  'a=in=((1))': unexpected("'('", 6, 'a value'),
  '(a==1': unclosed('(', 0),
  '(a==1;(b==2)': unclosed('(', 0),
  'a==1;(b==2': unclosed('(', 5),
  'a=in=(1,2': unclosed('(', 5),
  'a=="': unclosedQuote(3),
  "a=='x": unclosedQuote(3),
  'a=="x\\"': unclosedQuote(3),
  'a=="\\': unclosedQuote(3),
  'a=in=(1,"2)': unclosedQuote(8),
  'a==\0': controlCharacter(3),
  'a=="x"\n': controlCharacter(6),
  'a==\n"x"': controlCharacter(3),
  'a=="\\"\n\0"': controlCharacter(7),
  'a=="\n': unclosedQuote(3),
  'a==\x7f': controlCharacter(3),
  'a==\ud800': { code: 'q.encoding', position: 3, detail: 'q is not well-formed text.' },
  'a==🙂\udc00': { code: 'q.encoding', position: 5, detail: 'q is not well-formed text.' },
};

function unexpected(found: string, position: number, expected: string): Parsed {
  return {
    code: 'q.syntax',
    position,
    detail: `Unexpected ${found} at position ${position}; expected ${expected}.`,
  };
}

function unclosed(symbol: string, position: number): Parsed {
  return {
    code: 'q.unclosed',
    position,
    detail: `'${symbol}' opened at position ${position} is not closed.`,
  };
}

function unclosedQuote(position: number): Parsed {
  return {
    code: 'q.unclosed',
    position,
    detail: `The quote opened at position ${position} is not closed.`,
  };
}

function controlCharacter(position: number): Parsed {
  return { code: 'q.syntax', position, detail: `Unexpected control character at position ${position}.` };
}

describe('parseFilterSyntax', () => {
  for (const [text, tree] of Object.entries(TREES)) {
    it(`understands ${JSON.stringify(text)}`, () => expect(parsed(text)).to.deep.equal({ tree }));
  }

  for (const [text, problem] of Object.entries(ERRORS)) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(parsed(text)).to.deep.equal(problem));
  }

  it('knows where names, operators and values stood', () =>
    expect(parseFilterSyntax(' ab =in= ( x , "y" )')).to.deep.equal({
      kind: 'comparison',
      selector: { text: 'ab', position: 1 },
      operator: { text: '=in=', position: 4 },
      values: [
        { text: 'x', position: 11 },
        { text: 'y', position: 15 },
      ],
      isList: true,
    }));

  it('counts positions in UTF-16 code units', () =>
    expect(parsed('a==🙂;')).to.deep.equal(unexpected('end', 6, 'a field name')));

  describe('with a limit', () => {
    const { length, comparisons, depth, listValues } = FILTER_LIMITS;

    it('[D5] has the documented limits', () =>
      expect(FILTER_LIMITS).to.deep.equal({
        length: 2048,
        comparisons: 50,
        relations: 5,
        depth: 8,
        listValues: 100,
        sameAttribute: 10,
        patternLength: 256,
        patternWildcards: 4,
      }));

    it('[D5] takes the longest text, and none longer', () => {
      const longest = `a==${'x'.repeat(length - 3)}`;
      expect(parsed(longest)).to.deep.equal({ tree: ['a', '==', 'x'.repeat(length - 3)] });
      expect(parsed(`${longest}x`)).to.deep.equal({
        code: 'q.too-long',
        position: length,
        detail: 'At most 2048 characters are allowed (found 2049).',
      });
    });

    it('takes the most comparisons, and not one more', () => {
      const most = Array.from({ length: comparisons }, () => 'a==1');
      expect(parsed(most.join(';'))).to.deep.equal({ tree: { and: most.map(() => A) } });
      expect(parsed([...most, 'a==1'].join(';'))).to.deep.equal({
        code: 'q.too-complex',
        position: 250,
        detail: 'At most 50 comparisons are allowed.',
      });
    });

    it('takes the deepest parentheses, and none deeper', () => {
      const nested = (levels: number): string => `${'('.repeat(levels)}a==1${')'.repeat(levels)}`;
      expect(parsed(nested(depth))).to.deep.equal({ tree: A });
      expect(parsed(nested(depth + 1))).to.deep.equal({
        code: 'q.too-deep',
        position: depth,
        detail: 'At most 8 nested parentheses are allowed.',
      });
    });

    it('counts depth, not parentheses', () =>
      expect(parsed(Array.from({ length: 20 }, () => '(a==1)').join(';'))).to.have.property('tree'));

    it('takes the longest list, and none longer', () => {
      const values = Array.from({ length: listValues }, (_, index) => String(index));
      expect(parsed(`a=in=(${values.join(',')})`)).to.deep.equal({ tree: ['a', '=in=', values] });
      expect(parsed(`a=in=(${values.join(',')},x)`)).to.deep.equal({
        code: 'q.list-too-long',
        position: 5,
        detail: 'At most 100 values are allowed in a list.',
      });
    });
  });
});
