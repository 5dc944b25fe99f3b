/** Finds the cursor of a depth: the only way there is page by page. */
import type { Ask } from './call.js';

/** Rows of a page on the way; what `pageSize` of our contenders allows. */
const STRIDE = 1_000;

/** A page on the way is not what it has to be. */
export class WalkFailed extends Error {}

/** The cursor behind this many records of a list of ours. */
export async function walkTo(depth: number, list: string, ask: Ask): Promise<string> {
  let cursor = '';
  for (let at = 0; at < depth; ) {
    const size = Math.min(STRIDE, depth - at);
    const path = `${list}&fields=id&size=${size}${cursor && `&after=${cursor}`}`;
    const { status, body } = await ask({ method: 'GET', path });
    if (status !== 200) throw new WalkFailed(`GET ${path} answers ${status}: ${JSON.stringify(body)}`);
    cursor = (body as { next_cursor: string }).next_cursor;
    at += size;
  }
  return cursor;
}
