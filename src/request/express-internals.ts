/** Parts of Express that this package reads, and that are not in the types of both versions. */
import type { Application } from 'express';

/** A layer of Express's router: a route, or a router in it, or a middleware. */
export interface Layer {
  readonly route?:
    | { readonly path?: unknown; readonly methods?: Readonly<Record<string, boolean | undefined>> }
    | undefined;
  readonly handle?: { readonly stack?: readonly Layer[] };
  /** Pattern of the layer's path, in Express 4. */
  regexp?: RegExp;
}

interface ApplicationRouter {
  readonly stack?: readonly Layer[];
  /** Options of the router. */
  readonly caseSensitive?: boolean | undefined;
  readonly strict?: boolean | undefined;
}

/** The router of an application, if it has one by now. Express 4 has another name for it, and throws at this one. */
export function routerOf(app: Application): ApplicationRouter | undefined {
  if (isExpress4(app)) return (app as { _router?: ApplicationRouter })._router;
  return (app as { router?: ApplicationRouter }).router;
}

/** True for Express 4. Its `router` is a getter that throws, and it makes its own router for the first layer. */
function isExpress4(app: Application): boolean {
  return 'lazyrouter' in app;
}

/** The layers of an application. */
export function layersOf(app: Application): readonly Layer[] {
  return routerOf(app)?.stack ?? [];
}

/** True for the layer of an error handler, which Express recognizes by its four parameters. */
export function isErrorHandler(layer: Layer): boolean {
  const { handle } = layer as { readonly handle?: unknown };
  return typeof handle === 'function' && handle.length === 4;
}

/** Moves the layers from a place on to another one before it. */
export function moveLayers(app: Application, from: number, to: number): void {
  const layers = layersOf(app) as Layer[];
  layers.splice(to, 0, ...layers.splice(from));
}

/** True where a layer matches a path, and for a layer without `match`. */
export function mayTake(layer: object, path: string): boolean {
  const { match } = layer as { match?: (path: string) => boolean };
  return typeof match === 'function' ? Reflect.apply(match, layer, [path]) : true;
}

/** From the application itself to the outermost one. */
export function* applicationChain(app: Application): Generator<Application> {
  for (let each: Application | undefined = app; each; each = (each as { parent?: Application }).parent) {
    yield each;
  }
}
