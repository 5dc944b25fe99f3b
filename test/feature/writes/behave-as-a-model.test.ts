/** Clients side by side send random requests of every kind, and each answer equals that of a model in memory. */
// @runs fast

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Column, DataType, DeletedAt, Model, PrimaryKey, Table } from 'sequelize-typescript';
import type supertest from 'supertest';
import { Crud } from '../../../src/index.js';
import { EVERY_ENDPOINT } from '../../models/endpoints.js';
import { except, OF_MANY } from '../../support/combination.js';
import { type Dice, dice } from '../../support/dice.js';
import { serveTestApp, type TestApp } from '../../support/test-app.js';

@Crud({
  prefix: '/leaves',
  endpoints: EVERY_ENDPOINT,
  filterAllow: ['owner', 'rank'],
  sortAllow: ['id'],
  can: { deleted: true },
})
@Table({
  tableName: 'leaves',
  version: true,
  paranoid: true,
  timestamps: true,
  createdAt: false,
  updatedAt: false,
})
class Leaf extends Model {
  @PrimaryKey @Column(DataType.UUID) declare id: string;
  @Column({ type: DataType.STRING(20), allowNull: false }) declare owner: string;
  @Column({ type: DataType.STRING(80), allowNull: false }) declare title: string;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare rank: number;

  declare version: number;

  @DeletedAt declare deletedAt: Date | null;
}

/** A record of the client's own, as the client remembers it. */
interface Known {
  readonly id: string;
  owner: string;
  title: string;
  rank: number;
  version: number;
  isDeleted: boolean;
}

/** Unicode of every kind, and signs of SQL, JSON and prototypes. */
const TITLES = [
  "'; --",
  '$1',
  '%_\\',
  '{"a":1}',
  '𝄞 é ß',
  '__proto__',
  'null',
  '',
  ' x ',
  '١٢',
  '\u2028',
  '<b>&',
];
const CLIENTS = 6;
const STEPS = Number(process.env['CRUD_TEST_STEPS'] ?? 60);
const SEED = Number(process.env['CRUD_TEST_SEED'] ?? Date.now() % 1e9);
type Answer = supertest.Response;

/** One client: its records, and the requests that it can send. */
class Client {
  readonly known = new Map<string, Known>();
  increments = 0;
  readonly #app: TestApp;
  readonly #name: string;
  readonly #dice: Dice;
  readonly #shared: string;

  constructor(app: TestApp, name: string, random: Dice, shared: string) {
    this.#app = app;
    this.#name = name;
    this.#dice = random;
    this.#shared = shared;
  }

  /** Sends a random request, and expects the answer of the model. */
  async step(): Promise<void> {
    const steps = [
      () => this.#create(),
      () => this.#read(),
      () => this.#update(),
      () => this.#replace(),
      () => this.#remove(),
      () => this.#restore(),
      () => this.#purge(),
      () => this.#list(),
      () => this.#createMany(),
      () => this.#updateMany(),
      () => this.#changeByFilter(),
      () => this.#increment(),
    ];
    await this.#dice.pick(steps)();
  }

