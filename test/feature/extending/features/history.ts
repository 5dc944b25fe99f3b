/** `history`: one row for each record that is written, in the transaction of the write. Off for models without a name. */
import type { Feature, FeatureFactory } from '../../../../src/operation/feature.js';

export const HISTORY_SQL =
  'CREATE TABLE history (at bigint GENERATED ALWAYS AS IDENTITY, model text, endpoint text, key text, name text)';

const INSERT =
  'INSERT INTO history (model, endpoint, key, name) SELECT $1, $2, * FROM unnest($3::text[], $4::text[])';

export const history: FeatureFactory = ({ plan }): Feature | null => {
  if (!plan.info.attributes.has('name')) return null;
  return {
    async afterWrite({ endpoint, records }, statements) {
      const keys = records.map(({ key }) => key);
      const names = records.map(({ stored }) => stored('name') ?? null);
      if (names.includes('unwanted')) throw new TypeError('The history refuses it.');
      await statements.write(INSERT, [plan.name, endpoint, arrayOf(keys), arrayOf(names)]);
    },
    headers: { create: { 'X-History': { description: 'Kept in a history.', schema: { type: 'boolean' } } } },
    present: { create: (draft) => ({ ...draft, headers: { ...draft.headers, 'X-History': 'true' } }) },
  };
};

/** The text of an array of PostgreSQL. */
function arrayOf(texts: readonly (string | null)[]): string {
  const items = texts.map((text) => (text === null ? 'NULL' : JSON.stringify(text)));
  return `{${items.join()}}`;
}
