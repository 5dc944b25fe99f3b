/** An empty registry of `@Crud` for each test of a suite; the declarations of other test files are there again afterwards. */

const REGISTRY = Symbol.for('crud-controllers:registry:v1');

/** To be called inside a `describe`. */
export function useEmptyRegistry(): void {
  const holder = globalThis as { [REGISTRY]?: unknown };
  let others: unknown;

  beforeEach(() => {
    others = holder[REGISTRY];
    holder[REGISTRY] = [];
  });

  afterEach(() => {
    holder[REGISTRY] = others;
  });
}
