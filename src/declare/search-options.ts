/** The option `search`, in the words of users. Nothing is checked or computed here. */
import type { Model } from 'sequelize';
import type { Attribute } from './attributes.js';

/**
 * Texts that `search` of a list is about. A list of attributes: each word of the request occurs in one of them, in any case.
 *
 * @example ['name', 'adminName']   // GET /cities?search=san fran
 */
export type SearchAllow<M extends Model> = readonly Attribute<M>[];
