/** Loads the countries and cities of the world into the tables, once. */
import type { Sequelize } from 'sequelize';
import { City } from './models/city.js';
import { Country } from './models/country.js';
import { Theme } from './models/theme.js';

/** Options of a seed: its progress, and the signal that ends it early. */
export interface SeedOptions {
  /** Called with the number of cities that are in the table, and of those there are. */
  onProgress(done: number, total: number): void;
  /** When it is aborted, nothing is loaded and the seed rejects with its reason. */
  readonly signal: AbortSignal;
}

// Large enough to be fast, small enough to stay far from the statement timeout of a slow machine.
const CHUNK = 2_500;

const THEMES = ['Architecture', 'Beaches', 'Food', 'Hiking', 'Museums', 'Music'];

/** Loads the data unless it is there. It is one transaction: of a seed that was killed, nothing stays. */
export async function seed(sequelize: Sequelize, { onProgress, signal }: SeedOptions): Promise<void> {
  if (await City.findOne({ attributes: ['id'] })) return;
  // The data takes half a second to load, which later starts save.
  const { cityCount, cityRows, countryRows } = await import('./rows.js');
  await sequelize.transaction(async (transaction) => {
    await Country.bulkCreate(countryRows(), { transaction });
    await Theme.bulkCreate(
      THEMES.map((name) => ({ name })),
      { transaction },
    );
    // The rows are valid, and the result is not used.
    const options = { transaction, validate: false, hooks: false, returning: false };
    for (let start = 0; start < cityCount; start += CHUNK) {
      signal.throwIfAborted();
      await City.bulkCreate(cityRows(start, start + CHUNK), options);
      onProgress(Math.min(start + CHUNK, cityCount), cityCount);
    }
  });
  // Built at once, after the rows.
  await sequelize.query(
    'CREATE EXTENSION IF NOT EXISTS pg_trgm; CREATE INDEX IF NOT EXISTS cities_words ON cities USING gin (name gin_trgm_ops)',
  );
  // Fresh tables have no statistics, and without them the first queries are planned badly.
  await sequelize.query('ANALYZE');
}
