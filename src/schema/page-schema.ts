/** The classes of the two list envelopes. */
import { Expose, Type } from 'class-transformer';
import { IsArray, IsBoolean, IsInt, IsOptional, IsString, Min, ValidateNested } from 'class-validator';
import type { Class } from '../metadata/crud-options.js';
import { namedClass, type SchemaClass } from './synthesize-class.js';

const known = { Page: new WeakMap<Class, SchemaClass>(), CursorPage: new WeakMap<Class, SchemaClass>() };

/**
 * The envelope of an offset list of `Read`: `items, total, page, size, pages, has_next, has_prev`. Cached.
 *
 * @example
 * ```ts
 * const ArticlePage = pageSchema(readSchema(Article)); // class ArticlePage
 * ```
 */
export function pageSchema(read: Class): SchemaClass {
  return envelope(read, 'Page', (page) => {
    for (const name of ['total', 'page', 'size', 'pages']) {
      decorate(page, name, [IsInt(), Min(name === 'page' || name === 'size' ? 1 : 0)]);
    }
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
export function cursorPageSchema(read: Class): SchemaClass {
  return envelope(read, 'CursorPage', (page) => {
    for (const name of ['next_cursor', 'prev_cursor']) decorate(page, name, [IsOptional(), IsString()]);
  });
}

function envelope(
  read: Class,
  suffix: keyof typeof known,
  decoratePlaces: (page: SchemaClass) => void,
): SchemaClass {
  const made = known[suffix].get(read);
  if (made) return made;
  const page = namedClass(`${read.name.replace(/Read$/, '')}${suffix}`);
  decorate(page, 'items', [Type(() => read), IsArray(), ValidateNested({ each: true })]);
  for (const name of ['has_next', 'has_prev']) decorate(page, name, [IsBoolean()]);
  decoratePlaces(page);
  known[suffix].set(read, page);
  return page;
}

function decorate(target: SchemaClass, property: string, decorators: readonly PropertyDecorator[]): void {
  for (const decorator of [Expose(), ...decorators]) decorator(target.prototype, property);
}
