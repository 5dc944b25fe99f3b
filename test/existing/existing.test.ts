/** Schemas that others have made, driven model by model: a short run of `npm run existing`. */
import { expect } from 'chai';
import { wholeOr } from '../support/short.js';
import { withSchema } from './databases.js';
import { drive } from './run.js';

describe('existing databases', () => {
  for (const name of ['chinook', 'northwind'] as const) {
    it(`answer as SQL does: ${name}`, async () => {
      await using database = await withSchema(name);
      const { differences, impossible, refused } = await drive(database.url, wholeOr(1, 4));
      expect(differences).to.deep.equal([]);
      const reasons = [...impossible.values(), refused].flat();
      expect(reasons.filter((each) => !each.includes('composite primary key'))).to.deep.equal([]);
    }).timeout(120_000);
  }
});
