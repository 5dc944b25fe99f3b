/** Long pages: the same text, in few pieces, and other work has its turn meanwhile. */
import { expect } from 'chai';
import { JsonBytes } from '../../../src/respond/json-bytes.js';
import { type PageTexts, writePage } from '../../../src/respond/page-text.js';

const REST = { items: [], total: 3, page: 1, size: 3, pages: 1, has_next: false, has_prev: false };

function textsOf(records: readonly string[], forgotten: number[] = []): PageTexts {
  return {
    size: records.length,
    write: (index) => records[index] as string,
    forget: (index) => forgotten.push(index),
  };
}

const write = (records: readonly string[], forgotten?: number[]) =>
  writePage(REST, textsOf(records, forgotten), (work) => work());

const wholeOf = (records: readonly string[]) => `{"items":[${records}]${JSON.stringify(REST).slice(11)}`;

describe('the text of a page', () => {
  it('is made at once where it is short', () => {
    expect(write(['1', '{"a":"é"}'])).to.equal(wholeOf(['1', '{"a":"é"}']));
    expect(write([])).to.equal(wholeOf([]));
  });

  it('is made of few pieces where records are short, and none of them is kept', async () => {
    const records = Array.from({ length: 20_000 }, (_, index) => `{"id":${index},"name":"é"}`);
    const forgotten: number[] = [];
    const page = await write(records, forgotten);
    if (!(page instanceof JsonBytes)) throw new TypeError('The page is a text.');
    expect(String(page)).to.equal(wholeOf(records));
    expect(page.length).to.equal(Buffer.byteLength(wholeOf(records)));
    expect(page.pieces.length).to.be.below(20);
    expect(forgotten).to.deep.equal([...records.keys()]);
  });

  it('fails as a record does', async () => {
    const records = Array.from({ length: 3 }, () => 'x'.repeat(300_000));
    const write = (index: number): string => {
      if (index === 2) throw new RangeError('no such record');
      return records[index] as string;
    };
    const page = writePage(REST, { ...textsOf(records), write }, (work) => work());
    expect(await Promise.resolve(page).catch((error: unknown) => error)).to.be.an.instanceOf(RangeError);
  });
});
