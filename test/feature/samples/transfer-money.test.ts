/** The sample `unit-of-work`, as its user meets it: a process, and a hundred clients at once who lose no money. */
// @runs fast
import { join } from 'node:path';
import { expect } from 'chai';
import { forSuite } from '../../support/for-suite.js';
import { freshDatabase } from '../../support/postgres.js';
import { Program } from '../../support/program.js';

const MAIN = join(__dirname, '../../../sample/unit-of-work/main.js');
const ACCOUNTS = 5;
const BALANCE = 200;

/** An answer as the client receives it. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
}

describe('the sample unit-of-work', () => {
  const database = forSuite(() => freshDatabase('bank'));
  const bank = forSuite(
    () => new Program([MAIN], { env: { ...process.env, DATABASE_URL: database.url, PORT: '0' } }),
  );
  let base: string;

  const send = async (path: string, body: object): Promise<Answer> => {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(`${base}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  };
  const balances = async (): Promise<number[]> => {
    const response = await fetch(`${base}/accounts?size=100`);
    const { items } = (await response.json()) as { items: { balance: number }[] };
    return items.map(({ balance }) => balance);
  };
  const transferTotal = async (): Promise<number> => {
    const response = await fetch(`${base}/transfers?size=1`);
    return ((await response.json()) as { total: number }).total;
  };

  before(async () => {
    await bank.untilPrinted('Ctrl-C closes it.');
    base = /http:\/\/localhost:\d+/.exec(bank.output)?.[0] ?? '';
    for (let account = 1; account <= ACCOUNTS; account += 1) {
      await send('/accounts', { owner: `Owner ${account}`, balance: BALANCE });
    }
  });

  it('moves money, and refuses what cannot be moved', async () => {
    const made = await send('/accounts/1/transfers', { to: 2, amount: 50 });
    expect(made).to.deep.equal({ status: 201, body: { id: 1, fromId: 1, toId: 2, amount: 50 } });
    expect(await send('/accounts/2/transfers', { to: 1, amount: 251 })).to.deep.equal({
      status: 409,
      body: { detail: 'There is not enough money in the account.' },
    });
    expect((await send('/accounts/1/transfers', { to: 99, amount: 1 })).status).to.equal(404);
    expect((await send('/accounts/1/transfers', { to: 2, amount: -1 })).status).to.equal(422);
    expect((await send('/accounts/2/transfers', { to: 1, amount: 50 })).status).to.equal(201);
    expect(await balances()).to.deep.equal(Array(ACCOUNTS).fill(BALANCE));
  });

  it('loses no money under a hundred clients at once', async () => {
    const before = await transferTotal();
    const transfers = Array.from({ length: 100 }, (_, client) => {
      const from = (client % ACCOUNTS) + 1;
      const to = ((client * 3 + 1 + (client % 2)) % ACCOUNTS) + 1;
      return { from, to: to === from ? (from % ACCOUNTS) + 1 : to, amount: (client * 37) % 90 || 1 };
    });
    const answers = await Promise.all(
      transfers.map(({ from, to, amount }) => send(`/accounts/${from}/transfers`, { to, amount })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made.length).to.be.greaterThan(20);
    expect(answers.filter(({ status }) => status === 409)).to.have.length(100 - made.length);

    const after = await balances();
    expect(after.reduce((sum, balance) => sum + balance)).to.equal(ACCOUNTS * BALANCE);
    expect(after.filter((balance) => balance < 0)).to.deep.equal([]);
    expect((await transferTotal()) - before).to.equal(made.length);

    const expected = Array(ACCOUNTS).fill(BALANCE);
    answers.forEach(({ status }, client) => {
      const transfer = transfers[client];
      if (status !== 201 || !transfer) return;
      expected[transfer.from - 1] -= transfer.amount;
      expected[transfer.to - 1] += transfer.amount;
    });
    expect(after).to.deep.equal(expected);
    expect(bank.output.match(/ -> /g)).to.have.length(made.length + 2);
  });

  it('stops when it is told to', async () => {
    expect(await bank.end('SIGINT')).to.equal(0);
  });
});