  get #alive(): Known[] {
    return [...this.known.values()].filter(({ isDeleted }) => !isDeleted);
  }

  /** Any id: of a record, of one that is deleted, of none. */
  #anyId(): string {
    return this.#dice.once(8) ? randomUUID() : (this.#dice.pick([...this.known.keys()]) ?? randomUUID());
  }

  #values() {
    return { owner: this.#name, title: this.#dice.pick(TITLES), rank: this.#dice.roll(4) };
  }

  #expectRecord({ body }: Answer, { isDeleted, ...known }: Known): void {
    const { deletedAt, ...shown } = body;
    expect(shown).to.deep.equal(known);
    if (isDeleted) expect(deletedAt).to.be.a('string');
    else expect(deletedAt).to.equal(null);
  }

  #learn(id: string, { owner, title, rank }: Omit<Known, 'id' | 'version' | 'isDeleted'>): Known {
    const known = { id, owner, title, rank, version: 0, isDeleted: false };
    this.known.set(id, known);
    return known;
  }

  async #create(): Promise<void> {
    const values = { id: randomUUID(), ...this.#values() };
    const key = randomUUID();
    const send = () => this.#app.agent.post('/leaves').set('Idempotency-Key', key).send(values);
    const [first, second] = this.#dice.once(2) ? await Promise.all([send(), send()]) : [await send(), null];
    const answers = second ? [first, second] : [first];
    const made = answers.find(({ status }) => status === 201);
    expect(made, first?.text).to.not.equal(undefined);
    // The second of two at the same time waits for the first, or gets a 409.
    for (const { status, text } of answers) expect([201, 409], text).to.include(status);
    for (const { status, body } of answers) if (status === 201) expect(body).to.deep.equal(made?.body);
    this.#expectRecord(made as Answer, this.#learn(values.id, values));
  }

  async #read(): Promise<void> {
    const id = this.#anyId();
    const known = this.known.get(id);
    const answer = await this.#app.agent.get(`/leaves/${id}`);
    expect(answer.status).to.equal(known && !known.isDeleted ? 200 : 404);
    if (answer.status === 200) {
      this.#expectRecord(answer, known as Known);
      // The part behind a dot is that of values that code of the user's has made of the row.
      expect(answer.headers['etag']).to.match(new RegExp(`^"${known?.version}[."]`));
    }
  }

  async #update(): Promise<void> {
    const id = this.#anyId();
    const known = this.known.get(id);
    const { owner: _, ...values } = this.#values();
    const isWrong = this.#dice.once(3);
    const request = this.#app.agent.patch(`/leaves/${id}`).send(values);
    const tag = isWrong ? '"999"' : `"${known?.version}"`;
    const answer = await (this.#dice.once(2) || isWrong ? request.set('If-Match', tag) : request);
    if (!known || known.isDeleted) expect(answer.status).to.equal(404);
    else if (isWrong) {
      expect(answer.status).to.equal(412);
      expect(answer.headers['etag']).to.match(new RegExp(`^"${known.version}[."]`));
    } else {
      expect(answer.status, answer.text).to.equal(200);
      this.#change(known, values);
      this.#expectRecord(answer, known);
    }
  }

  /** A change that changes nothing does not count. */
  #change(known: Known, values: Partial<Pick<Known, 'title' | 'rank'>>): void {
    const isSame = Object.entries(values).every(([name, value]) => known[name as 'title'] === value);
    Object.assign(known, values);
    if (!isSame) known.version += 1;
  }

  async #replace(): Promise<void> {
    const known = this.#dice.once(2) ? this.#dice.pick(this.#alive) : undefined;
    const { rank: _, ...values } = this.#values();
    const id = known?.id ?? randomUUID();
    const answer = await this.#app.agent.put(`/leaves/${id}`).send(values);
    expect(answer.status, answer.text).to.equal(known ? 200 : 201);
    const replaced = { ...values, rank: 0 };
    if (known) this.#change(known, replaced);
    this.#expectRecord(answer, known ?? this.#learn(id, replaced));
  }

  async #remove(): Promise<void> {
    const id = this.#anyId();
    const known = this.known.get(id);
    const { status } = await this.#app.agent.delete(`/leaves/${id}`);
    expect(status).to.equal(known && !known.isDeleted ? 204 : 404);
    if (known) known.isDeleted = true;
    await this.#relearn(known);
  }

  async #restore(): Promise<void> {
    const id = this.#anyId();
    const known = this.known.get(id);
    const { status, text } = await this.#app.agent.post(`/leaves/${id}/restore`);
    expect(status, text).to.equal(known ? (known.isDeleted ? 200 : 409) : 404);
    if (known) known.isDeleted = false;
    await this.#relearn(known);
  }

  async #purge(): Promise<void> {
    const id = this.#anyId();
    const known = this.known.get(id);
    const { status, text } = await this.#app.agent.delete(`/leaves/${id}/purge`);
    expect(status, text).to.equal(known ? (known.isDeleted ? 204 : 409) : 404);
    if (known?.isDeleted) this.known.delete(id);
  }

  /** The version alone: this test does not check that a deletion is a change of the record. */
  async #relearn(known: Known | undefined): Promise<void> {
    if (!known) return;
    const answer = await this.#app.agent.get(`/leaves/${known.id}?deleted=with`).expect(200);
    expect(answer.body.version).to.be.within(known.version, known.version + 1);
    known.version = answer.body.version;
    this.#expectRecord(answer, known);
  }

  async #list(): Promise<void> {
    const deleted = this.#dice.pick(['', '&deleted=with', '&deleted=only'] as const);
    const path = `/leaves?q=owner==${this.#name}&sort=id&size=100${deleted}`;
    const { body } = await this.#app.agent.get(path).expect(200);
    const isShown = ({ isDeleted }: Known) => deleted === '&deleted=with' || isDeleted === (deleted !== '');
    const expected = [...this.known.values()].filter(isShown).map(({ id }) => id);
    expect(body.items.map(({ id }: { id: string }) => id)).to.deep.equal(expected.sort().slice(0, 100));
    expect(body.total).to.equal(expected.length);
  }

  async #createMany(): Promise<void> {
    const isWrong = this.#dice.once(3);
    const items: object[] = Array.from({ length: 1 + this.#dice.roll(4) }, () => ({
      id: randomUUID(),
      ...this.#values(),
    }));
    if (isWrong)
      items.splice(this.#dice.roll(items.length + 1), 0, {
        id: randomUUID(),
        owner: this.#name,
        title: null,
      });
    const { status, body, text } = await this.#app.agent.post('/leaves').send(items);
    expect(status, text).to.equal(isWrong ? 422 : 201);
    if (isWrong) return;
    items.forEach((values, index) => {
      this.#expectRecord(
        { body: body.items[index] } as Answer,
        this.#learn(body.items[index].id, values as Known),
      );
    });
  }

  async #updateMany(): Promise<void> {
    const chosen = this.#dice.some(this.#alive, 1, 4);
    if (chosen.length === 0) return;
    const isWrong = this.#dice.once(3);
    const rank = this.#dice.roll(4);
    const items = chosen.map(({ id, version }) => ({ id, version, rank }));
    if (isWrong) items.push({ id: randomUUID(), version: 0, rank });
    const { status, body, text } = await this.#app.agent.patch('/leaves').send(items);
    expect(status, text).to.equal(isWrong ? 404 : 200);
    if (isWrong) return;
    chosen.forEach((known, index) => {
      this.#change(known, { rank });
      this.#expectRecord({ body: body.items[index] } as Answer, known);
    });
  }

  async #changeByFilter(): Promise<void> {
    const rank = this.#dice.roll(4);
    const found = this.#alive.filter((known) => known.rank === rank);
    const path = `/leaves?q=owner==${this.#name};rank==${rank}`;
    const isDryRun = this.#dice.once(3);
    const dryRun = isDryRun ? '&dry_run=true' : '';
    if (this.#dice.once(2)) {
      const { body } = await this.#app.agent.delete(`${path}${dryRun}`).expect(200);
      expect(body).to.deep.equal({ affected: found.length });
      if (isDryRun) return;
      for (const known of found) {
        known.isDeleted = true;
        await this.#relearn(known);
      }
    } else {
      const title = this.#dice.pick(TITLES);
      const { body } = await this.#app.agent.patch(`${path}${dryRun}`).send({ title }).expect(200);
      expect(body).to.deep.equal({ affected: found.length });
      if (!isDryRun) for (const known of found) await this.#relearnTitle(known, title);
    }
  }

  /** A statement for many may count a change that changes nothing. */
  async #relearnTitle(known: Known, title: string): Promise<void> {
    known.title = title;
    await this.#relearn(known);
  }

  /** Changes a record that all clients change: none of their changes may be lost. */
  async #increment(): Promise<void> {
    for (;;) {
      const { body, headers } = await this.#app.agent.get(`/leaves/${this.#shared}`).expect(200);
      const { status } = await this.#app.agent
        .patch(`/leaves/${this.#shared}`)
        .set('If-Match', headers['etag'] as string)
        .send({ rank: body.rank + 1 });
      if (status === 200) break;
      expect(status).to.equal(412);
    }
    this.increments += 1;
  }
}

