/** What this package reads of Express that is not in the types of both versions. */
import type { Application } from 'express';

/** A layer of Express's router: a route, or a router in it, or a middleware. */
export interface Layer {
  readonly route?:
    | { readonly path?: unknown; readonly methods?: Readonly<Record<string, boolean | undefined>> }
    | undefined;
  readonly handle?: { readonly stack?: readonly Layer[] };
}

/** The layers of an application. Express 4 has another name for its router, and throws at this one. */
export function layersOf(app: Application): readonly Layer[] {
  const { _router: router = (app as { router?: Layer['handle'] }).router } = app as {
    _router?: Layer['handle'];
  };
  return router?.stack ?? [];
}

/** From the application itself to the outermost one. */
export function* applicationChain(app: Application): Generator<Application> {
  for (let each: Application | undefined = app; each; each = (each as { parent?: Application }).parent) {
    yield each;
  }
}
