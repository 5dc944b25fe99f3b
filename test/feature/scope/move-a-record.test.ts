/** Writes of a record's own methods stay in the scope of the request, wherever the record came from; else nothing is committed. */
import { expect } from 'chai';
import { Get, JsonController, Param, Post } from 'routing-controllers';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, type Model, Table } from 'sequelize-typescript';
import {
  Crud,
  type CrudContext,
  crudController,
  dbSession,
  InjectRecord,
  InjectRepository,
  InjectUnitOfWork,
  type ReadQuery,
  type Repository,
  type UnitOfWork,
  type UpdateValues,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

@Crud()
@Table({ tableName: 'folders', createdAt: false, updatedAt: false, paranoid: true })
class Folder extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
  @HasMany(() => Note) declare notes?: Note[];
}

@Crud({ include: { folder: UNGUARDED }, endpoints: ['list', 'read', 'create', 'update', 'delete'] })
@Table({ tableName: 'notes', createdAt: false, updatedAt: false, paranoid: true })
class Note extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
  @Column(DataType.STRING(20)) declare text: string | null;
  @ForeignKey(() => Folder) @Column(DataType.INTEGER) declare folderId: number | null;
  @BelongsTo(() => Folder) declare folder?: Folder;
}

/** A model without a scope, with a reference to one that has a scope. */
@Crud({ prefix: '/links' })
@Table({ tableName: 'links', timestamps: false })
class Link extends NumberedRow {
  @ForeignKey(() => Folder) @Column(DataType.INTEGER) declare folderId: number | null;
}

/** Code of the application's, by the text that a request sends. */
type Work = (record: Note, context: { readonly repository: Repository<Note> }) => unknown;

const MOVES: Readonly<Record<string, Work>> = {
  update: (note) => note.update({ tenant: 2 }),
  save: (note) => {
    note.tenant = 2;
    return note.save();
  },
  'save of some': (note) => note.set('tenant', 2).save({ fields: ['tenant'] }),
  increment: (note) => note.increment('tenant'),
  'increment by': (note) => note.increment({ tenant: 1 }),
  decrement: (note) => note.decrement('tenant', { by: -1 }),
  'without hooks': (note) => note.update({ tenant: 2 }, { hooks: false, validate: false }),
  'a copy': (note) => {
    note.isNewRecord = true;
    note.set({ id: 50, tenant: 2 }, { raw: true });
    return note.save();
  },
  'two at a time': (note) => Promise.all([note.update({ text: 'x' }), note.update({ tenant: 2 })]),
  'another record of a list': async (_note, { repository }) => {
    const [, other] = await repository.list();
    return other?.update({ tenant: 2 });
  },
  'another record of a page': async (_note, { repository }) => {
    const { items } = await repository.page({ page: 1, size: 5 });
    return items[1]?.update({ tenant: 2 });
  },
  'a record that it created': async (_note, { repository }) => {
    const made = await repository.create({ tenant: 1, text: 'made' });
    return made.update({ tenant: 2 });
  },
  'a record that it changed': async (note, { repository }) => {
    const changed = await repository.update(note.id, { text: 'changed' });
    return changed.increment('tenant');
  },
  'a record that was loaded along': async (note, { repository }) => {
    const { folder } = await repository.get(note.id, { include: ['folder'] });
    return folder?.update({ tenant: 2 });
  },
  'a record that a list has loaded along': async (_note, { repository }) => {
    const [first] = await repository.list({ include: ['folder'] });
    return first?.folder?.update({ tenant: 2 });
  },
  'a record that a getter has loaded': async (note) => {
    const folder = await note.$get('folder');
    return folder?.update({ tenant: 2 });
  },
  'a record of several that a getter has loaded': async (note) => {
    const folder = await note.$get('folder');
    const [, other] = (await folder?.$get('notes', { order: ['id'] })) ?? [];
    return other?.increment('tenant');
  },
  'a record that a reload has loaded along': async (note) => {
    await note.reload({ include: [Folder] });
    return note.folder?.update({ tenant: 2 });
  },
  'a record that a session has read': async ({ id }, { repository }) => {
    const note = await dbSession(() => repository.get(id));
    return note.update({ tenant: 2 });
  },
  'a record of a list that a session has read': async (_note, { repository }) => {
    const [, other] = await dbSession(() => repository.list());
    return other?.increment('tenant');
  },
  'a record of a page that a session has read': async (_note, { repository }) => {
    const { items } = await dbSession(() => repository.page({ page: 1, size: 5, include: ['folder'] }));
    return items[1]?.folder?.update({ tenant: 2 });
  },
  'a deleted record': async (note, { repository }) => {
    await note.destroy();
    const gone = await repository.get(note.id, { deleted: 'only' });
    gone.tenant = 2;
    return gone.restore();
  },
};

