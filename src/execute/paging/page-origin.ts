/** Origin of a page, its list: the places of a page mean something in one order of one model only. */
import type { SortTerm } from '../../compile/resource-plan.js';
import type { Page } from './page.js';

/** The list of a page. */
export interface PageOrigin {
  readonly model: object;
  /** A total order. */
  readonly order: readonly SortTerm[];
}

const ORIGIN = Symbol('origin');

/** A value that may have an origin. */
interface Known {
  readonly [ORIGIN]?: PageOrigin;
}

/** Notes the list on a page, and on its places, which a copy of the page has too. */
export function withOrigin<P extends Page<unknown>>(page: P, model: object, order: readonly SortTerm[]): P {
  const origin: PageOrigin = { model, order };
  for (const each of [page, page.next, page.prev]) {
    if (each) Object.defineProperty(each, ORIGIN, { value: origin });
  }
  return page;
}

/** The list of a page that a repository gave, or of a copy with its places; undefined for any other value. */
export function originOf(page: Page<unknown>): PageOrigin | undefined {
  const known = [page, page.next, page.prev] as readonly (Known | null | undefined)[];
  return known.find((each) => each?.[ORIGIN])?.[ORIGIN];
}
