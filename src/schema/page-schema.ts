/** The classes of the two list envelopes. */
import { Expose, Type } from 'class-transformer';
import { IsArray, IsBoolean, IsIn, IsInt, IsOptional, IsString, Min, ValidateNested } from 'class-validator';
import { TOTALS } from '../declare/count-options.js';
import type { Class } from '../declare/crud-options.js';
import { keptIn, perPair } from '../util/memo.js';
import { namedClass, type SchemaClass } from './class-properties.js';

/** Options of a list that change its envelope. */
export interface PageSchemaOptions {
  /** True: the list has the option `count`. It has `total_is`, and `total` and `pages` may be null. Default: false. */
  readonly count?: boolean;
}

const envelopesOf = perPair((_read: Class) => new Map<string, SchemaClass>());

/**
 * The envelope of an offset list of `Read`: `items, total, page, size, pages, has_next, has_prev`. Cached.
 *
 * @example
 * ```ts
 * const ArticlePage = pageSchema(readSchema(Article)); // class ArticlePage
 * ```
 */
export function pageSchema(read: Class, options: PageSchemaOptions = {}): SchemaClass {
  const { count = false } = options;
  return envelope(read, 'Page', options, (page) => {
    for (const name of ['page', 'size']) decorate(page, name, [IsInt(), Min(1)]);
    const orNull = count ? [IsOptional()] : [];
    for (const name of ['total', 'pages']) decorate(page, name, [...orNull, IsInt(), Min(0)]);
  });
}

/**
 * The envelope of a cursor list of `Read`: `items, next_cursor, prev_cursor, has_next, has_prev`. Cached.
 *
 * @example
 * ```ts
 * const ArticleCursorPage = cursorPageSchema(readSchema(Article)); // class ArticleCursorPage
 * ```
 */
export function cursorPageSchema(read: Class, options: PageSchemaOptions = {}): SchemaClass {
  return envelope(read, 'CursorPage', options, (page) => {
    for (const name of ['next_cursor', 'prev_cursor']) decorate(page, name, [IsOptional(), IsString()]);
    if (options.count) decorate(page, 'total', [IsOptional(), IsInt(), Min(0)]);
  });
}

function envelope(
  read: Class,
  suffix: string,
  { count = false }: PageSchemaOptions,
  decoratePlaces: (page: SchemaClass) => void,
): SchemaClass {
  return keptIn(envelopesOf(read), `${suffix} ${count}`, () => {
    const page = namedClass(`${read.name.replace(/Read$/, '')}${suffix}`);
    decorate(page, 'items', [Type(() => read), IsArray(), ValidateNested({ each: true })]);
    for (const name of ['has_next', 'has_prev']) decorate(page, name, [IsBoolean()]);
    decoratePlaces(page);
    if (count) decorate(page, 'total_is', [IsIn([...TOTALS])]);
    return page;
  });
}

function decorate(target: SchemaClass, property: string, decorators: readonly PropertyDecorator[]): void {
  for (const decorator of [Expose(), ...decorators]) decorator(target.prototype, property);
}
