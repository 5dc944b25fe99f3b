/** `@Crud({ trail: true })`: one row for each record that is written, in the transaction of the write. */
import type { OptionCheck } from '../../../../src/compile/compile-options.js';
import type { Feature, FeatureContext, FeatureFactory } from '../../../../src/operation/feature.js';

declare module '../../../../src/declare/crud-options.js' {
  interface CrudOptions {
    /** Keeps the records that are written. Default: false. */
    trail?: boolean;
  }
}

const DEFINITION = [
  'CREATE TABLE IF NOT EXISTS trail (at bigint GENERATED ALWAYS AS IDENTITY, model text, endpoint text, key text, name text)',
  'CREATE INDEX IF NOT EXISTS trail_model ON trail (model, at)',
];

const INSERT =
  'INSERT INTO trail (model, endpoint, key, name) SELECT $1, $2, * FROM unnest($3::text[], $4::text[])';

function makeFeature({ plan, application = {} }: FeatureContext): Feature | null {
  if (!plan.features['trail']) return null;
  const header = String(application['trailHeader'] ?? 'X-Trail');
  return {
    async afterWrite({ endpoint, records }, statements) {
      const keys = records.map(({ key }) => key);
      const names = records.map(({ stored }) => stored('name') ?? null);
      if (names.includes('unwanted')) throw new TypeError('The trail refuses it.');
      await statements.write(INSERT, [plan.name, endpoint, arrayOf(keys), arrayOf(names)]);
    },
    headers: { create: { [header]: { description: 'Kept in a trail.', schema: { type: 'boolean' } } } },
    present: { create: (draft) => ({ ...draft, headers: { ...draft.headers, [header]: 'true' } }) },
    problems: { create: [409] },
    causes: { 409: 'Or the trail has ended.' },
  };
}

export const trail: FeatureFactory = Object.assign(makeFeature, {
  options: {
    trailHeader(value: unknown, report: (problem: string) => void) {
      if (typeof value !== 'string') report('trailHeader is no text; use one such as X-Trail.');
      return value;
    },
  },
  resourceOptions: {
    trail(value: unknown, { info, report }: OptionCheck) {
      if (typeof value !== 'boolean') report(`trail is no flag; use true or false.`);
      if (!info.attributes.has('name')) report(`trail is for models that have a name.`);
      return value;
    },
  },
  tables: ({ features }) =>
    features['trail'] ? [{ name: 'trail', definition: DEFINITION, failure: 'writes with a trail fail' }] : [],
} satisfies Partial<FeatureFactory>);

/** The text of an array of PostgreSQL. */
function arrayOf(texts: readonly (string | null)[]): string {
  const items = texts.map((text) => (text === null ? 'NULL' : JSON.stringify(text)));
  return `{${items.join()}}`;
}
