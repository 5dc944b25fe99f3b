import { Readable } from 'node:stream';
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { type SerializerRegistry, serializeResult } from '../../../src/respond/result-serializer.js';
import { attach } from '../../support/offline-models.js';

class Article {
  constructor(readonly id: number) {}
  readonly secret = 'x';
}

class Report {
  readonly article = new Article(1);
  readonly total = 5;
}

const serializers: SerializerRegistry = new Map([
  [
    Article,
    {
      serialize: (record: object) => ({ id: (record as Article).id }),
      values: null,
      readClass: null,
      without: () => null,
      model: Article,
      restricted: [],
    },
  ],
]);

describe('serializeResult', () => {
  for (const value of [undefined, null, 'x', 5, true, 5n]) {
    it(`leaves ${String(value)} as it is`, () => {
      expect(serializeResult(value, serializers)).to.equal(value);
    });
  }

  it('sends records through their serializers, wherever they are in lists and plain objects', () => {
    const result = {
      one: new Article(1),
      many: [[new Article(2)], { deep: new Article(3) }],
      none: null,
      n: 5,
    };
    expect(serializeResult(result, serializers)).to.deep.equal({
      one: { id: 1 },
      many: [[{ id: 2 }], { deep: { id: 3 } }],
      none: null,
      n: 5,
    });
  });

  it('looks into objects without a prototype', () => {
    const result = Object.assign(Object.create(null), { article: new Article(1) });
    expect({ ...(serializeResult(result, serializers) as object) }).to.deep.equal({ article: { id: 1 } });
  });

  it('looks into instances of other classes, and leaves the instance itself alone', () => {
    const report = new Report();
    const shown = serializeResult(report, serializers);
    expect(shown).to.be.instanceOf(Report);
    expect({ ...(shown as object) }).to.deep.equal({ article: { id: 1 }, total: 5 });
    expect(report.article).to.be.instanceOf(Article);
  });

  it('gives back what has no record in it', () => {
    for (const value of [
      { a: [1, { b: null }] },
      [1, [2]],
      new Map(),
      Object.assign(new Error('x'), { a: 1 }),
    ]) {
      expect(serializeResult(value, serializers)).to.equal(value);
    }
  });

  it('gives back what has a form of its own, whatever is in it', () => {
    const own = { article: new Article(1), toJSON: () => 'own' };
    for (const value of [new Date(0), Buffer.from([1]), new Uint8Array(1), Readable.from([]), own]) {
      expect(serializeResult(value, serializers)).to.equal(value);
    }
  });

  it('takes properties named __proto__ and constructor for properties', () => {
    const result = JSON.parse('{"constructor":{"a":1},"__proto__":{"x":1}}');
    const shown = serializeResult({ result, article: new Article(1) }, serializers);
    expect(JSON.stringify(shown)).to.equal(
      '{"result":{"constructor":{"a":1},"__proto__":{"x":1}},"article":{"id":1}}',
    );
    expect(
      JSON.stringify(serializeResult(Object.assign(result, { article: new Article(1) }), serializers)),
    ).to.equal('{"constructor":{"a":1},"__proto__":{"x":1},"article":{"id":1}}');
  });

  it('hides what is excluded in a record that nobody serves', () => {
    @Table({ timestamps: false })
    class User extends Model {
      @Column(DataType.STRING) declare name: string;
      @Exclude() @Column(DataType.STRING) declare secret: string;
    }
    attach(User);
    const user = User.build({ id: 1, name: 'Ada', secret: 'x' });
    user.setDataValue('best' as never, new Article(7) as never);
    expect(serializeResult([user], serializers)).to.deep.equal([{ id: 1, name: 'Ada', best: { id: 7 } }]);
  });
});
