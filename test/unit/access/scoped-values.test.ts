import { expect } from 'chai';
import { IsInt, IsOptional, IsString, IsUUID } from 'class-validator';
import type { Request } from 'express';
import { DataTypes } from 'sequelize';
import { checkScopedValues, checkSentNames } from '../../../src/access/reference-access.js';
import { type Access, OPEN_ACCESS, type ScopeMode } from '../../../src/operation/access.js';
import { parseReplacement, replacementSchema } from '../../../src/request/parse-replacement.js';
import { setToldNames, toldNames } from '../../../src/request/request-notes.js';
import { InvalidBodyError } from '../../../src/schema/request-issue.js';
import { caughtError } from '../../support/caught-error.js';
import { defineModel, planOf } from '../../support/offline-models.js';

function accessOf(scope: Readonly<Record<string, ScopeMode>>, unwritable: readonly string[] = []): Access {
  const values = new Map(Object.keys(scope).map((name) => [name, [1, 2]]));
  const form = {
    ...OPEN_ACCESS.form,
    scope: new Map(Object.entries(scope)),
    unwritable: new Set(unwritable),
  };
  return { ...OPEN_ACCESS, form, values: () => values };
}

/** What is wrong with a body, as pointers and codes; empty where nothing is. */
async function wrong(work: () => unknown): Promise<readonly string[]> {
  try {
    await work();
    return [];
  } catch (error) {
    if (!(error instanceof InvalidBodyError) || error.errors.length === 0) throw error;
    return error.errors.map(({ code, ...issue }) => `${'pointer' in issue && issue.pointer} ${code}`);
  }
}

describe('values of scoped attributes', () => {
  for (const [mode, kind, value, codes] of [
    ['one', 'create', undefined, []],
    ['one', 'create', 1, ['/team readOnly']],
    ['one', 'update', undefined, []],
    ['one', 'update', 1, ['/team readOnly']],
    ['several', 'create', undefined, ['/team isDefined']],
    ['several', 'create', 2, []],
    ['several', 'create', 3, ['/team scope']],
    ['several', 'create', null, ['/team scope']],
    ['several', 'update', undefined, []],
    ['several', 'update', 1, ['/team readOnly']],
    ['any', 'create', undefined, []],
    ['any', 'create', 3, []],
    ['any', 'create', null, []],
    ['any', 'update', 1, ['/team readOnly']],
  ] as const) {
    const outcome = codes.length > 0 ? 'refused' : 'taken';
    it(`are ${outcome}: ${value} by ${kind}, of ${mode}`, async () => {
      const check = () => checkScopedValues(kind, { team: value }, accessOf({ team: mode }));
      expect(await wrong(check)).to.deep.equal(codes);
    });
  }

  it('may not be sent where the request may not set them, whatever reads the body', async () => {
    const { form } = accessOf({}, ['wage', 'note']);
    for (const body of [{ name: 'a' }, undefined, null, 'wage', [], [{ name: 'a' }]]) {
      expect(await wrong(() => checkSentNames(body, form))).to.deep.equal([]);
    }
    expect(await wrong(() => checkSentNames({ note: null, wage: 1 }, form))).to.deep.equal([
      '/wage readOnly',
      '/note readOnly',
    ]);
    expect(await wrong(() => checkSentNames([{ name: 'a' }, { wage: 1 }], form))).to.deep.equal([
      '/wage readOnly',
    ]);
  });
});

describe('the names that errors may tell', () => {
  const form = { ...OPEN_ACCESS.form, unreadable: new Set(['wage', 'note']), unwritable: new Set(['note']) };

  it('are those that the request may read, and those that it has sent', () => {
    for (const [body, hidden] of [
      [undefined, ['wage', 'note']],
      [null, ['wage', 'note']],
      ['wage', ['wage', 'note']],
      [{ wage: 1 }, ['note']],
      [Object.create({ wage: 1 }), ['wage', 'note']],
    ] as const) {
      const request = {} as Request;
      setToldNames(request, form, body);
      const told = toldNames(request, undefined);
      expect([[...told.hidden], [...told.unwritable]]).to.deep.equal([hidden, ['note']]);
    }
  });

  it('are none that has a rule where no rule was asked', () => {
    const plan = planOf(defineModel('Person', { wage: DataTypes.INTEGER }), {
      fields: { wage: { read: () => true } },
    });
    expect([...toldNames({} as Request, plan).hidden]).to.deep.equal(['wage']);
    expect([...toldNames({} as Request, undefined).hidden]).to.deep.equal([]);
  });
});

