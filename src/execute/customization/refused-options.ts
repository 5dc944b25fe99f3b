/** Options of Sequelize under which its queries give, or write, something else than what was asked. They are refused at the start. */
import type { ModelClass } from '../../declare/crud-options.js';
import { instanceOptions } from '../../describe/sequelize-internals.js';
import { showValue } from '../../util/option-problems.js';

/** Options of all queries that change nothing of their results. */
const HARMLESS: ReadonlySet<string> = new Set(['logging', 'benchmark', 'logQueryParameters', 'retry']);

type Options = Readonly<Record<string, unknown>>;

/** One line for each such option. */
export function refusedOptions(options: object): string[] {
  const {
    dialect = 'postgres',
    quoteIdentifiers,
    omitNull,
    native,
    repositoryMode,
    validateOnly,
    query,
  } = options as Options;
  const { searchPath, dialectOptions } = options as Options;
  const { prependSearchPath } = (dialectOptions ?? {}) as Options;
  const defaults = Object.keys((query ?? {}) as Options).filter((name) => !HARMLESS.has(name));
  const refused: readonly (readonly [isSet: boolean, name: string, value: unknown, reason: string])[] = [
    [dialect !== 'postgres', 'dialect', dialect, 'and the statements are those of PostgreSQL'],
    [
      quoteIdentifiers === false,
      'quoteIdentifiers',
      false,
      'and PostgreSQL folds names without quotes to lower case',
    ],
    [
      Boolean(omitNull),
      'omitNull',
      omitNull,
      'and a change to null would be left out, and answered as a success',
    ],
    [Boolean(native), 'native', native, 'and pg-native is not supported'],
    [
      Boolean(repositoryMode),
      'repositoryMode',
      repositoryMode,
      'and the models themselves have no connection then',
    ],
    [Boolean(validateOnly), 'validateOnly', validateOnly, 'and there is no database then'],
    [
      Boolean(prependSearchPath && searchPath),
      'dialectOptions.prependSearchPath',
      prependSearchPath,
      'and each statement would be two, which cannot be prepared (a search_path of the role, or schema in @Table, says the same)',
    ],
    ...defaults.map(
      (name) =>
        [
          true,
          `query.${name}`,
          ((query ?? {}) as Options)[name],
          'and changes what every query gives',
        ] as const,
    ),
  ];
  return refused.flatMap(([isSet, name, value, reason]) =>
    isSet ? [`The option ${name} of Sequelize is ${showValue(value)}, ${reason}; leave it out.`] : [],
  );
}

/** The same of the instances of models, and what of the models themselves has queries fail that find nothing. */
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
