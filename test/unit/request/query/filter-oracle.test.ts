/** Our parser and RSQL's own JavaScript parser, builder and emitter: the same texts mean the same to both. */
import type { ExpressionNode } from '@rsql/ast';
import builder from '@rsql/builder';
import { emit } from '@rsql/emitter';
import { parse } from '@rsql/parser';
import { expect } from 'chai';
import fc from 'fast-check';
import { junction, parsed, type ShortTree } from '../../../support/filter-trees.js';

/** A node of their tree, which has only binary junctions. */
type ForeignNode =
  | {
      readonly type: 'COMPARISON';
      left: { selector: string };
      operator: string;
      right: { value: string | string[] };
    }
  | { readonly type: 'LOGIC'; left: ForeignNode; operator: string; right: ForeignNode };

function foreignTree(node: ForeignNode): ShortTree {
  if (node.type === 'COMPARISON') return [node.left.selector, node.operator, node.right.value];
  const kind = node.operator === ';' || node.operator === 'and' ? 'and' : 'or';
  return junction(kind, [foreignTree(node.left), foreignTree(node.right)]);
}

function foreignParsed(text: string): ShortTree | null {
  try {
    return foreignTree(parse(text) as unknown as ForeignNode);
  } catch {
    return null;
  }
}

/** Any text without reserved characters is a selector to them; ours are names. */
const NAME = /^[A-Za-z0-9_.]+$/;

function selectorsOf(tree: ShortTree): string[] {
  if ('of' in tree) return [tree.of, ...selectorsOf(tree.condition)];
  if ('and' in tree) return tree.and.flatMap(selectorsOf);
  return 'or' in tree ? tree.or.flatMap(selectorsOf) : [tree[0]];
}

const SINGLE = ['==', '!=', '<', '<=', '>', '>=', '=lt=', '=le=', '=gt=', '=ge=', '=like=', '=isnull='];
const LISTS = ['=in=', '=out=', '=between='];

const selector = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,9}$/);
/** Every text that a filter may contain: no control characters but the tab, no halves of surrogate pairs. */
const value = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...'"\'\\();,=!~<>* \t%_-:.+'.split('')),
    fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 1 })
      .filter((text) => text >= ' ' && !text.includes('\x7f')),
  ),
  maxLength: 12,
});

const { node: expression } = fc.letrec<{
  node: ExpressionNode;
  comparison: ExpressionNode;
  logic: ExpressionNode;
}>((tie) => ({
  node: fc.oneof({ maxDepth: 3, depthSize: 'small' }, tie('comparison'), tie('logic')),
  comparison: fc.oneof(
    fc
      .tuple(selector, fc.constantFrom(...SINGLE), value)
      .map(([name, operator, text]) => builder.comparison(name, operator, text)),
    fc
      .tuple(selector, fc.constantFrom(...LISTS), fc.array(value, { minLength: 1, maxLength: 4 }))
      .map(([name, operator, texts]) => builder.comparison(name, operator, texts)),
  ),
  logic: fc
    .tuple(fc.constantFrom(';', ',', 'and', 'or'), fc.array(tie('node'), { minLength: 2, maxLength: 3 }))
    .map(([operator, nodes]) => builder.logic(nodes, operator as ';')),
}));

const pieces = fc.constantFrom(
  ...'( ) ; , == != < <= > >= =in= =out= =like= " \' \\ a b name 1 -1.5 * and or'.split(' '),
  ' ',
  '\t',
  ' and ',
  ' or ',
  'a==1',
  'b=in=(1,2)',
  '"x y"',
);

describe('RSQL', () => {
  it('means the same to us as to its builder and emitter', () =>
    fc.assert(
      fc.property(expression, fc.constantFrom('"' as const, "'" as const), (node, preferredQuote) => {
        expect(parsed(emit(node, { preferredQuote }))).to.deep.equal({
          tree: foreignTree(node as unknown as ForeignNode),
        });
      }),
      { numRuns: 1000 },
    ));

  it('means the same to us as to its parser, where both understand it', () => {
    let understood = 0;
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (texts) => {
        const ours = parsed(texts.join(''));
        const theirs = foreignParsed(texts.join(''));
        if (!('tree' in ours) || ours.tree === null || theirs === null) return;
        understood += 1;
        expect(ours.tree).to.deep.equal(theirs);
      }),
      { numRuns: 20_000 },
    );
    expect(understood).to.be.above(100);
  });

  it('is understood by us wherever its parser does, with our names and limits', () =>
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (texts) => {
        const theirs = foreignParsed(texts.join(''));
        if (theirs === null || !selectorsOf(theirs).every((name) => NAME.test(name))) return;
        expect(parsed(texts.join(''))).to.have.property('tree');
      }),
      { numRuns: 20_000 },
    ));
});
