import { Readable } from 'node:stream';
import { expect } from 'chai';
import { type SerializerRegistry, serializeResult } from '../../../src/respond/result-serializer.js';

class Article {
  constructor(readonly id: number) {}
  readonly secret = 'x';
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
});
