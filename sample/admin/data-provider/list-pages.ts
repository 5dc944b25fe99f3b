/** Pages by their numbers, as react-admin requests them, of lists with either kind of paging. */

/** A page as the API answers it: by number with `total`, or with cursors. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total?: number | null;
  readonly total_is?: 'exact' | 'at_least' | 'none';
  readonly next_cursor?: string | null;
  readonly has_next: boolean;
  readonly has_prev: boolean;
}

/** A list, in one order and with one filter. */
export interface List<Item> {
  /** The same for the same list. */
  readonly name: string;
  readonly pagination: 'offset' | 'cursor';
  read(page: Readonly<Record<string, string | number>>): Promise<Page<Item>>;
}

/** The `max` of `pageSize`, where the API says nothing else. */
const LARGEST_SIZE = 100;
const MOST_CURSORS = 1_000;
/** In pages, each of which is a request. */
const LONGEST_WAY = 20;

/** Remembers the cursors that it has met, so that the next page costs one request. */
export class ListPages {
  readonly #cursors = new Map<string, string | null>();

  /** The records of a page. An export reads more records than an answer of the API has, which takes several requests. */
  async read<Item>(list: List<Item>, { page = 1, perPage = 25 }) {
    const size = Math.min(perPage, LARGEST_SIZE);
    const before = (page - 1) * perPage;
    let number = Math.floor(before / size) + 1;
    let last = await this.#readOne(list, number, size);
    // Pages of the API begin at multiples of its size.
    const items = last.items.slice(before % size);
    while (last.has_next && items.length < perPage) {
      number += 1;
      last = await this.#readOne(list, number, size);
      items.push(...last.items);
    }
    const total = totalOf(last, before, items.length);
    return {
      data: items.slice(0, perPage),
      ...(total === undefined ? {} : { total }),
      pageInfo: { hasNextPage: last.has_next || items.length > perPage, hasPreviousPage: page > 1 },
    };
  }

  async #readOne<Item>(list: List<Item>, number: number, size: number): Promise<Page<Item>> {
    if (list.pagination === 'offset') return list.read({ page: number, size });
    const after = number === 1 ? undefined : await this.#cursorBehind(list, number - 1, size);
    if (after === null) return { items: [], has_next: false, has_prev: true };
    const page = await list.read({ size, ...(after === undefined ? {} : { after }) });
    this.#remember(keyOf(list, number, size), page.next_cursor ?? null);
    return page;
  }

  /**
   * Of a page that was not read, as after a reload of the browser, it is found by reading on from one that was. Null where
   * nothing comes behind, or the way is too long: react-admin then shows the first page.
   */
  async #cursorBehind<Item>(list: List<Item>, number: number, size: number): Promise<string | null> {
    const cursorAt = (at: number) => this.#cursors.get(keyOf(list, at, size));
    let read = number;
    while (read > 0 && cursorAt(read) === undefined) read -= 1;
    if (number - read > LONGEST_WAY) return null;
    for (let next = read + 1; next <= number; next += 1) await this.#readOne(list, next, size);
    return cursorAt(number) ?? null;
  }

  #remember(key: string, cursor: string | null): void {
    if (this.#cursors.size >= MOST_CURSORS) this.#cursors.clear();
    this.#cursors.set(key, cursor);
  }
}

/** Behind the last item of a list by cursor there is nothing, so all items are counted. */
function totalOf(
  { total, total_is = 'exact', has_next }: Page<unknown>,
  before: number,
  count: number,
): number | undefined {
  if (typeof total === 'number' && total_is === 'exact') return total;
  return has_next || (count === 0 && before > 0) ? undefined : before + count;
}

function keyOf({ name }: List<unknown>, number: number, size: number): string {
  return `${number} ${size} ${name}`;
}
