/** `@Crud({ history: true })`: one row for each record that is written, in the transaction of the write. */
import type { OptionCheck } from '../../../../src/compile/compile-options.js';
import type { Feature, FeatureContext, FeatureFactory } from '../../../../src/operation/feature.js';

declare module '../../../../src/declare/crud-options.js' {
  interface CrudOptions {
    /** Keeps the records that are written. Default: false. */
    history?: boolean;
  }
}

const DEFINITION = [
  'CREATE TABLE IF NOT EXISTS history (at bigint GENERATED ALWAYS AS IDENTITY, model text, endpoint text, key text, name text)',
  'CREATE INDEX IF NOT EXISTS history_model ON history (model, at)',
];

const INSERT =
  'INSERT INTO history (model, endpoint, key, name) SELECT $1, $2, * FROM unnest($3::text[], $4::text[])';

function makeFeature({ plan, application = {} }: FeatureContext): Feature | null {
  if (!plan.features['history']) return null;
  const header = String(application['historyHeader'] ?? 'X-History');
  return {
    async afterWrite({ endpoint, records }, statements) {
      const keys = records.map(({ key }) => key);
      const names = records.map(({ stored }) => stored('name') ?? null);
      if (names.includes('unwanted')) throw new TypeError('The history refuses it.');
      await statements.write(INSERT, [plan.name, endpoint, arrayOf(keys), arrayOf(names)]);
    },
    headers: { create: { [header]: { description: 'Kept in a history.', schema: { type: 'boolean' } } } },
    present: { create: (draft) => ({ ...draft, headers: { ...draft.headers, [header]: 'true' } }) },
    problems: { create: [409] },
    causes: { 409: 'Or the history has ended.' },
  };
}

export const history: FeatureFactory = Object.assign(makeFeature, {
  options: {
    historyHeader(value: unknown, report: (problem: string) => void) {
      if (typeof value !== 'string') report('historyHeader is no text; use one such as X-History.');
      return value;
    },
  },
  resourceOptions: {
    history(value: unknown, { info, report }: OptionCheck) {
      if (typeof value !== 'boolean') report(`history is no flag; use true or false.`);
      if (!info.attributes.has('name')) report(`history is for models that have a name.`);
      return value;
    },
  },
  tables: ({ features }) =>
    features['history']
      ? [{ name: 'history', definition: DEFINITION, failure: 'writes with a history fail' }]
      : [],
} satisfies Partial<FeatureFactory>);

/** The text of an array of PostgreSQL. */
function arrayOf(texts: readonly (string | null)[]): string {
  const items = texts.map((text) => (text === null ? 'NULL' : JSON.stringify(text)));
  return `{${items.join()}}`;
}
