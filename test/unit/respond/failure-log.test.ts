import { expect } from 'chai';
import { FailureLog } from '../../../src/respond/failure-log.js';
import { CapturedLog, type LogLine } from '../../support/captured-log.js';
import { FakeClock } from '../../support/fake-clock.js';

function writing(): { readonly log: FailureLog; readonly lines: readonly LogLine[] } {
  const logger = new CapturedLog();
  return { log: new FailureLog(logger), lines: logger.lines };
}

/** The messages and details of lines. */
const told = (lines: readonly LogLine[]) => lines.map(({ message, details }) => [message, { ...details }]);

class Refused extends Error {
  override readonly name = 'ConnectionRefusedError';
}

describe('the log of failed requests', () => {
  const failure = { route: 'GET /towns', requestId: 'a', status: 503, reason: new Refused() };

  it('[F17] tells the first of a kind at once, with its stack, and the others as a number once a second', async () => {
    using clock = new FakeClock();
    const { log, lines } = writing();
    for (let index = 0; index < 1_000; index += 1) log.add({ ...failure, requestId: `${index}` });
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]?.details).to.include({ requestId: '0', status: 503, error: 'ConnectionRefusedError' });
    expect(lines[0]?.details['stack']).to.be.a('string');
    await clock.advance(1_000);
    expect(told(lines.slice(1))).to.deep.equal([
      [
        'GET /towns (999): 999 more requests failed in a second',
        { status: 503, error: 'ConnectionRefusedError', count: 999 },
      ],
    ]);
  });

  it('goes on to tell once a second for as long as requests fail, and begins anew after a second without', async () => {
    using clock = new FakeClock();
    const { log, lines } = writing();
    for (let second = 0; second < 3; second += 1) {
      log.add(failure);
      log.add(failure);
      await clock.advance(1_000);
    }
    expect(lines.map(({ message }) => message)).to.deep.equal([
      'GET /towns failed',
      'GET /towns (1): 1 more request failed in a second',
      'GET /towns (2): 2 more requests failed in a second',
      'GET /towns (2): 2 more requests failed in a second',
    ]);
    await clock.advance(1_000);
    log.add(failure);
    expect(lines.at(-1)?.message).to.equal('GET /towns failed');
    expect(clock.timersOf('failure-log')).to.equal(1);
    await clock.advance(2_000);
    expect(clock.timersOf('failure-log')).to.equal(0);
  });

  it('tells another reason at once', () => {
    using _clock = new FakeClock();
    const { log, lines } = writing();
    log.add(failure);
    log.add({ ...failure, reason: new Error('other') });
    log.add({ ...failure, status: 504 });
    for (const code of ['57P01', '53300']) {
      log.add({ ...failure, reason: Object.assign(new Refused(), { parent: { code } }) });
    }
    expect(lines).to.have.lengthOf(5);
  });

  it('names the routes of an outage, those that failed most often first', async () => {
    using clock = new FakeClock();
    const { log, lines } = writing();
    const reason = new Error('connect ECONNREFUSED');
    for (let route = 0; route < 8; route += 1)
      for (let count = 0; count <= route; count += 1) log.add({ ...failure, route: `GET /${route}`, reason });
    await clock.advance(1_000);
    expect(told(lines.slice(1))).to.deep.equal([
      [
        'GET /7 (8), GET /6 (7), GET /5 (6), GET /4 (5), GET /3 (4) and 2 more routes: 35 more requests failed in a second',
        { status: 503, error: 'Error', reason: 'connect ECONNREFUSED', count: 35 },
      ],
    ]);
  });

  it('counts what fails by the same mistake on the same route, and tells its reason', async () => {
    using clock = new FakeClock();
    const { log, lines } = writing();
    const dropped = Object.assign(new Error('column "name" does not exist'), {
      severity: 'ERROR',
      code: '42703',
    });
    const other = new TypeError('nothing is a function');
    for (const route of ['GET /towns', 'POST /towns'])
      for (const reason of [dropped, other])
        for (let count = 0; count < 4; count += 1) log.add({ ...failure, status: 500, route, reason });
    // The first of each kind, with its stack.
    expect(lines.map(({ message }) => message)).to.deep.equal([
      'GET /towns failed',
      'GET /towns failed',
      'POST /towns failed',
      'POST /towns failed',
    ]);
    await clock.advance(1_000);
    const details = { status: 500, count: 3 };
    const column = { ...details, error: 'Error', code: '42703', reason: 'column "name" does not exist' };
    const mistake = { ...details, error: 'TypeError', reason: 'nothing is a function' };
    expect(told(lines.slice(4))).to.deep.equal([
      ['GET /towns (3): 3 more requests failed in a second', column],
      ['GET /towns (3): 3 more requests failed in a second', mistake],
      ['POST /towns (3): 3 more requests failed in a second', column],
      ['POST /towns (3): 3 more requests failed in a second', mistake],
    ]);
  });
});