describe('the body of a replacement', () => {
  const Shelf = defineModel('Shelf', {
    id: { type: DataTypes.UUID, primaryKey: true },
    name: { type: DataTypes.TEXT, allowNull: false },
    size: DataTypes.INTEGER,
    rank: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 5 },
    code: { type: DataTypes.INTEGER, allowNull: false, autoIncrement: true },
  });
  const Box = defineModel('Box', {
    id: { type: DataTypes.INTEGER, primaryKey: true },
    name: DataTypes.TEXT,
    label: DataTypes.VIRTUAL,
  });
  const options = { endpoints: ['read', 'replace'] };
  const plan = planOf(Shelf, options);
  const boxes = planOf(Box, options);
  const ID = '6f1c4f0e-7d5a-4a39-9d6b-1f0a3f0b7e11';
  const parse = (of: typeof plan, body: unknown, id: unknown = ID, access = OPEN_ACCESS) =>
    parseReplacement(of, replacementSchema(of, access.form), body, id, access);

  it('gives what it leaves out its default, and no key', async () => {
    expect(await parse(plan, { name: 'a' })).to.deep.equal({ name: 'a', size: null, rank: 5 });
    expect(await parse(plan, { name: 'a', rank: 6, size: 7 })).to.deep.equal({ name: 'a', size: 7, rank: 6 });
    expect(await parse(boxes, {}, 3)).to.deep.equal({ name: null });
    expect(await wrong(() => parse(plan, {}))).to.deep.equal(['/name isDefined']);
  });

  it('may have the key of the path, in letters of any size', async () => {
    for (const id of [ID, ID.toUpperCase()]) {
      expect(await parse(plan, { id, name: 'a' })).to.have.property('name', 'a');
      expect(await parse(plan, { id: ID, name: 'a' }, id)).to.have.property('name', 'a');
    }
    const other = ID.replace(/^6/, '7');
    expect(await wrong(() => parse(plan, { id: other, name: 'a' }))).to.deep.equal(['/id key']);
    expect(await parse(boxes, { id: 3, name: 'a' }, 3)).to.deep.equal({ name: 'a' });
    expect(await wrong(() => parse(boxes, { id: 4 }, 3))).to.deep.equal(['/id key']);
  });

  it('is an object', async () => {
    for (const body of [null, [], '', 1]) {
      expect(await caughtError(() => parse(boxes, body, 3))).to.be.instanceOf(InvalidBodyError);
    }
  });

  it('has a key that differs by the size of letters, where it is no UUID', async () => {
    const key = { type: DataTypes.STRING, primaryKey: true };
    const tags = planOf(defineModel('Tag', { id: key, name: DataTypes.TEXT }), options);
    expect(await parse(tags, { id: 'a' }, 'a')).to.deep.equal({ name: null });
    expect(await wrong(() => parse(tags, { id: 'A' }, 'a'))).to.deep.equal(['/id key']);
  });

  it('gives what a schema of its own leaves out what the column has', async () => {
    class ShelfBody {
      @IsOptional() @IsUUID() declare id?: string;
      @IsOptional() @IsString() declare name?: string;
      @IsOptional() @IsInt() declare size?: number;
      @IsOptional() @IsInt() declare code?: number;
    }
    const own = planOf(Shelf, { ...options, createSchema: ShelfBody });
    expect(await parse(own, { name: 'a' })).to.deep.equal({ name: 'a', size: null });
    expect(await wrong(() => parse(own, {}))).to.deep.equal(['/name isDefined']);
  });

  it('has a key that the request may write', async () => {
    for (const access of [accessOf({}, ['id']), accessOf({ id: 'one' }, ['id'])]) {
      expect(await wrong(() => parse(boxes, {}, 2, access))).to.deep.equal(['/id readOnly']);
    }
    expect(await wrong(() => parse(boxes, {}, 3, accessOf({ id: 'one' })))).to.deep.equal(['/id scope']);
    expect(await parse(boxes, {}, 2, accessOf({ id: 'one' }))).to.deep.equal({ name: null });
    expect(await wrong(() => parse(boxes, {}, 3, accessOf({ id: 'several' })))).to.deep.equal(['/id scope']);
    expect(await parse(boxes, {}, 2, accessOf({ id: 'several' }))).to.deep.equal({ name: null });
  });
});
