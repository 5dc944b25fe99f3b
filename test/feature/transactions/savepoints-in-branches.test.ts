/** Savepoints in branches of one unit of work: each undoes its own work, and forgets no failure of another branch. */
import { expect } from 'chai';
import { Post } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  type CreateValues,
  Crud,
  crudController,
  InjectUnitOfWork,
  Repository,
  type UnitOfWork,
  unitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { deferred } from '../../support/deferred.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'accounts', timestamps: false })
class Account extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare balance: number;
}

@Crud()
@Table({ tableName: 'tags', timestamps: false })
class Tag extends NumberedRow {
  @Column({ type: DataType.STRING(10), allowNull: false, unique: true }) declare text: string;
}

@Crud({ endpoints: ['list', 'read', 'create', 'createMany'] })
@Table({ tableName: 'notes', timestamps: false })
class Note extends NumberedRow {
  @Column({ type: DataType.STRING(10), allowNull: false, unique: true }) declare text: string;
}

const accounts = new Repository(Account);
const tags = new Repository(Tag);
const notes = new Repository(Note);

/** Work of the route in its unit. */
let work: (uow: UnitOfWork) => Promise<unknown> = async () => {};

class AccountController extends crudController(Account) {
  @Post('/work')
  async work(@InjectUnitOfWork() uow: UnitOfWork) {
    await work(uow);
    return { done: true };
  }
}

const rows = (...all: string[]) => all.map((text) => ({ text })) as CreateValues<Tag & Note>[];
const refused = async () => {
  throw new RangeError('refused');
};

class NoteController extends crudController(Note) {
  override async create(values: CreateValues<Note>) {
    const { text } = values as { text: string };
    const note = await notes.create(values);
    await Promise.all([
      tags.importRows(rows(`${text}-tag`, `${text}-tag-2`), { atomic: false }),
      text === 'fail' ? notes.get(0) : null,
    ]);
    return note;
  }
}

