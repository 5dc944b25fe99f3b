import { expect } from 'chai';
import type { Request } from 'express';
import { DataTypes } from 'sequelize';
import { compileAccessRules } from '../../../src/access/evaluate-rules.js';
import type { Endpoint } from '../../../src/declare/endpoint.js';
import type { Access } from '../../../src/operation/access.js';
import { RefusedRequestError } from '../../../src/operation/refused-request-error.js';
import { caughtError } from '../../support/caught-error.js';
import { defineModel, planOf } from '../../support/offline-models.js';

const Task = defineModel('Task', {
  tenant: DataTypes.INTEGER,
  team: DataTypes.STRING,
  isOpen: DataTypes.BOOLEAN,
  since: DataTypes.DATE,
  share: DataTypes.DOUBLE,
});
const REQUEST = {} as Request;

function asking(options: object) {
  const { info, access } = planOf(Task, options);
  if (!access) throw new Error('There are no rules.');
  return compileAccessRules(info, access);
}

/** The access of a request, where no rule returns a promise. */
function granted(options: object, endpoint: Endpoint | null = 'list'): Access {
  return asking(options)(REQUEST, endpoint) as Access;
}

async function refusal(options: object, endpoint: Endpoint | null = 'list'): Promise<unknown> {
  const error = await caughtError(() => asking(options)(REQUEST, endpoint));
  return error instanceof RefusedRequestError ? [error.status, error.message] : error;
}

const scopedTo = (answer: unknown, attribute = 'tenant') => ({ scope: { [attribute]: () => answer } });

describe('the rules of a resource', () => {
  describe('of scope', () => {
    for (const [attribute, answer, value] of [
      ['tenant', '7', 7],
      ['share', 0.5, 0.5],
      ['isOpen', true, true],
      ['isOpen', 'false', false],
      ['team', 7, '7'],
      ['since', '2026-01-31T08:00:00Z', new Date('2026-01-31T08:00:00Z')],
    ] as const) {
      it(`give ${attribute} the value that records have, of ${typeof answer} ${answer}`, () => {
        for (const each of [answer, [answer]]) {
          expect(granted(scopedTo(each, attribute)).values().get(attribute)).to.deep.equal([value]);
        }
      });
    }

    it('refuse a request without a value, in a list too', async () => {
      for (const answer of [null, undefined, [null], [1, undefined]]) {
        expect(await refusal(scopedTo(answer))).to.deep.equal([403, 'This request has no access to Task.']);
      }
    });

    it('fail with what is no value of the column, without telling it', async () => {
      for (const answer of ['secret', 1.5, 2 ** 53, {}, Symbol('secret'), ['1', 'secret']]) {
        expect(await refusal(scopedTo(answer)))
          .to.be.instanceOf(TypeError)
          .with.property('message', 'scope.tenant of Task gave a value that is no integer of this column.');
      }
    });
  });

  describe('of operations', () => {
    it('are both needed where there are two, and the second is not asked where the first refuses', async () => {
      const asked: string[] = [];
      const can = (create: boolean, update: boolean) => ({
        create: () => asked.push('create') > 0 && create,
        update: () => asked.push('update') > 0 && update,
      });
      expect(await refusal({ can: can(false, true) }, 'replace')).to.be.an('array');
      expect(asked.splice(0)).to.deep.equal(['create']);
      expect(await refusal({ can: can(true, false) }, 'replace')).to.be.an('array');
      expect(asked.splice(0)).to.deep.equal(['create', 'update']);
      expect(granted({ can: can(true, true) }, 'replace').where).to.equal(null);
    });

    it('fail as they throw, and only with errors', async () => {
      const error = new Error('own');
      for (const [thrown, told] of [
        [error, null],
        [null, 'null'],
        [undefined, 'undefined'],
        ['text', 'the text "text"'],
      ] as const) {
        const throwing = () => {
          throw thrown;
        };
        for (const list of [throwing, () => Promise.reject(thrown)]) {
          const found = await refusal({ can: { list } });
          if (told === null) expect(found).to.equal(error);
          else
            expect(found)
              .to.be.instanceOf(TypeError)
              .with.property('message')
              .that.includes(`threw ${told}, which`);
        }
      }
    });
  });

  describe('of attributes', () => {
    const fields = {
      id: { update: false },
      team: { read: () => false, create: () => false },
      share: { read: () => Promise.resolve(true), update: () => false },
      isOpen: { read: false, create: true, update: () => Promise.resolve(false) },
      since: { create: () => true, update: () => true },
    };
    const ask = asking({ fields });
    const formOf = async (endpoint: Endpoint | null) => {
      const { unreadable, unwritable } = (await ask(REQUEST, endpoint)).form;
      return [[...unreadable], [...unwritable]];
    };

    it('tell what may not be read, and by a write what may not be written', async () => {
      expect(await formOf('list')).to.deep.equal([['team', 'isOpen'], []]);
      expect(await formOf(null)).to.deep.equal([['team', 'isOpen'], []]);
      expect(await formOf('create')).to.deep.equal([['team', 'isOpen'], ['team']]);
      expect(await formOf('update')).to.deep.equal([
        ['team', 'isOpen'],
        ['id', 'share', 'isOpen'],
      ]);
      // A replacement repeats the key, which is no change of it.
      expect(await formOf('replace')).to.deep.equal([
        ['team', 'isOpen'],
        ['team', 'share', 'isOpen'],
      ]);
    });

    it('hold for the key of a record that a replacement creates', async () => {
      const { form } = await asking({ fields: { id: { create: false } } })(REQUEST, 'replace');
      expect([...form.unwritable]).to.deep.equal(['id']);
    });

    it('do not leave one behind where another throws', async () => {
      const throwing = () => {
        throw new Error('now');
      };
      const failing = asking({
        fields: {
          team: { read: () => Promise.reject(new Error('later')) },
          since: { read: throwing },
        },
      });
      // A rejection that is not handled would end this process.
      expect(await caughtError(() => failing(REQUEST, 'read'))).to.be.instanceOf(Error);
    });
  });
});
