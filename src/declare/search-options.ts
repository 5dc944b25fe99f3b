/** The option `search`, in the words of users. Nothing is checked or computed here. */
import type { Model } from 'sequelize';
import type { Attribute } from './attributes.js';

/** Texts that `search` of a list is about: attributes in one of which each word occurs, in any case, or a vector. */
export type SearchAllow<M extends Model> = readonly Attribute<M>[] | TextSearchOptions<M>;

/**
 * A full text search of PostgreSQL: words by their stems, phrases in quotes, `or`, and `-` before a word that must not be there.
 *
 * @example { vector: 'tsv', of: ['title', 'body'], config: 'english' }   // GET /articles?search="exact phrase" -draft
 */
export interface TextSearchOptions<M extends Model = Model> {
  /** Attribute or column of the type `tsvector`. The table fills it in, and no answer shows it. */
  vector: string;
  /** The attributes that it is made of. A request that may not read one of them has no parameter `search`. */
  of: readonly Attribute<M>[];
  /** Text search configuration that it is made with, such as `'english'`, `'simple'` or `'public.german'`. */
  config: string;
  /** True: the last word of a search is the beginning of one, too. It fits `simple`, as others change words. Default: false. */
  prefix?: boolean;
}