describe('savepoints in branches of one unit of work', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Account, Tag, Note],
    bootstrap: { models: [Tag], controllers: [AccountController, NoteController], logger },
  }));

  const balance = async () => (await accounts.get(1)).balance;
  const texts = async (model: typeof Tag | typeof Note) =>
    (await model.findAll({ order: ['text'] })).map(({ text }) => text);
  const send = (branches: typeof work) => {
    work = branches;
    return site.agent.post('/accounts/work');
  };

  beforeEach(async () => {
    logger.clear();
    await emptyTables(site, 'accounts', 'tags', 'notes');
    await accounts.create({ balance: 100 });
    await notes.create({ text: 'there' });
  });

  for (const [what, end] of [
    ['is undone', refused],
    ['succeeds', async () => {}],
  ] as const) {
    it(`commit no half of a unit inside that has failed beside one that ${what}`, async () => {
      const updated = deferred();
      const isOpen = deferred();
      const hasFailed = deferred();
      let outcomes: readonly PromiseSettledResult<unknown>[] = [];
      const answer = await send(async (uow) => {
        const half = async () => {
          await accounts.update(1, { balance: 0 });
          updated.resolve();
          await isOpen.promise;
          await refused();
        };
        const other = async () => {
          isOpen.resolve();
          await hasFailed.promise;
          await end();
        };
        outcomes = await Promise.allSettled([
          unitOfWork(half).finally(hasFailed.resolve),
          updated.promise.then(() => uow.savepoint(other)),
        ]);
      });
      expect(answer.status).to.equal(500);
      expect(logger.text).to.include('savepoint').and.include('refused');
      expect(await balance()).to.equal(100);
      expect(outcomes[1]).to.have.property('status', end === refused ? 'rejected' : 'fulfilled');
    });
  }

  it('forget no callback of another branch', async () => {
    const updated = deferred();
    const isOpen = deferred();
    const isAdded = deferred();
    const last = deferred();
    const seen: string[] = [];
    await send(async (uow) => {
      const failing = async () => {
        uow.afterCommit(() => seen.push('undone'));
        uow.transaction.afterCommit(() => void seen.push('undone of the transaction'));
        isOpen.resolve();
        await isAdded.promise;
        await refused();
      };
      const other = async () => {
        await accounts.update(1, { balance: 50 });
        updated.resolve();
        await isOpen.promise;
        uow.afterCommit(() => seen.push('other'));
        uow.transaction.afterCommit(() => void seen.push('other of the transaction'));
        isAdded.resolve();
      };
      await Promise.allSettled([other(), updated.promise.then(() => uow.savepoint(failing))]);
      uow.transaction.afterCommit(() => last.resolve());
    }).expect(200);
    await last.promise;
    expect(seen).to.deep.equal(['other', 'other of the transaction']);
    expect(await balance()).to.equal(50);
  });

  const NEW = ['a', 'b', 'c', 'd'];
  const MIXED = rows('e', 'there', 'f');
  for (const [order, importBoth] of [
    ['at once', () => [tags.importRows(rows(...NEW)), notes.importRows(MIXED, { atomic: false })]],
    [
      'behind a read',
      () => [
        tags.importRows(rows(...NEW)),
        notes.get(1).then(() => notes.importRows(MIXED, { atomic: false })),
      ],
    ],
    [
      'the other way round',
      () => [
        notes.importRows(MIXED, { atomic: false }),
        notes.get(1).then(() => tags.importRows(rows(...NEW), { atomic: false })),
      ],
    ],
  ] as const) {
    it(`keep the rows of an import beside one of whose rows is refused, ${order}`, async () => {
      await send(() => Promise.all(importBoth())).expect(200);
      expect(await texts(Tag)).to.deep.equal(NEW);
      expect(await texts(Note)).to.deep.equal(['e', 'f', 'there']);
    });

    it(`do so in a savepoint, ${order}`, async () => {
      await send((uow) => uow.savepoint(() => Promise.all(importBoth()))).expect(200);
      expect(await texts(Tag)).to.deep.equal(NEW);
      expect(await texts(Note)).to.deep.equal(['e', 'f', 'there']);
    });
  }

  it('take turns where code opens them itself', async () => {
    await send(async (uow) => {
      const add = (text: string, end: () => Promise<void>) => async () => {
        await tags.create({ text });
        await notes.create({ text });
        await end();
      };
      const outcomes = await Promise.allSettled([
        uow.savepoint(add('a', async () => {})),
        uow.savepoint(add('b', refused)),
        uow.savepoint(add('c', async () => {})),
      ]);
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    }).expect(200);
    expect(await texts(Tag)).to.deep.equal(['a', 'c']);
    expect(await texts(Note)).to.deep.equal(['a', 'c', 'there']);
  });

  it('are undone as a whole behind an import that their code has not awaited', async () => {
    const outcome = deferred<unknown>();
    await send(async (uow) => {
      const error = await caughtError(() =>
        uow.savepoint(async () => {
          await tags.create({ text: 'a' });
          const all = notes.importRows(rows('b', 'c'), { atomic: false });
          all.then(outcome.resolve, outcome.resolve);
          await Promise.all([all, accounts.get(1).then(refused)]);
        }),
      );
      expect(error).to.be.instanceOf(RangeError);
      await outcome.promise;
      await tags.create({ text: 'z' });
    }).expect(200);
    expect(await texts(Tag)).to.deep.equal(['z']);
    expect(await texts(Note)).to.deep.equal(['there']);
  });

  const writers: readonly (readonly [string, (text: string, uow: UnitOfWork) => Promise<unknown>])[] = [
    ['a repository', (text) => notes.create({ text })],
    ['a repository of the unit', (text, uow) => uow.repository(Note).create({ text })],
    ['a model', (text) => Note.create({ text })],
    ['a unit inside', (text) => unitOfWork((inner) => inner.repository(Note).create({ text }))],
    ['an import', (text) => notes.importRows(rows(text))],
  ];
  for (const [whose, add] of writers)
    it(`have ${whose} write nothing in a branch that goes on after they were undone`, async () => {
      const isUndone = deferred();
      await send(async (uow) => {
        let late: Promise<unknown> = isUndone.promise;
        await caughtError(() =>
          uow.savepoint(async () => {
            await add('half', uow);
            late = isUndone.promise.then(() => notes.get(1)).then(() => add('late', uow));
            late.catch(() => {});
            await refused();
          }),
        );
        isUndone.resolve();
        expect(String(await caughtError(() => late)))
          .to.include('savepoint')
          .and.include('rolled back');
        await add('kept', uow);
        await uow.savepoint(() => add('last', uow));
      }).expect(200);
      expect(await texts(Note)).to.deep.equal(['kept', 'last', 'there']);
    });

  it('undo a record of many, all that its method has written', async () => {
    const sent = await site.agent.post('/notes?atomic=false').send(rows('a', 'fail', 'b'));
    expect(sent.status).to.equal(207);
    expect(sent.body.items?.map(({ status }: { status: number }) => status)).to.deep.equal([201, 404, 201]);
    expect(await texts(Note)).to.deep.equal(['a', 'b', 'there']);
    expect(await texts(Tag)).to.deep.equal(['a-tag', 'a-tag-2', 'b-tag', 'b-tag-2']);
  });
});
