/** An empty registry of `@Crud` for each test of a suite; what the other test files declared is there again afterwards. */

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
