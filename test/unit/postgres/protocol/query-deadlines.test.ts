/** Limits of the queries of a connection, by one timer: none ends early, and none is forgotten. */
import { once } from 'node:events';
import { expect } from 'chai';
import { QueryDeadlines } from '../../../../src/postgres/protocol/query-deadlines.js';

/** A query that ends with a limit, and the milliseconds that it had. */
class LimitedQuery extends EventTarget {
  waited: number | null = null;
  readonly #begun = performance.now();
  readonly #deadlines: QueryDeadlines;

  constructor(deadlines: QueryDeadlines, limit: number) {
    super();
    this.#deadlines = deadlines;
    deadlines.begin(this, limit);
  }

  giveUp(): void {
    this.waited = performance.now() - this.#begun;
    this.#deadlines.end(this);
    this.dispatchEvent(new Event('end'));
  }
}

describe('limits of the queries of a connection', () => {
  // The timers alone do not keep a process alive.
  let alive: NodeJS.Timeout;
  beforeEach(() => {
    alive = setInterval(() => {}, 1_000);
  });
  afterEach(() => clearInterval(alive));

  it('end what is not answered in time, and nothing else', async () => {
    const deadlines = new QueryDeadlines();
    const late = new LimitedQuery(deadlines, 40);
    const answered = new LimitedQuery(deadlines, 40);
    const later = new LimitedQuery(deadlines, 60_000);
    deadlines.end(answered);
    await once(late, 'end');
    expect(late.waited).to.be.at.least(40);
    expect([answered.waited, later.waited]).to.deep.equal([null, null]);
  });

  it('hold for a query with a shorter limit than those before it', async () => {
    const deadlines = new QueryDeadlines();
    const long = new LimitedQuery(deadlines, 60_000);
    const short = new LimitedQuery(deadlines, 20);
    await once(short, 'end');
    expect(long.waited).to.equal(null);
  });

  it('begin anew for a query behind one that was answered', async () => {
    const deadlines = new QueryDeadlines();
    const answered = new LimitedQuery(deadlines, 40);
    deadlines.end(answered);
    const next = new LimitedQuery(deadlines, 80);
    const last = new LimitedQuery(deadlines, 120);
    await Promise.all([once(next, 'end'), once(last, 'end')]);
    expect(next.waited).to.be.at.least(80);
    expect(last.waited).to.be.at.least(120);
    expect(answered.waited).to.equal(null);
  });
});
