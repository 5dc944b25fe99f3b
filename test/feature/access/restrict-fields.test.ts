/** Rules of attributes, for reads and writes: `fields` of `@Crud`, on every route and path. */
// @runs fast
import { expect } from 'chai';
import { Allow } from 'class-validator';
import type { Request, Response } from 'express';
import {
  type Action,
  Body,
  Get,
  type InterceptorInterface,
  JsonController,
  Res,
  UseInterceptor,
} from 'routing-controllers';
import { Column, DataType, HasMany, Model, PrimaryKey, Table } from 'sequelize-typescript';
import {
  type BootstrapOptions,
  Crud,
  type CrudContext,
  crudController,
  type Id,
  InjectListQuery,
  InjectRecord,
  InjectRepository,
  InjectUnitOfWork,
  type ListQuery,
  type ModelClass,
  type ReadQuery,
  type Repository,
  type UnitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { ApiContract } from '../../support/api-contract.js';
import { except } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { passingController } from '../../support/passing-controllers.js';
import { SqlLog } from '../../support/sql-log.js';
import { ask, TwoPaths, type WholeRequest } from '../../support/two-paths.js';

/** A role is a word of a header. Some rules answer at once, and others later. */
const is = (role: string) => (request: Request) => request.get('role')?.split(',').includes(role) ?? false;
const isLater = (role: string) => async (request: Request) => is(role)(request);

@Crud({
  prefix: '/people',
  filterAllow: ['name', 'salary', 'note'],
  sortAllow: ['id', 'name', 'salary'],
  fields: {
    salary: { read: isLater('hr'), write: is('hr') },
    note: { read: is('hr') },
    status: { create: isLater('staff'), update: is('staff') },
    badge: { create: is('staff') },
    grade: { create: is('staff') },
  },
})
@Table({
  tableName: 'people',
  timestamps: false,
  indexes: [{ name: 'people_name_salary', unique: true, fields: ['name', 'salary'] }],
})
class Person extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
  @Column(DataType.INTEGER) declare salary: number | null;
  @Column({ type: DataType.TEXT, unique: true }) declare note: string | null;
  @Column({ type: DataType.TEXT, allowNull: false, defaultValue: 'new' }) declare status: string;
  @Column({ type: DataType.TEXT, allowNull: false }) declare badge: string;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare grade: number;
}

const readOnly = (attribute: string) => ({
  pointer: `/${attribute}`,
  code: 'readOnly',
  detail: `${attribute} cannot be set.`,
});

/** A model that no route serves. */
@Table({ tableName: 'badges', timestamps: false })
class Badge extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare badge: string;

  @HasMany(() => Person, { foreignKey: 'badge', sourceKey: 'badge', constraints: false })
  declare people: Person[];
}

class Overriding extends passingController(crudController(Person)) {
  override async read(id: Id, query: ReadQuery, context: CrudContext<Person>) {
    const person = await super.read(id, query, context);
    // Code of the server sees everything.
    expect(person.salary).to.be.a('number');
    return person;
  }

  @Get('/of/own')
  own(@InjectListQuery() query: OffsetListQuery, @InjectRepository(Person) people: Repository<Person>) {
    return people.page(query);
  }

  @Get('/:id/card')
  card(@InjectRecord() person: Person) {
    return { of: person };
  }

  @Get('/of/pages')
  pages(@InjectRepository(Person) people: Repository<Person>) {
    return people.page({ page: 1, size: 1 });
  }
}

const CALLED = 'an override is called, which sees all of them';

type OffsetListQuery = Extract<ListQuery, { kind: 'offset' }>;

class Seeing implements InterceptorInterface {
  intercept({ response }: Action, result: object) {
    response.setHeader('X-Seen', JSON.stringify(result).includes('"salary"') ? 'salary' : 'nothing');
    return result;
  }
}

@UseInterceptor(Seeing)
class Intercepted extends crudController(Person) {}

class InUnit extends crudController(Person) {
  override async list(query: ListQuery, _context: CrudContext<Person>, @InjectUnitOfWork() uow?: UnitOfWork) {
    return (uow as UnitOfWork).repository(Person).page(query as OffsetListQuery);
  }
}

@JsonController('/other')
class Other {
  @Get('/people')
  people(@InjectRepository(Person) people: Repository<Person>) {
    return people.list();
  }

  @Get('/page')
  async page(@InjectRepository(Person) people: Repository<Person>) {
    return { about: await people.page({ page: 1, size: 2 }) };
  }

  @Get('/badges')
  badges() {
    return Badge.findAll({ include: [{ model: Person }] });
  }

