/** Paths of endpoints for many records, and their document: parameters, bodies and answers. */
// @runs fast
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { ApiContract } from '../../support/api-contract.js';
import { except, OF_MANY } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  endpoints: ['create', 'createMany', 'updateMany', 'deleteMany'],
  bulk: { max: 3 },
  filterAllow: ['name'],
})
@Table({ tableName: 'coins', version: true, timestamps: false })
class Coin extends Model {
  @Column({ type: DataType.STRING(10), allowNull: false, unique: true }) declare name: string;
}

/** One endpoint each. */
@Crud({ endpoints: ['createMany'] })
@Table({ tableName: 'stamps', timestamps: false })
class Stamp extends Model {
  @Column({ type: DataType.STRING(10), allowNull: false }) declare name: string;
}

except(OF_MANY).describe('the document of endpoints for many records', () => {
  const site = serveTestApp(() => ({
    models: [Coin, Stamp],
    bootstrap: { health: false, docs: { license: { name: 'MIT', identifier: 'MIT' } } },
    minPool: 2,
  }));

  it('is valid, and clean', async () => {
    const document = JSON.stringify(site.crud.openapi());
    expect(await new Validator().validate(JSON.parse(document))).to.deep.equal({ valid: true });
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: document, config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).to.deep.equal([]);
  });

  it('has an operation for each route, of which none that creates takes one record or many', () => {
    const { paths, components } = site.crud.openapi();
    const operations = Object.values(paths).flatMap((item) => Object.values(item));
    expect(operations.map(({ operationId }) => operationId)).to.deep.equal([
      'createCoin',
      'updateManyCoins',
      'deleteManyCoins',
      'createManyCoins',
      'createManyStamps',
      'createManyStamps2',
    ]);
    const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    const shapes = ['/coins', '/coins/many'].map((path) => {
      const { requestBody, responses } = paths[path]?.post ?? {};
      return [requestBody, responses?.[201]].map(
        (part) => part && 'content' in part && part.content?.['application/json']?.schema,
      );
    });
    expect(shapes).to.deep.equal([
      [refTo('CoinCreate'), refTo('CoinRead')],
      [{ type: 'array', items: refTo('CoinCreate'), minItems: 1, maxItems: 3 }, refTo('CoinItems')],
    ]);
    expect(paths['/coins']?.post?.description).to.match(/\n\n`createManyCoins` creates many\.$/);
    const parameters = paths['/coins/many']?.post?.parameters?.map(({ name }) => name);
    expect(parameters).to.deep.equal(['atomic', 'dry_run', 'Prefer']);
    expect(components.schemas['CoinChange']).to.deep.equal({
      type: 'object',
      properties: {
        id: { type: 'integer' },
        version: {
          type: 'integer',
          minimum: 0,
          description: 'Only if the record still has this version. Default: any.',
        },
        name: { type: 'string', maxLength: 10 },
      },
      required: ['id'],
      additionalProperties: false,
    });
    expect(paths['/coins']?.delete?.parameters?.map(({ name, required }) => [name, required])).to.deep.equal([
      ['q', true],
      ['max_affected', false],
      ['atomic', false],
      ['dry_run', false],
    ]);
    expect(Object.keys(components.schemas).sort()).to.deep.equal([
      ...['CoinChange', 'CoinCreate', 'CoinDeleted', 'CoinItems', 'CoinRead', 'CoinResults', 'CoinUpdate'],
      ...['Issue', 'Problem', 'StampCreate', 'StampItems', 'StampRead', 'StampResults'],
    ]);
  });

  it('[M35] describes every answer', async () => {
    const contract = new ApiContract(site.crud.openapi());
    type Method = 'post' | 'patch' | 'delete';
    const send = async (id: string, status: number, method: Method, path: string, body?: unknown) => {
      const answer = await site.agent[method](path).send(body as object);
      expect(answer.status, `${path} ${answer.text}`).to.equal(status);
      contract.check(id, answer);
    };
    await send('createCoin', 201, 'post', '/coins', { name: 'one' });
    const many = '/coins/many';
    await send('createManyCoins', 201, 'post', many, [{ name: 'two' }, { name: 'three' }]);
    await send('createManyCoins', 207, 'post', `${many}?atomic=false`, [{ name: 'four' }, { name: 'two' }]);
    await send('createManyCoins', 409, 'post', many, [{ name: 'five' }, { name: 'two' }]);
    await send('createManyCoins', 413, 'post', many, [1, 2, 3, 4]);
    await send('createManyCoins', 422, 'post', many, [1]);
    await send('createManyCoins', 422, 'post', many, { name: 'five' });
    await send('createManyStamps', 201, 'post', '/stamps/many', [{ name: 'two' }]);
    await send('createManyStamps2', 422, 'post', '/stamps', { name: 'two' });
    await send('updateManyCoins', 200, 'patch', '/coins', [{ id: 1, version: 0, name: 'I' }]);
    await send('updateManyCoins', 404, 'patch', '/coins', [{ id: 99, name: 'I' }]);
    await send('updateManyCoins', 412, 'patch', '/coins', [{ id: 1, version: 0, name: 'I' }]);
    await send('updateManyCoins', 200, 'patch', '/coins?q=name==I', { name: 'one' });
    await send('updateManyCoins', 207, 'patch', '/coins?q=name==one&atomic=false', { name: 'two' });
    await send('updateManyCoins', 207, 'patch', '/coins?atomic=false', [{ id: 1, name: 'I' }, { id: 99 }]);
    await send('updateManyCoins', 400, 'patch', '/coins', {});
    await send('deleteManyCoins', 409, 'delete', '/coins?q=name!=I&max_affected=1');
    await send('deleteManyCoins', 207, 'delete', '/coins?q=name==I&atomic=false');
    await send('deleteManyCoins', 200, 'delete', '/coins?q=name!=I');
    await send('deleteManyCoins', 400, 'delete', '/coins');
  });
});
