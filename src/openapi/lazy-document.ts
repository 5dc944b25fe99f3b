/** The document of an application, made when it is first asked for. */
import { setImmediate as otherWork } from 'node:timers/promises';
import type { OpenAPIObject } from './openapi-object.js';

/** Milliseconds for which the making of a document may keep other requests waiting. */
const SLICE = 10;

/** A document that is made once. */
export interface LazyDocument {
  /** Makes it at once, unless it is there. */
  now(): OpenAPIObject;
  /** Makes it in slices, between which other requests are answered: it takes a second for hundreds of models. */
  soon(): Promise<OpenAPIObject>;
}

/**
 * @param write makes the document in steps
 * @param version of what it is made of: with another one it is made once more
 */
export function lazyDocument(
  write: () => Generator<void, OpenAPIObject>,
  version: () => number = () => 0,
): LazyDocument {
  let made: { readonly document: OpenAPIObject; readonly of: number } | null = null;
  let making: { readonly document: Promise<OpenAPIObject>; readonly of: number } | null = null;
  const keep = (document: OpenAPIObject, of: number): OpenAPIObject => {
    const kept = made?.of === of ? made : { document, of };
    made = kept;
    return kept.document;
  };
  const known = () => (made?.of === version() ? made.document : undefined);
  const begin = (): Promise<OpenAPIObject> => {
    const of = version();
    const kept =
      making?.of === of ? making : { document: inSlices(write()).then((each) => keep(each, of)), of };
    making = kept;
    return kept.document;
  };
  return {
    now: () => known() ?? keep(whole(write()), version()),
    soon: async () => known() ?? begin(),
  };
}

function whole(steps: Generator<void, OpenAPIObject>): OpenAPIObject {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

async function inSlices(steps: Generator<void, OpenAPIObject>): Promise<OpenAPIObject> {
  let start = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (!done && performance.now() - start < SLICE) continue;
    await otherWork();
    if (done) return value;
    start = performance.now();
  }
}