const REFERENCES: Readonly<Record<string, Work>> = {
  update: (note) => note.update({ folderId: 2 }),
  increment: (note) => note.increment('folderId'),
  'a relation': (note) => note.$set('folder', Folder.build({ id: 2 }, { isNewRecord: false })),
  'a deleted row': (note) => note.update({ folderId: 3 }),
};

const ALLOWED: Readonly<Record<string, Work>> = {
  update: (note) => note.update({ text: 'y' }),
  'a reference': (note) => note.update({ folderId: 4 }),
  'no reference': (note) => note.update({ folderId: null }),
  'what it has': (note) => note.update({ tenant: 1, folderId: 1 }),
  'a delete and a restore': async (note) => {
    await note.destroy();
    await note.restore();
  },
  'a reload': (note) => note.reload(),
};

let work: Work = () => {};

class NoteController extends crudController(Note) {
  override async update(id: number, _values: UpdateValues<Note>, { repository }: CrudContext<Note>) {
    const note = await repository.get(id);
    await work(note, { repository });
    return note;
  }

  @Post('/:id/injected')
  async injected(@InjectRecord() note: Note, @InjectRepository(Note) repository: Repository<Note>) {
    await work(note, { repository });
    return note;
  }

  @Post('/:id/caught')
  async caught(@InjectRecord() note: Note, @InjectRepository(Note) repository: Repository<Note>) {
    await Promise.resolve(work(note, { repository })).catch(() => {});
    return { caught: true };
  }

  @Post('/:id/unit')
  async unit(@Param('id') id: number, @InjectUnitOfWork() unit: UnitOfWork) {
    const repository = unit.repository(Note);
    const note = await repository.get(id);
    const tried = unit.savepoint(async () => work(note, { repository }));
    return tried.then(
      () => ({ undone: false }),
      async () => {
        await repository.update(id, { text: 'after' });
        return { undone: true };
      },
    );
  }

  override async read(id: number, query: ReadQuery, context: CrudContext<Note>) {
    const note = await super.read(id, query, context);
    await work(note, context);
    return note;
  }

  @Get('/:id/own')
  async own(@InjectRecord() note: Note, @InjectRepository(Note) repository: Repository<Note>) {
    await work(note, { repository });
    return note;
  }
}

@JsonController('/plain')
class PlainController {
  /** In no unit of work. */
  @Post('/:id')
  async write(@Param('id') id: number, @InjectRepository(Note) repository: Repository<Note>) {
    const note = await repository.get(id);
    await work(note, { repository });
    return {};
  }
}

class LinkController extends crudController(Link) {
  override async update(id: number, { folderId }: UpdateValues<Link>, context: CrudContext<Link>) {
    const link = await super.update(id, {}, context);
    return link.update({ folderId });
  }
}

