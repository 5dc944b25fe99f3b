/** The rows of large results keep their values, whatever they are kept as. */
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { array, assert, constantFrom, nat, oneof, property, string } from 'fast-check';
import { ArrivingRows } from '../../../../src/postgres/protocol/arriving-rows.js';
import type { TextRow } from '../../../../src/postgres/protocol/batch.js';
import { MAX_RESULT } from '../../../../src/postgres/protocol/large-result.js';
import type { DriverClient } from '../../../../src/postgres/protocol/pg-internals.js';

/** A client, as far as rows need it. */
function arriving(): ArrivingRows {
  const client = { connection: { stream: new PassThrough() } };
  return new ArrivingRows(client as unknown as DriverClient, 'SELECT');
}

const bytesOf = (row: TextRow) => row.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);

describe('rows of a result of many bytes', () => {
  const value = oneof(
    constantFrom(null, '', 'a', 'é', '漢'.repeat(700), 'x'.repeat(5_000)),
    string({ unit: 'grapheme', maxLength: 200 }),
  );

  it('have the values that arrived, however often they are read', () => {
    assert(
      property(array(array(value, { maxLength: 6 }), { maxLength: 40 }), nat(400_000), (rows, before) => {
        const found = arriving();
        // Rows of other results of the query do not count.
        found.add(['1'], before);
        expect(found.take()).to.have.length(1);
        found.add(['y'.repeat(300_000)], 300_000);
        for (const row of rows) found.add(row, bytesOf(row));
        const [, ...taken] = found.take() ?? [];
        found.end();
        for (const _ of [1, 2]) expect(taken.map((row) => [...row])).to.deep.equal(rows);
      }),
    );
  });

  it('are kept as bytes from the first 256 kB on, where they are large', () => {
    const found = arriving();
    for (let index = 0; index < 4; index += 1) found.add(['z'.repeat(100_000)], 100_000);
    found.add(['short'], 5);
    const isText = (row: TextRow) => 'value' in (Object.getOwnPropertyDescriptor(row, '0') ?? {});
    expect(found.take()?.map(isText)).to.deep.equal([true, true, false, false, true]);
    found.end();
  });

  it('are not looked at when the query was given up', () => {
    const found = arriving();
    found.add(['a'], 400_000);
    found.end();
    for (const bytes of [1, 400_000]) found.add(['late'.repeat(1_000)], bytes);
    expect(found.take()).to.deep.equal([]);
  });

  it('are given up by the execution that has too many, and not by the next one', () => {
    const found = arriving();
    found.add(['x'.repeat(300_000)], MAX_RESULT + 1);
    found.add(['a'], 1);
    expect(found.take()).to.equal(null);
    found.add(['b'], 1);
    expect(found.take()).to.deep.equal([['b']]);
    found.end();
  });
});
