/** The requests of the benchmark. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CONTENDERS } from '../../bench/contenders.js';
import { EACH_ROW, FRESH_KEY, FRESH_NUMBER, ROWS } from '../../bench/load/article.js';
import type { Ask, Call } from '../../bench/load/call.js';
import { WORKLOADS } from '../../bench/load/workloads.js';
import { BENCH } from '../../bench/paths.js';

/** Answers at once, always with a cursor of a next page. */
const ask: Ask = async () => ({ status: 200, headers: new Headers(), body: { next_cursor: 'cursor' } });

const ids = (calls: readonly Call[]): unknown[] =>
  calls.map(({ path }) => /^\/articles\/(\d+)(?:,\w+)?$/.exec(path)?.[1]);
const bodies = (calls: readonly Call[]): unknown[] => calls.map(({ body }) => body);

describe('workloads of the benchmark', () => {
  for (const workload of WORKLOADS) {
    it(`asks everybody for the same rows, and sends the same values: ${workload.name}`, async () => {
      const all = await Promise.all(CONTENDERS.map(({ wire }) => workload.calls(wire, ask)));
      const [first = [], ...others] = all;
      expect(first).to.not.be.empty;
      for (const calls of others) {
        expect(ids(calls)).to.deep.equal(ids(first));
        expect(bodies(calls)).to.deep.equal(bodies(first));
      }
    });
  }

  it('writes only where the table is put right afterwards', async () => {
    for (const { calls, writes } of WORKLOADS) {
      const methods = (await calls((CONTENDERS[0] as (typeof CONTENDERS)[0]).wire, ask)).map(
        ({ method }) => method,
      );
      expect(methods.some((method) => method !== 'GET')).to.equal(writes);
    }
  });

  it('marks what is fresh in each request, as the load generator knows it', () => {
    const script = readFileSync(join(BENCH, 'load/load.lua'), 'utf8');
    for (const mark of [FRESH_NUMBER, EACH_ROW, FRESH_KEY]) expect(script).to.include(`text = "${mark}"`);
    expect(script).to.include(`local ROWS = ${ROWS}`);
  });

  it('is explained in the README, as the contenders are', () => {
    const readme = readFileSync(join(BENCH, 'README.md'), 'utf8');
    for (const { name } of [...WORKLOADS, ...CONTENDERS]) expect(readme).to.include(`\`${name}\``);
  });
});
