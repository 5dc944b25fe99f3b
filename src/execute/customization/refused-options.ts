/** Options of Sequelize under which its queries return, or write, other rows or values than a request means. They are refused at the start. */
import type { ModelClass } from '../../declare/crud-options.js';
import { instanceOptions } from '../../describe/sequelize-internals.js';
import { showValue } from '../../util/option-problems.js';

/** Options of all queries that change nothing of their results. */
const HARMLESS: ReadonlySet<string> = new Set(['logging', 'benchmark', 'logQueryParameters', 'retry']);

type Options = Readonly<Record<string, unknown>>;

/** Name of an option, the test of its value, and the reason. */
type Refusal = readonly [name: string, isRefused: (value: unknown) => boolean, reason: string];

const REFUSALS: readonly Refusal[] = [
  ['dialect', (value) => (value ?? 'postgres') !== 'postgres', 'and the statements are those of PostgreSQL'],
  ['quoteIdentifiers', (value) => value === false, 'and PostgreSQL folds names without quotes to lower case'],
  ['omitNull', Boolean, 'and a change to null would be left out, and answered as a success'],
  ['native', Boolean, 'and pg-native is not supported'],
  ['repositoryMode', Boolean, 'and the models themselves have no connection then'],
  ['validateOnly', Boolean, 'and there is no database then'],
];

const SEARCH_PATHS =
  'and each statement would be two, which cannot be prepared (a search_path of the role, or schema in @Table, says the same)';

/** One line for each such option. */
export function refusedOptions(options: object): string[] {
  const { query, searchPath, dialectOptions, ...others } = options as Options;
  const { prependSearchPath } = (dialectOptions ?? {}) as Options;
  const line = (name: string, value: unknown, reason: string) =>
    `The option ${name} of Sequelize is ${showValue(value)}, ${reason}; leave it out.`;
  const defaults = Object.entries((query ?? {}) as Options).filter(([name]) => !HARMLESS.has(name));
  return [
    ...REFUSALS.flatMap(([name, isRefused, reason]) =>
      isRefused(others[name]) ? [line(name, others[name], reason)] : [],
    ),
    ...(prependSearchPath && searchPath
      ? [line('dialectOptions.prependSearchPath', prependSearchPath, SEARCH_PATHS)]
      : []),
    ...defaults.map(([name, value]) => line(`query.${name}`, value, 'and changes what every query gives')),
  ];
}

/** The same for the instances of models, and for options of models under which queries fail that find nothing. */
export function refusedModelOptions(models: readonly ModelClass[]): string[] {
  const instances = new Set(models.flatMap(({ sequelize }) => sequelize ?? []));
  return [
    ...[...instances].flatMap((sequelize) => refusedOptions(instanceOptions(sequelize))),
    ...models
      .filter(({ options }) =>
        Boolean((options as { readonly rejectOnEmpty?: unknown } | undefined)?.rejectOnEmpty),
      )
      .map(
        ({ name }) =>
          `${name}: the option rejectOnEmpty of its table has queries fail that find nothing; leave it out.`,
      ),
  ];
}