except(OF_MANY).describe(`Clients side by side (seed ${SEED}, ${STEPS} steps)`, function () {
  this.timeout(STEPS * 2_000);
  const app = serveTestApp(() => ({
    models: [Leaf],
    bootstrap: { idempotency: { principal: () => 'all' } },
  }));

  it('are answered as a model in memory says', async () => {
    const shared = await app.agent
      .post('/leaves')
      .send({ id: randomUUID(), owner: 'all', title: 'shared' })
      .expect(201);
    const names = Array.from({ length: CLIENTS }, (_, index) => `client-${index}`);
    const clients = names.map((name, index) => new Client(app, name, dice(SEED + index), shared.body.id));
    const ends = await Promise.allSettled(
      clients.map(async (client) => {
        for (let step = 0; step < STEPS; step += 1) await client.step();
      }),
    );
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    const rows = await Leaf.findAll({ paranoid: false, raw: true });
    const own = rows
      .filter(({ owner }) => owner !== 'all')
      .map(({ deletedAt, ...row }) => ({ ...row, isDeleted: deletedAt !== null }));
    const expected = clients.flatMap(({ known }) => [...known.values()]);
    expect(own).to.have.deep.members(expected);
    const increments = clients.reduce((total, client) => total + client.increments, 0);
    expect(rows.find(({ owner }) => owner === 'all')?.rank).to.equal(increments);
  });
});
