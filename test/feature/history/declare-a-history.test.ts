/** The endpoints `history` and `revert`: what keeps an application with them from starting, and the document. */
import { expect } from 'chai';
import { Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import {
  Crud,
  type CrudController,
  type CrudOptions,
  crudController,
  filter,
  Repository,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { buildApp } from '../../support/build-app.js';
import { except, UNGUARDED } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { attach } from '../../support/offline-models.js';
import { serveTestApp } from '../../support/test-app.js';

const OPTIONS = {
  can: { history: true },
  history: true,
  endpoints: ['read', 'update', 'history', 'revert'],
} satisfies CrudOptions;

@Crud({
  ...OPTIONS,
  prefix: '/rooms',
  can: { history: true, update: (request) => filter`id!=${Number(request.get('Not') ?? 0)}` },
})
@Table({ tableName: 'rooms', timestamps: false, version: true })
class Room extends NumberedRow {
  @Column(DataType.TEXT) declare name: string | null;
}

@Crud(OPTIONS)
@Table({ tableName: 'halls', timestamps: false })
class Hall extends NumberedRow {
  @Column(DataType.TEXT) declare name: string | null;
}

class ReadingHalls extends crudController(Hall) {
  override read(...given: Parameters<CrudController<Hall>['read']>) {
    return super.read(...given);
  }
}

class ClosedHalls extends Repository<Hall> {
  static override model = Hall;
  override find(...given: Parameters<Repository<Hall>['find']>) {
    return super.find(...given);
  }
}

class GuardedHalls extends crudController(ClosedHalls) {}

@Crud({ ...OPTIONS, subresources: { history: UNGUARDED } })
@Table({ tableName: 'houses', timestamps: false })
class House extends NumberedRow {
  @HasMany(() => Visit) declare history: Visit[];
}

@Crud()
@Table({ tableName: 'visits', timestamps: false })
class Visit extends NumberedRow {
  @ForeignKey(() => House) @Column(DataType.INTEGER) declare houseId: number;
}

@Crud({ can: { history: true }, endpoints: ['history'] })
@Table({ tableName: 'a', timestamps: false })
class Unstored extends NumberedRow {}

@Crud({ history: true, endpoints: ['history', 'revert'] })
@Table({ tableName: 'b', timestamps: false })
class Unruled extends NumberedRow {}

@Crud({ ...OPTIONS, history: { images: 'changed' } })
@Table({ tableName: 'c', timestamps: false })
class Partial extends NumberedRow {
  @Column(DataType.TEXT) declare skipped: string | null;
}

const REASON = 'it has a method read, with which no application has histories';

except({ session: REASON, records: REASON }).describe('the endpoints history and revert', () => {
  const site = serveTestApp(() => ({ models: [Room], bootstrap: { indexAdvice: false } }));

  it('are in the document', async () => {
    const { body } = await site.agent.get('/openapi.json');
    const { '/rooms/{id}/history': history, '/rooms/{id}/revert': revert } = body.paths;
    const { operationId, parameters, responses } = history.get;
    expect(operationId).to.equal('historyRoom');
    const names = parameters.map(({ name }: { name: string }) => name);
    expect(names).to.deep.equal(['id', 'after', 'before', 'size', 'fields']);
    const { $ref } = responses[200].content['application/json'].schema;
    expect($ref).to.equal('#/components/schemas/RoomHistory');
    const { changes } = body.components.schemas.RoomHistory.properties.items.items.properties;
    expect(Object.keys(changes.properties)).to.deep.equal(['id', 'name', 'version']);
    expect(revert.post.operationId).to.equal('revertRoom');
    const statuses = ['200', '400', '403', '404', '409', '412', '413', '415', '422'];
    expect(Object.keys(revert.post.responses)).to.include.members(statuses);
    expect(revert.post.responses[200].headers).to.have.property('ETag');
  });

  it('keep to a condition of can.update', async () => {
    await site.engine.sequelize.query(`INSERT INTO rooms VALUES (1, 'a', 0); UPDATE rooms SET name = 'b'`);
    const { body } = await site.agent.get('/rooms/1/history');
    const revert = (not: string) =>
      site.agent.post('/rooms/1/revert').set('Not', not).send({ to: body.items[1].id });
    expect((await revert('1')).status).to.equal(403);
    expect((await revert('2')).body).to.include({ name: 'a' });
  });

  it('are refused where hooks decide about records since the start', async () => {
    await site.engine.sequelize.query(`INSERT INTO rooms VALUES (2, 'a', 0)`);
    const { body } = await site.agent.get('/rooms/2/history').expect(200);
    for (const name of ['beforeFind', 'afterFind']) {
      using _hook = addedHook(Room, name);
      expect((await site.agent.get('/rooms/2/history')).status, name).to.equal(500);
      const reverted = await site.agent.post('/rooms/2/revert').send({ to: body.items[0].id });
      expect(reverted.status, name).to.equal(500);
    }
    await site.agent.get('/rooms/2/history').expect(200);
  });
});

describe('an application with histories', () => {
  const problemsOf = (options: Parameters<typeof buildApp>[0]) => configProblems(() => buildApp(options));
  const PASSED = 'a history would show what reads may hide, because';

  it('does not start without stored changes, a rule, or whole states', async () => {
    attach(Unstored, Unruled, Partial);
    const problems = (await problemsOf({ models: [Unstored, Unruled, Partial] })).join('\n');
    expect(problems).to.include(
      "Unstored: endpoints has 'history', and the changes of records are not stored",
    );
    expect(problems).to.include("Unruled: endpoints has 'history', which shows values of the past");
    expect(problems).to.include("Unruled: endpoints has 'revert', which shows values of the past");
    expect(problems).to.include("Partial: endpoints has 'revert', which needs whole states");
    expect(problems).to.include("Partial: endpoints has 'revert', whose answer has the names of lost values");
  });

  it('does not start where code of the application reads records', async () => {
    attach(Hall);
    const byMethod = await problemsOf({ models: [], controllers: [ReadingHalls] });
    expect(byMethod.join()).to.include(`${PASSED} ReadingHalls has a method read`);
    const byRepository = await problemsOf({ models: [], controllers: [GuardedHalls] });
    expect(byRepository.join()).to.include(`${PASSED} its repository has a method get or find`);
    using _hook = addedHook(Hall, 'afterFind');
    expect((await problemsOf({ models: [Hall] })).join()).to.include(
      `${PASSED} the model has a hook afterFind`,
    );
  });

  it('does not start where another route has the path, or policies judge the rows', async () => {
    attach(House, Visit, Hall);
    expect((await problemsOf({ models: [House, Visit] })).join()).to.match(
      /both answer GET \/houses\/:id\/history/,
    );
    const rls = { settings: () => ({ 'app.tenant': '1' }) };
    expect((await problemsOf({ models: [Hall], rls })).join()).to.include(
      'whose policies judge rows and no stored changes',
    );
  });
});
