import { expect } from 'chai';
import { Client } from 'pg';
import type { Batch } from '../../../../src/postgres/protocol/batch.js';
import { isTraced } from '../../../../src/postgres/protocol/pg-internals.js';
import { PreparedStatement } from '../../../../src/postgres/protocol/prepared-statement.js';
import { TracedBatch } from '../../../../src/postgres/protocol/traced-batch.js';

describe('a batch that a tracer is shown', () => {
  const batch: Batch = {
    before: [],
    statement: new PreparedStatement('SELECT 1', 'one'),
    executions: [{ values: [], settle: () => {} }],
    end: () => {},
  };
  const getTypeParser = () => (text: string) => text;

  it('fails where pg keeps its queries elsewhere, instead of waiting for ever', async () => {
    const error = await new Promise<Error>((resolve) => {
      const traced = new TracedBatch({ getTypeParser, query: () => {}, connectionParameters: {} }, batch);
      traced.query({ limit: () => {}, handleError: resolve });
    });
    expect(error.message).to.include('use pg 8.23');
  });
});

describe('a tracer', () => {
  const prototype = Client.prototype as { query: unknown };
  const { query } = prototype;

  afterEach(() => {
    prototype.query = query;
  });

  /** Code as loaders make it of pg's own: the same, within something else. */
  function rewrite(head: string, tail: string): void {
    const own = Function.prototype.toString.call(query).replace(/^query/, 'function');
    prototype.query = new Function(
      `return function () { ${head} (${own}).apply(this, arguments) ${tail} }`,
    )();
  }

  it('is not seen in what pg does itself', () => expect(isTraced()).to.equal(false));

  it('is seen in a method around that of pg', () => {
    prototype.query = function traced(this: unknown, ...values: unknown[]) {
      return Reflect.apply(query as () => unknown, this, values);
    };
    expect(isTraced()).to.equal(true);
  });

  it('is seen in code of pg that it has rewritten to publish to a channel', () => {
    rewrite('return channel.start.runStores({}, () => ', ')');
    expect(isTraced()).to.equal(true);
  });

  it('is not seen in code of pg that something else has rewritten', () => {
    rewrite('counter.lines[7] += 1; return', '');
    expect(isTraced()).to.equal(false);
  });
});
