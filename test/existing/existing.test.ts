/** Schemas that others have made, driven model by model: a short run of `npm run existing`. */
import { expect } from 'chai';
import { wholeOr } from '../support/short.js';
import { withSchema } from './databases.js';
import { drive } from './run.js';

describe('existing databases', () => {
  // In short, a part of the models of the one that has nearly all that the others have, and of each a part of the questions. A project
  // from chinook is a test of the package.
  for (const [name, every] of [
    ...wholeOr([], [['chinook', 1] as const, ['northwind', 1] as const]),
    ['adventureworks', wholeOr(24, 1)] as const,
  ]) {
    it(`answer as SQL does: ${name}`, async () => {
      await using database = await withSchema(name);
      const { differences, empty } = await drive(database.url, wholeOr(1, 4), every);
      expect(differences).to.deep.equal([]);
      expect(empty).to.deep.equal([]);
    }).timeout(120_000);
  }
});
