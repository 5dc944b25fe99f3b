import { expect } from 'chai';
import type { Batch } from '../../../../src/persistence/protocol/batch.js';
import { PreparedStatement } from '../../../../src/persistence/protocol/prepared-statement.js';
import { TracedBatch } from '../../../../src/persistence/protocol/traced-batch.js';

describe('a batch that a tracer is shown', () => {
  const batch: Batch = {
    statement: new PreparedStatement('SELECT 1', 'one'),
    executions: [{ values: [], settle: () => {} }],
    end: () => {},
  };
  const getTypeParser = () => (text: string) => text;

  it('fails where pg keeps its queries elsewhere, instead of waiting for ever', async () => {
    const error = await new Promise<Error>((resolve) => {
      const traced = new TracedBatch({ getTypeParser, query: () => {} }, batch);
      traced.query({ limit: () => {}, handleError: resolve });
    });
    expect(error.message).to.include('use pg 8.23');
  });
});
