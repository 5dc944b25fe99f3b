/** Which item of its body a request is at: what is refused then is that item. */
import type { Request } from 'express';

const ITEM = Symbol('current item');

/** A property, as the resource of a request is. */
interface ItemRequest extends Request {
  [ITEM]?: number | null;
}

/** Remembers the item, from 0; null is none. */
export function setCurrentItem(request: ItemRequest, index: number | null): void {
  request[ITEM] = index;
}

/** The item; null where the request is about no single one. */
export function currentItem(request: ItemRequest): number | null {
  return request[ITEM] ?? null;
}