describe('a record that code moves', () => {
  const site = serveTestApp(() => ({
    models: [Folder, Note, Link],
    bootstrap: {
      controllers: [NoteController, PlainController, LinkController],
      scope: { tenant: (request) => Number(request.get('tenant') ?? 1) },
      logger: new CapturedLog(),
      indexAdvice: false,
    },
    minPool: 2,
  }));

  const query = (text: string) => site.engine.sequelize.query(text);

  beforeEach(() =>
    query(`
      TRUNCATE notes, folders, links RESTART IDENTITY CASCADE;
      INSERT INTO folders (tenant, "deletedAt") VALUES (1, NULL), (2, NULL), (1, now()), (1, NULL);
      INSERT INTO notes (tenant, text, "folderId") VALUES (1, 'a', 1), (1, 'b', 1), (2, 'theirs', 2);
      INSERT INTO links ("folderId") VALUES (1)`),
  );

  async function stored(): Promise<unknown> {
    const [notes] = await query('SELECT id, tenant, text, "folderId" AS folder FROM notes ORDER BY id');
    const [folders] = await query('SELECT DISTINCT tenant FROM folders WHERE id <> 2');
    return [...notes, ...folders];
  }

  const AS_BEFORE = [
    { id: 1, tenant: 1, text: 'a', folder: 1 },
    { id: 2, tenant: 1, text: 'b', folder: 1 },
    { id: 3, tenant: 2, text: 'theirs', folder: 2 },
    { tenant: 1 },
  ];

  const SENDS = {
    'in an override': () => site.agent.patch('/notes/1').send({ text: 'x' }),
    'that is injected': () => site.agent.post('/notes/1/injected'),
    'in a method that catches it': () => site.agent.post('/notes/1/caught'),
    'in no unit of work': () => site.agent.post('/plain/1'),
  };

  for (const [place, send] of Object.entries(SENDS)) {
    it(`[U2] is 500, and stays, ${place}`, async () => {
      for (const [name, move] of Object.entries(MOVES)) {
        // Others write once more by themselves.
        if (place === 'in no unit of work' && / |^save of/.test(name)) continue;
        work = move;
        expectProblem(await send(), 500, { detail: 'Internal Server Error' });
        expect(await stored(), name).to.deep.equal(AS_BEFORE);
      }
    });

    it(`is refused as a reference to no row, ${place}`, async () => {
      for (const [name, move] of Object.entries(REFERENCES)) {
        work = move;
        const { status, body } = await send();
        if (place.includes('catches')) expect(status, name).to.equal(500);
        else {
          expect(status, name).to.equal(409);
          work = (note) => note.update({ folderId: 99 });
          expect(body, name).to.deep.equal((await send()).body);
        }
        expect(await stored(), name).to.deep.equal(AS_BEFORE);
      }
    });

    it(`is written where it stays, ${place}`, async () => {
      for (const [name, change] of Object.entries(ALLOWED)) {
        work = change;
        expect((await send()).status, name).to.be.oneOf([200, 201]);
      }
      expect(await stored()).to.deep.equal([
        { id: 1, tenant: 1, text: 'y', folder: 1 },
        ...AS_BEFORE.slice(1),
      ]);
    });
  }

  it('is undone with its savepoint, and the unit goes on', async () => {
    for (const move of [MOVES['update'], REFERENCES['update']] as Work[]) {
      work = move;
      expect((await site.agent.post('/notes/1/unit')).body).to.deep.equal({ undone: true });
    }
    const [first, ...others] = AS_BEFORE;
    expect(await stored()).to.deep.equal([{ ...first, text: 'after' }, ...others]);
  });

  it('[U2] is not moved by a GET, and not written by a generated one', async () => {
    for (const write of [MOVES['update'], MOVES['increment'], ALLOWED['update']] as Work[]) {
      work = write;
      expect((await site.agent.get('/notes/1')).status).to.equal(500);
      if (write !== ALLOWED['update']) expect((await site.agent.get('/notes/1/own')).status).to.equal(500);
      expect(await stored()).to.deep.equal(AS_BEFORE);
    }
  });

  it('is 404 where another request has moved it, and is not written', async () => {
    for (const [name, write] of Object.entries({
      update: (note: Note) => note.update({ text: 'z' }),
      destroy: (note: Note) => note.destroy({ force: true }),
      reload: (note: Note) => note.reload(),
      increment: (note: Note) => note.increment('tenant'),
    })) {
      work = async (note) => {
        await note.sequelize.query('UPDATE notes SET tenant = 2 WHERE id = 1', { transaction: null });
        return write(note);
      };
      const answer = await site.agent.patch('/notes/1').send({ text: 'x' });
      expectProblem(answer, 404, { detail: 'There is no Note with this id.' });
      const [[row]] = await query('SELECT tenant, text FROM notes WHERE id = 1');
      expect(row, name).to.deep.equal({ tenant: 2, text: 'a' });
      await query('UPDATE notes SET tenant = 1 WHERE id = 1');
    }
  });

  it('is 404 where the record names the row of another tenant', async () => {
    work = (note) => {
      note.dataValues.id = 3;
      return note.update({ text: 'mine' });
    };
    expect((await site.agent.patch('/notes/1').send({ text: 'x' })).status).to.equal(404);
    expect(await stored()).to.deep.equal(AS_BEFORE);
  });

  it('leaves the scope where the code says so', async () => {
    work = async (note, { repository }) => (await repository.unscoped().get(note.id)).update({ tenant: 2 });
    expect((await site.agent.post('/notes/1/injected')).status).to.equal(200);
    expect(await stored()).to.deep.include({ id: 1, tenant: 2, text: 'a', folder: 1 });
  });

  for (const hook of ['beforeUpdate', 'afterUpdate', 'beforeCreate'] as const) {
    it(`refers to no row of others where a hook says so: ${hook}`, async () => {
      const write = async (link: Model) => {
        if (hook === 'afterUpdate') await link.update({ folderId: 2 }, { hooks: false });
        else link.set('folderId', 2);
      };
      await withHook(Link, hook, write, async () => {
        const { agent } = site;
        const send = { path: '/links', body: { folderId: 4 } };
        const answer = await (hook === 'beforeCreate'
          ? agent.post(send.path).send(send.body)
          : agent.patch(`${send.path}/1`).send(send.body));
        expect(answer.status).to.equal(409);
        const [links] = await query('SELECT id, "folderId" AS folder FROM links');
        expect(links).to.deep.equal([{ id: 1, folder: 1 }]);
      });
    });
  }

  it('refers to rows in the scope of their model, where its own has none', async () => {
    const change = async (folderId: number | null) =>
      (await site.agent.patch('/links/1').send({ folderId })).status;
    expect([await change(2), await change(3), await change(9)]).to.deep.equal([409, 409, 409]);
    expect([await change(4), await change(null), await change(1)]).to.deep.equal([200, 200, 200]);
  });
});
