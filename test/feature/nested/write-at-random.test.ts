/** Random changes of orders with their lines, against an oracle in plain JavaScript. */
import { expect } from 'chai';
import { type Dice, dice } from '../../support/dice.js';
import { describeNested, emptyOrders, serveOrders } from '../../support/nested-orders.js';
import { wholeOr } from '../../support/short.js';

interface Row {
  id: number;
  orderId: number;
  position: number;
  qty: number;
  version: number;
  discounts: { id: number; percent: number }[];
}

interface Book {
  readonly versions: Map<number, number>;
  readonly rows: Map<number, Row>;
  lines: number;
  discounts: number;
}

/** A line as a request names it. */
interface Item {
  id?: number;
  version?: number;
  position?: number;
  qty?: number;
  productId?: number;
  discounts?: unknown;
}

describeNested('nested writes at random', () => {
  const { site, query } = serveOrders();

  const percents = (random: Dice) =>
    Array.from({ length: random.roll(3) }, () => ({ percent: random.roll(100) }));

  /** @returns a body, and whether it is right */
  function change(random: Dice, book: Book, orderId: number) {
    const own = [...book.rows.values()].filter((row) => row.orderId === orderId);
    const others = [...book.rows.values()].filter((row) => row.orderId !== orderId);
    const create: Item[] = Array.from({ length: random.roll(3) }, () => ({
      productId: 1,
      position: random.roll(1_000_000),
      qty: random.roll(9),
      discounts: percents(random),
    }));
    const named = random.some(own, 0, 4);
    const removed = named.splice(0, random.roll(3));
    const update: Item[] = named.map(({ id, version, discounts }) => {
      const gone = random.some(discounts, 0, 1);
      const kept = discounts.filter((each) => !gone.includes(each));
      return {
        id,
        ...(random.once(3) ? { version } : {}),
        ...(random.once(4) ? {} : { qty: random.roll(9) }),
        ...(random.once(2)
          ? {
              discounts: {
                create: percents(random),
                update: random.some(kept, 0, 1).map((each) => ({ id: each.id, percent: random.roll(100) })),
                delete: gone.map((each) => each.id),
              },
            }
          : {}),
      };
    });
    const remove: unknown[] = removed.map(({ id, version }) =>
      random.pick([id, String(id), { id }, { id, version }]),
    );
    let isRight = true;
    const foreign = others.length > 0 && random.once(6) ? random.pick(others) : null;
    if (foreign) {
      isRight = false;
      if (random.once(2)) update.push({ id: foreign.id, qty: 1 });
      else remove.push(foreign.id);
    }
    if (named[0] && random.once(8)) {
      isRight = false;
      (update[0] as Item).version = named[0].version + 1;
    }
    return { lines: { create, update, delete: remove }, isRight, removed };
  }

  function apply(book: Book, orderId: number, { lines, removed }: ReturnType<typeof change>): void {
    const { create, update } = lines;
    if (create.length + update.length + removed.length === 0) return;
    book.versions.set(orderId, (book.versions.get(orderId) ?? 0) + 1);
    for (const { id } of removed) book.rows.delete(id);
    const added: { readonly row: Row; readonly percents: readonly { readonly percent: number }[] }[] = [];
    for (const { id, qty, discounts } of update) {
      const row = book.rows.get(id as number) as Row;
      const parts = discounts as
        | { create: { percent: number }[]; update: { id: number; percent: number }[]; delete: number[] }
        | undefined;
      const isTouched = parts && parts.create.length + parts.update.length + parts.delete.length > 0;
      if (isTouched || (qty !== undefined && qty !== row.qty)) row.version += 1;
      if (qty !== undefined) row.qty = qty;
      row.discounts = row.discounts.filter((each) => !parts?.delete.includes(each.id));
      for (const each of parts?.update ?? []) {
        const known = row.discounts.find((other) => other.id === each.id);
        if (known) known.percent = each.percent;
      }
      added.push({ row, percents: parts?.create ?? [] });
    }
    const made = create.map(({ position = 0, qty = 1, discounts }) => {
      book.lines += 1;
      const row: Row = { id: book.lines, orderId, position, qty, version: 0, discounts: [] };
      book.rows.set(row.id, row);
      return { row, percents: discounts as { percent: number }[] };
    });
    for (const { row, percents: some } of [...added, ...made])
      for (const { percent } of some) {
        book.discounts += 1;
        row.discounts.push({ id: book.discounts, percent });
      }
  }

  for (let seed = 1; seed <= wholeOr(4, 40); seed += 1) {
    it(`leave what the oracle has, with the seed ${seed}`, async () => {
      const random = dice(seed);
      await emptyOrders(site);
      await query(`INSERT INTO orders ("tenantId", customer, version) VALUES (1, 'a', 0), (1, 'b', 0)`);
      const book: Book = {
        versions: new Map([
          [1, 0],
          [2, 0],
        ]),
        rows: new Map(),
        lines: 0,
        discounts: 0,
      };
      for (let step = 0; step < 12; step += 1) {
        const orderId = 1 + random.roll(2);
        const body = change(random, book, orderId);
        const answer = await site.agent
          .patch(`/orders/${orderId}`)
          .set('tenant', '1')
          .send({ lines: body.lines });
        const isDone = answer.status === 200;
        expect(isDone, JSON.stringify({ step, body, answer: answer.body })).to.equal(body.isRight);
        if (!isDone) {
          expect([404, 412]).to.include(answer.status);
          // Sequences do not go back.
          const [row] = await query<{ lines: number; discounts: number }>(
            `SELECT (SELECT CASE WHEN is_called THEN last_value ELSE 0 END::int FROM lines_id_seq) AS lines,
               (SELECT CASE WHEN is_called THEN last_value ELSE 0 END::int FROM discounts_id_seq) AS discounts`,
          );
          Object.assign(book, row);
          continue;
        }
        apply(book, orderId, body);
        const rows = [...book.rows.values()].filter((row) => row.orderId === orderId);
        const shown = answer.body.lines.items.map(({ id, qty, version }: Row) => ({ id, qty, version }));
        expect(shown, `step ${step}`).to.have.deep.members(
          rows.map(({ id, qty, version }) => ({ id, qty, version })),
        );
      }
      const stored = await query<{ id: number; orderId: number; qty: number; version: number }>(
        'SELECT id, "orderId", qty, version FROM lines ORDER BY id',
      );
      const expected = [...book.rows.values()].map(({ id, orderId, qty, version }) => ({
        id,
        orderId,
        qty,
        version,
      }));
      expect(stored).to.deep.equal(expected.sort((one, other) => one.id - other.id));
      const discounts = await query('SELECT id, "lineId", percent FROM discounts ORDER BY id');
      const all = [...book.rows.values()].flatMap((row) =>
        row.discounts.map(({ id, percent }) => ({ id, lineId: row.id, percent })),
      );
      expect(discounts).to.deep.equal(all.sort((one, other) => one.id - other.id));
      expect(await query('SELECT id, version FROM orders ORDER BY id')).to.deep.equal(
        [...book.versions].map(([id, version]) => ({ id, version })),
      );
    });
  }
});