  @Get('/by-hand')
  async byHand(@InjectRepository(Person) people: Repository<Person>, @Res() response: Response) {
    return response.json({ first: await people.get(1) });
  }

  @Get('/of-model')
  async ofModel(@Res() response: Response) {
    return response.json({ first: await Person.findByPk(1) });
  }
}

const WHOLE = { id: 1, name: 'Ada', salary: 30, note: 'n1', status: 'new', badge: 'b1', grade: 1 };
const SHOWN = { id: 1, name: 'Ada', status: 'new', badge: 'b1', grade: 1 };

const VARIANTS: Readonly<Record<string, BootstrapOptions>> = {
  'generated routes': {},
  overrides: { controllers: [Overriding] },
  'routes with an interceptor': { controllers: [Intercepted] },
  'routes in a unit of work': { controllers: [InUnit] },
};

for (const [name, bootstrap] of Object.entries(VARIANTS)) {
  describe(`attributes with rules, on ${name}`, () => {
    const sql = new SqlLog();
    const paths = forSuite(() =>
      TwoPaths.start({
        models: [Person, Badge] as ModelClass[],
        bootstrap: {
          models: [Person] as ModelClass[],
          ...bootstrap,
          controllers: [...(bootstrap.controllers ?? []), Other],
        },
        engine: { logging: sql.record },
      }),
    );

    beforeEach(undo);

    async function undo(): Promise<void> {
      await Person.destroy({ truncate: true, restartIdentity: true });
      const people = ['Ada', 'Bo', 'Cy'].map((each, index) => ({
        name: each,
        salary: index < 2 ? 30 : 28,
        note: `n${index + 1}`,
        badge: `b${index + 1}`,
        grade: 1,
      }));
      await Person.bulkCreate(people);
      await Badge.bulkCreate([{ badge: 'b1' }], { ignoreDuplicates: true });
    }

    async function send(path: string, role: string, more: Partial<WholeRequest> = {}) {
      const writes = more.body !== undefined;
      const answer = await paths.same({ path, headers: { role }, ...more }, writes ? undo : undefined);
      return { ...answer, json: answer.body === '' ? null : JSON.parse(answer.body) };
    }

    it('are absent from answers that may not have them', async () => {
      expect((await send('/people/1', 'hr')).json).to.deep.equal(WHOLE);
      expect((await send('/people/1', '')).json).to.deep.equal(SHOWN);
      expect((await send('/people?size=1', 'hr')).json.items).to.deep.equal([WHOLE]);
      expect((await send('/people?size=1', '')).json.items).to.deep.equal([SHOWN]);
      const change = { method: 'PATCH', body: { name: 'Ava' } };
      expect((await send('/people/1', 'hr', change)).json).to.deep.equal({ ...WHOLE, name: 'Ava' });
      expect((await send('/people/1', '', change)).json).to.deep.equal({ ...SHOWN, name: 'Ava' });
      const created = await send('/people', 'staff', {
        method: 'POST',
        body: { name: 'Di', badge: 'x', grade: 2 },
      });
      expect(created.json).to.deep.equal({ id: 4, name: 'Di', status: 'new', badge: 'x', grade: 2 });
      expect(created.headers).to.include('Location: /people/4');
      if (name === 'routes with an interceptor') {
        expect(created.headers).to.include('X-Seen: nothing');
        expect((await send('/people/1', 'hr')).headers).to.include('X-Seen: salary');
      }
      expect((await send('/people/1', '', { method: 'HEAD' })).body).to.equal('');
    });

    it('[C3] are unknown to fields, sort and q', async () => {
      const role = 'staff';
      for (const [of, known] of [
        ['/people?fields=', 'id, name, status, badge, grade.'],
        ['/people/1?fields=', 'id, name, status, badge, grade.'],
        ['/people?sort=', 'id, name.'],
        ['/people?sort=-', 'id, name.'],
      ] as const) {
        const refused = await send(`${of}salary`, role);
        const unknown = await send(`${of}nosuch`, role);
        expect(refused.status).to.equal(400);
        expect(refused.body).to.equal(unknown.body.replaceAll('nosuch', 'salary'));
        expect(refused.json.errors[0].detail).to.contain(known);
      }
      const refused = await send('/people?q=salary==30,note==n1', role);
      const unknown = await send('/people?q=nosuch==30,nope==n1', role);
      expect(refused.status).to.equal(400);
      expect(refused.json.errors[0].allowed).to.deep.equal(['name']);
      // The positions differ with the lengths of names.
      expect(refused.body).to.equal(unknown.body.replaceAll('nosuch', 'salary').replaceAll('nope', 'note'));
      expect((await send('/people?q=salry==1', role)).body).not.to.contain('salary');
      const { json: paid } = await send('/people?fields=salary&sort=salary&q=salary<30', 'hr');
      expect(paid.items).to.deep.equal([{ salary: 28 }]);
      const { json: ada } = await send('/people/1?fields=name,badge', '');
      expect(ada).to.deep.equal({ name: 'Ada', badge: 'b1' });
    });

    it('[C4] are refused where the request may not set them, and never dropped', async () => {
      const body = { name: 'Di', salary: 1, status: 'x', badge: 'x' };
      const created = await send('/people', '', { method: 'POST', body });
      expect(created.status).to.equal(422);
      expect(created.json.errors).to.deep.equal([readOnly('salary'), readOnly('status'), readOnly('badge')]);
      const changed = await send('/people/1', '', { method: 'PATCH', body });
      expect(changed.json.errors).to.deep.equal([readOnly('salary'), readOnly('status')]);
      expect((await send('/people/1', 'hr,staff', { method: 'PATCH', body })).json).to.deep.equal({
        ...WHOLE,
        ...body,
      });
      const unknown = await send('/people/1', '', { method: 'PATCH', body: { stattus: 1 } });
      expect(unknown.json.errors[0].detail).to.equal(
        'There is no such property. The properties are name, note, badge, grade.',
      );
    });

    it('are named where a row needs one that the request may not set', async () => {
      const { status, json } = await send('/people', '', { method: 'POST', body: { name: 'Di' } });
      expect(status).to.equal(422);
      const detail = 'badge is required, and this request may not set it.';
      expect(json.errors).to.deep.equal([{ pointer: '/badge', code: 'readOnly', detail }]);
    });

    it('[G3] are not named by a conflict, unless they were sent', async () => {
      const note = await send('/people/2', '', { method: 'PATCH', body: { note: 'n1' } });
      expect(note.status).to.equal(409);
      expect(note.json.errors[0].pointer).to.equal('/note');
      const same = { method: 'PATCH', body: { name: 'Bo' } };
      const { json } = await send('/people/1', '', same);
      expect(json.errors).to.have.length(1);
      expect(json.errors[0]).to.include({ pointer: '/name', code: 'unique' });
      const told = await send('/people/1', 'hr', same);
      const pointers = told.json.errors.map(({ pointer }: { pointer: string }) => pointer);
      expect(pointers).to.deep.equal(['/name', '/salary']);
    });

    if (name === 'overrides') {
      it('are absent from pages and records of added routes, and unknown to their queries', async () => {
        expect((await send('/people/of/own?size=1', '')).json.items).to.deep.equal([SHOWN]);
        expect((await send('/people/of/own?size=1', 'hr')).json.items).to.deep.equal([WHOLE]);
        const { json: own } = await send('/people/of/own?size=1&fields=name,salary', 'hr');
        expect(own.items).to.deep.equal([{ name: 'Ada', salary: 30 }]);
        expect((await send('/people/of/own?sort=salary', '')).status).to.equal(400);
        expect((await send('/people/of/own?q=salary==30', '')).status).to.equal(400);
        expect((await send('/people/of/pages', '')).json.items).to.deep.equal([SHOWN]);
        expect((await send('/people/1/card', '')).json).to.deep.equal({ of: SHOWN });
        expect((await send('/people/1/card', 'hr')).json).to.deep.equal({ of: WHOLE });
      });
    }

    if (name === 'generated routes') {
      it('are absent from answers of routes of the user, and of other controllers', async () => {
        expect((await send('/other/people', 'hr')).json[0]).to.deep.equal(WHOLE);
        expect((await send('/other/people', '')).json[0]).to.deep.equal(SHOWN);
        expect((await send('/other/page', '')).json.about.items[0]).to.deep.equal(SHOWN);
        expect((await send('/other/page', 'hr')).json.about.items[0]).to.deep.equal(WHOLE);
        const badges = (people: object) => [{ badge: 'b1', people: [people] }];
        expect((await send('/other/badges', '')).json).to.deep.equal(badges(SHOWN));
        expect((await send('/other/badges', 'hr')).json).to.deep.equal(badges(WHOLE));
        // `response.json` does not wait for a rule that returns a promise.
        expect((await send('/other/by-hand', 'hr')).json.first).to.include({ id: 1, note: 'n1' });
        expect((await send('/other/by-hand', '')).json.first).to.deep.equal(SHOWN);
        // No repository has evaluated the rule before.
        expect((await send('/other/of-model', 'hr')).json.first).to.deep.equal(SHOWN);
        expect((await send('/other/of-model', '')).json.first).to.deep.equal(SHOWN);
      });

      it('are optional in the document, and the answers are as it says', async () => {
        const { agent } = paths.site;
        const contract = new ApiContract((await agent.get('/openapi.json')).body);
        const { PersonRead, PersonCreate, PersonUpdate } = contract.schemas;
        expect(PersonRead?.required).to.deep.equal(['id', 'name', 'status', 'badge', 'grade']);
        const { salary } = PersonRead?.properties ?? {};
        expect(salary?.description).to.equal('Absent where the request may not read it.');
        expect(PersonCreate?.required).to.deep.equal(['name']);
        const { badge } = PersonCreate?.properties ?? {};
        expect(badge?.description).to.equal('Refused where the request may not set it.');
        expect(PersonUpdate?.properties?.['badge']).not.to.have.property('description');
        const statuses = (id: string) => Object.keys(contract.operations.get(id)?.operation.responses ?? {});
        expect(statuses('listPeople')).not.to.include('403');
        for (const role of ['', 'hr', 'staff', 'hr,staff']) {
          contract.check('listPeople', await agent.get('/people').set('role', role));
          contract.check('readPerson', await agent.get('/people/1').set('role', role));
          contract.check('createPerson', await agent.post('/people').set('role', role).send({ name: 'x' }));
          const updated = await agent.patch('/people/2').set('role', role).send({ salary: 3 });
          contract.check('updatePerson', updated);
        }
      });

      except({ session: CALLED, records: CALLED }).it('are not selected by our SQL', async () => {
        const { statements } = await sql.duringRequest(() =>
          ask(paths.fast, { path: '/people/1', headers: { role: '' } }),
        );
        expect(statements).to.have.length(1);
        expect(statements[0]).not.to.contain('salary');
      });
    }
  });
}

