/** Holds the index of the item that a request is at: an error that is thrown then refuses that item. */
import type { Request } from 'express';

const ITEM = Symbol('current item');

/** From 0; `'unknown'` is one that nothing tells; null is none. */
export type CurrentItem = number | 'unknown' | null;

/** A property, as the resource of a request is. */
interface ItemRequest extends Request {
  [ITEM]?: CurrentItem;
}

/** Remembers the item. */
export function setCurrentItem(request: ItemRequest, item: CurrentItem): void {
  request[ITEM] = item;
}

/** The item; null where the request is about no single one. */
export function currentItem(request: ItemRequest): CurrentItem {
  return request[ITEM] ?? null;
}
