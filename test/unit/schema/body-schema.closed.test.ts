/** Bodies of requests that may not set everything. */
import { expect } from 'chai';
import { IsNotEmpty, IsString } from 'class-validator';
import { DataTypes } from 'sequelize';
import { bodySchema } from '../../../src/schema/body-schema.js';
import { defineModel, planOf } from '../../support/offline-models.js';
import { bodyIssues, parseBody } from '../../support/parse-bodies.js';

const User = defineModel('User', {
  name: { type: DataTypes.TEXT, allowNull: false },
  role: { type: DataTypes.TEXT, allowNull: false },
  note: DataTypes.TEXT,
});

class SignUp {
  @IsString() name = '';
  @IsString() @IsNotEmpty() declare role: string;
  note = 'none';
}

const CLOSED: ReadonlySet<string> = new Set(['role', 'note']);
const ISSUE = { pointer: '/role', code: 'readOnly', detail: 'role cannot be set.' };

for (const [name, options] of Object.entries({ derived: {}, 'of the user': { createSchema: SignUp } })) {
  describe(`a schema ${name}, without some attributes`, () => {
    const schema = bodySchema(planOf(User, options), 'create', CLOSED);

    it('takes what is left, and asks nothing of them', async () =>
      expect(await parseBody(schema, { name: 'Ada' })).to.deep.equal({ name: 'Ada' }));

    it('refuses them, and offers them to nobody', async () => {
      expect(await bodyIssues(parseBody(schema, { name: 'Ada', role: 'admin' }))).to.deep.equal([ISSUE]);
      expect(await bodyIssues(parseBody(schema, { name: 5, role: '', rolle: 1 }))).to.deep.equal([
        ISSUE,
        {
          pointer: '/rolle',
          code: 'unknownProperty',
          detail: 'There is no such property. The properties are name.',
        },
        {
          pointer: '/name',
          code: 'isString',
          detail: 'name must be a string.',
        },
      ]);
    });
  });
}
