/** Options of the capture of changes, in the words of users. Nothing is checked or computed here. */

/**
 * Capture of all changes of a table, by triggers.
 *
 * @example
 * ```ts
 * @Crud({ history: { exclude: ['avatar'], retention: '2 years' } })
 * ```
 */
export interface HistoryOptions<Name extends string = string> {
  /**
   * Attributes whose values are not stored. A change of one is stored by its name. Attributes that no answer shows, and BLOBs, are left out
   * by themselves. Not the primary key, nor the attributes that `id`, `scope`, a default
   * scope, soft deletion, `etag` and `keep` need. Default: none.
   *
   * @example ['avatar']
   */
  exclude?: readonly Name[];
  /**
   * Attributes that are stored although no answer shows them, because `visible` reads them. With `images: 'changed'` they are stored
   * with every change. Default: none.
   *
   * @example ['ownerId']
   */
  keep?: readonly Name[];
  /**
   * Columns that had another name: by the old name the attribute of today, whose rules decide who sees the old values. Values of columns
   * that are gone, and have no name here, are in no answer. It is a fact of the table, so that it has to be in `@Crud` of the model.
   * Default: none.
   *
   * @example { town: 'city' }
   */
  renamed?: Readonly<Record<string, Name>>;
  /** Age up to which changes are kept: a number and `hours`, `days`, `weeks`, `months` or `years`. `npx crud-controllers maintain` removes older ones. Default: for ever. */
  retention?: string;
  /**
   * `'row'`: the whole row before and after. `'changed'`: only the attributes that an update has changed, which takes half of the space; it is a
   * `ConfigError` beside `revert` and `changes`, and needs `keep` beside `visible`. Default: `'row'`.
   */
  images?: 'row' | 'changed';
  /** Effect of a purge on the history of its record: `'erase'` removes the stored values, and keeps the actor, the operation and the time. Default: `'keep'`. */
  onPurge?: 'keep' | 'erase';
  /**
   * `'row'`: a trigger for each row, where triggers for statements miss changes or do not exist: partitioned tables that are written by the
   * names of their partitions, foreign tables. Changes of many rows take longer. Default: `'row'` for partitioned tables, else a trigger for
   * each statement.
   */
  capture?: 'row';
}

/**
 * The feed of changes, at `GET /cities/changes`.
 *
 * @example
 * ```ts
 * @Crud({ changes: { retention: '30 days' } })
 * ```
 */
export interface ChangesOptions {
  /** Time for which changes can be read, as `retention` of `history`; the shorter one counts. Default: 7 days. */
  retention?: string;
  /**
   * Path behind the prefix. Where ids are texts a record could have the id `changes`, so that another path has to be chosen. Default:
   * `/changes`.
   *
   * @example '/_changes'
   */
  path?: string;
}
