// @runs once
/** Feeds that could not be judged, or whose path is taken, are refused at the start; and feeds in the document and in metrics. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import {
  BelongsTo,
  Column,
  DataType,
  DefaultScope,
  ForeignKey,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Crud, crudController, EVERYTHING, filter } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { buildApp } from '../../support/build-app.js';
import { configProblems } from '../../support/config-error.js';
import { attach } from '../../support/offline-models.js';
import { OpenStream, requestStream } from '../../support/open-stream.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ changes: true })
@Table({ tableName: 'words' })
class Word extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare word: string;
}

@Crud({ endpoints: ['list', 'changes'] })
@Table({ tableName: 'pauses' })
class Pause extends NumberedRow {}

@Crud({ endpoints: ['list', 'changes'], changes: undefined } as never)
@Table({ tableName: 'rests' })
class Rest extends NumberedRow {}

@Crud({ endpoints: ['list', 'changes'], changes: false } as never)
@Table({ tableName: 'stops' })
class Stop extends NumberedRow {}

@Crud({ changes: { path: '/_changes' }, filterAllow: ['phrase'] })
@Table({ tableName: 'phrases' })
class Phrase extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare phrase: string;
}

@Crud({ changes: true })
@Table({ tableName: 'signs' })
class Sign extends NumberedRow {}

class SignController extends crudController(Sign) {
  override list(...given: Parameters<InstanceType<ReturnType<typeof crudController<Sign>>>['list']>) {
    return super.list(...given);
  }
}

@Crud({ changes: true, history: { images: 'changed' } })
@Table({ tableName: 'marks' })
class Mark extends NumberedRow {}

@Crud({ changes: true, id: 'label', history: { exclude: ['label'] } })
@Table({ tableName: 'boxes', timestamps: false })
class Box extends NumberedRow {
  @Column({ type: DataType.UUID, allowNull: false, unique: true }) declare label: string;
}

@Crud({
  changes: true,
  visible: ({ headers }) => (headers['x-all'] ? EVERYTHING : filter`secret==false`),
  history: { exclude: ['secret', 'note'] },
  filterAllow: ['note'],
})
@Table({ tableName: 'letters', timestamps: false })
class Letter extends NumberedRow {
  @Column(DataType.BOOLEAN) declare secret: boolean;
  @Column(DataType.TEXT) declare note: string;
}

@Crud({ changes: true })
@Table({ tableName: 'found_signs' })
class FoundSign extends NumberedRow {
  static override findAll() {
    return Promise.resolve([]) as never;
  }
}

@Crud({ changes: true })
@DefaultScope(() => ({ include: [{ model: Sign, required: true }] }))
@Table({ tableName: 'joined_signs' })
class JoinedSign extends NumberedRow {
  @ForeignKey(() => Sign) @Column(DataType.INTEGER) declare signId: number;
  @BelongsTo(() => Sign) declare sign?: Sign;
}

describe('an application with feeds', () => {
  before(() => attach(Word, Stop, Sign, Mark, Box, FoundSign, JoinedSign));
  const problems = (options: object) => configProblems(() => buildApp(options));

  it('does not start where no event could be judged, or a path is taken', async () => {
    expect(await problems({ models: [Word] })).to.deep.equal([
      "Word: GET /words/changes may be the path of a record with the id 'changes', which could not be read; set changes.path to a word that no id is, such as 'all-changes'.",
    ]);
    expect(await problems({ models: [Stop] })).to.deep.equal([
      "Stop: endpoints has 'changes', and changes is false; remove one of the two.",
    ]);
    expect(await problems({ models: [Sign], controllers: [SignController] })).to.deep.equal([
      'Sign: changes would name records that the list may hide, because SignController has a method list; write the condition as scope or visible, or leave changes out.',
    ]);
    expect(await problems({ models: [Mark] })).to.deep.equal([
      'Mark: changes needs whole images to judge them; leave out history.images, or changes.',
    ]);
    expect(await problems({ models: [Box] })).to.deep.equal([
      "Box: history.exclude names 'label', which the primary key, id, scope, default scope, soft deletion, etag or history.keep needs; take it out.",
    ]);
    expect(
      await problems({ models: [Sign], rls: { settings: () => ({ 'app.tenant': '1' }) } }),
    ).to.deep.equal([
      'Sign: changes needs scope or visible beside rls, because the policies of PostgreSQL judge rows, and not the images of rows that it stores.',
    ]);
    expect(await problems({ models: [Sign], changes: { path: '/signs' } })).to.deep.equal([
      "changes.path is '/signs', where Sign may answer; use another path, such as '/all-changes'.",
    ]);
    expect(await problems({ models: [Sign], changes: { tick: 1, maxwait: 3 } })).to.deep.equal([
      "changes has no option 'maxwait'. Did you mean 'maxWait'? The options are path, tick, maxWait, heartbeat, maxAge, maxStreams.",
      'changes.tick is 1; use an integer from 50 to 10000.',
    ]);
  });

  it('does not start where code of the application chooses the rows of a list', async () => {
    const refused = (name: string) => [
      `${name}: changes cannot be, because hooks, a finder of its own or joins of a default scope choose the rows of ${name}, ` +
        'which a condition would pass by; write what they ask for as visible, or as the where of a default scope.',
    ];
    expect(await problems({ models: [FoundSign] })).to.deep.equal(refused('FoundSign'));
    expect(await problems({ models: [Sign, JoinedSign] })).to.deep.equal(refused('JoinedSign'));
    using _hook = addedHook(Sign, 'beforeFind');
    expect(await problems({ models: [Sign] })).to.deep.equal(refused('Sign'));
  });
});

describe('a feed in other places', () => {
  const site = serveTestApp(() => ({
    models: [Phrase, Letter, Pause, Rest],
    // Members that are undefined are left out.
    bootstrap: Object.assign({ metrics: true, indexAdvice: false }, {
      changes: undefined,
      history: undefined,
      problem: undefined,
    } as object),
  }));

  it('is described, with its schemas', () => {
    const { paths, components } = site.crud.openapi();
    // An option that is undefined is left out.
    expect(paths).to.include.all.keys('/pauses/changes', '/rests/changes');
    const operation = paths['/phrases/_changes']?.get;
    expect(operation?.parameters?.map(({ name }) => name)).to.deep.equal([
      'q',
      'after',
      'size',
      'wait',
      'Last-Event-ID',
    ]);
    expect(Object.keys(operation?.responses ?? {})).to.include.members(['200', '400', '410', '503']);
    const answer = operation?.responses[200] as { content: Record<string, unknown> };
    expect(Object.keys(answer.content)).to.deep.equal(['application/json', 'text/event-stream']);
    expect(components.schemas['PhraseChange']?.properties).to.have.all.keys(
      'op',
      'id',
      'at',
      'version',
      'changed',
      'request_id',
    );
    expect(components.schemas['PhraseChanges']?.required).to.deep.equal(['items', 'next_cursor', 'has_next']);
  });

  it('has no methods of a record, whose path has others', async () => {
    const { headers } = await site.agent.post('/letters/changes').send({}).expect(405);
    expect(headers['allow']).to.equal('GET, HEAD, OPTIONS');
    const options = await site.agent.options('/letters/changes').expect(204);
    expect(options.headers['allow']).to.equal('GET, HEAD, OPTIONS');
    const record = await site.agent.post('/letters/7').send({}).expect(405);
    expect(record.headers['allow']).to.equal('GET, HEAD, PATCH, DELETE, OPTIONS');
  });

  it('is there where the endpoint is named', async () => {
    await site.agent.get('/pauses/changes').expect(200);
    await site.agent.get('/pauses').expect(200);
    await site.agent.post('/pauses').send({}).expect(405);
  });

  it('is measured', async () => {
    const stream = new OpenStream(await requestStream(`${site.server.url}/phrases/_changes`));
    await stream.until(({ ids }) => ids.length > 0);
    const { text } = await site.agent.get('/metrics');
    expect(text).to.match(/^crud_changes_streams 1$/m);
    expect(text).to.match(/^crud_changes_pending 0$/m);
    expect(Number(/^crud_changes_lag_seconds (.*)$/m.exec(text)?.[1])).to.be.within(0, 2);
    stream.response.destroy();
  });

  it('judges by no value that is not stored', async () => {
    const refused = await site.agent.get('/letters/changes?q=note==x').set('X-All', '1');
    expect([refused.status, refused.body.errors?.[0]?.code]).to.deep.equal([400, 'changes.not-stored']);
    expect((await site.agent.get('/letters/changes')).status).to.equal(500);
    await site.agent.get('/letters/changes').set('X-All', '1').expect(200);
  });

  it('has no event of rows that a hook chooses since the start', async () => {
    const stream = new OpenStream(await requestStream(`${site.server.url}/phrases/_changes`));
    await stream.until(({ ids }) => ids.length > 0);
    {
      using _hook = addedHook(Phrase, 'beforeFind');
      for (const accept of ['application/json', 'text/event-stream']) {
        const { status } = await site.agent.get('/phrases/_changes?after=start').set('Accept', accept);
        expect(status, accept).to.equal(500);
      }
      await site.agent.post('/phrases').send({ phrase: 'hidden' }).expect(201);
      await delay(1_000);
      expect(stream.events).to.deep.equal([]);
    }
    stream.response.destroy();
  });

  it('is 503 while its table is not there', async () => {
    await site.engine.sequelize.query('ALTER TABLE crud_ticks RENAME TO ticks_before');
    for (const accept of ['application/json', 'text/event-stream']) {
      const { status, body } = await site.agent.get('/pauses/changes?after=start').set('Accept', accept);
      expect([status, body.detail]).to.deep.equal([503, 'Changes cannot be followed now; try again later.']);
    }
    await site.engine.sequelize.query('ALTER TABLE ticks_before RENAME TO crud_ticks');
    await site.agent.get('/pauses/changes').expect(200);
  });

  it('writes ids as paths have them', async () => {
    const { body } = await site.agent.get('/phrases/_changes').expect(200);
    await site.agent.post('/phrases').send({ phrase: 'a/b, "c"' }).expect(201);
    const page = await site.agent.get(`/phrases/_changes?wait=5&after=${body.next_cursor}`).expect(200);
    expect(page.body.items.map(({ id }: { id: string }) => id)).to.deep.equal(['a/b, "c"']);
  });
});