/** Its class has all of them. */
class AnyMedal {
  @Allow() declare owner?: string;
  @Allow() declare level?: number;
}

@Crud({ fields: { level: { write: isLater('staff') } } })
@Table({ tableName: 'medals', timestamps: false })
class Medal extends NumberedRow {
  @Column(DataType.TEXT) declare owner: string | null;
  @Column(DataType.INTEGER) declare level: number | null;
}

class MedalController extends crudController(Medal) {
  override create(@Body() values: AnyMedal, context: CrudContext<Medal>) {
    return super.create(values, context);
  }
  override update(id: Id, @Body() values: AnyMedal, context: CrudContext<Medal>) {
    return super.update(id, values, context);
  }
}

describe('rules of fields, where parameters of the user read the body', () => {
  it('refuse what the request may not set', async () => {
    const options = { models: [Medal] as ModelClass[], bootstrap: { controllers: [MedalController] } };
    await using paths = await TwoPaths.start(options);
    const undo = async () => {
      await Medal.destroy({ truncate: true, restartIdentity: true });
      await Medal.create({ owner: 'a' });
    };
    const send = async (method: string, path: string, role: string, body: object) => {
      await undo();
      return paths.same({ method, path, headers: { role }, body }, undo);
    };
    const refused = await send('POST', '/medals', '', { owner: 'b', level: 9 });
    expect(refused.status).to.equal(422);
    expect(JSON.parse(refused.body).errors).to.deep.equal([readOnly('level')]);
    expect((await send('PATCH', '/medals/1', '', { level: 9 })).body).to.equal(refused.body);
    expect((await send('PATCH', '/medals/1', '', { owner: 'c' })).status).to.equal(200);
    expect((await send('PATCH', '/medals/1', 'staff', { level: 9 })).status).to.equal(200);
    expect((await send('POST', '/medals', 'staff', { owner: 'b', level: 9 })).status).to.equal(201);
  });
});

describe('rules of fields of another model', () => {
  it('are waited for where an override answers with its records', async () => {
    class Winners extends crudController<Medal, object>(Medal) {
      override async read() {
        return { id: 1, owner: await Person.findByPk(1) };
      }
    }
    await using paths = await TwoPaths.start({
      models: [Person, Badge, Medal] as ModelClass[],
      bootstrap: { models: [Person] as ModelClass[], controllers: [Winners] },
    });
    await Person.create(WHOLE);
    const winner = async (role: string) =>
      JSON.parse((await paths.same({ path: '/medals/1', headers: { role } })).body);
    expect(await winner('hr')).to.deep.equal({ id: 1, owner: WHOLE });
    expect(await winner('')).to.deep.equal({ id: 1, owner: SHOWN });
  });
});
