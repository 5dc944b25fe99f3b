/** Assertions about types. The files `*.types.ts` are checked by the compiler, with everything else, and never run. */

/** True when the two types are the same, `any`, `readonly` and optional included. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Does not compile unless its argument is `true`. */
export type Expect<T extends true> = T;

/** Does not compile unless its argument is `false`. */
export type Refute<T extends false> = T;

/** The assertions themselves can fail. */
export type Checks = [
  Expect<Equal<{ a: string }, { a: string }>>,
  Refute<Equal<string, ReturnType<typeof JSON.parse>>>,
  Refute<Equal<unknown, ReturnType<typeof JSON.parse>>>,
  Refute<Equal<{ a: string }, { a?: string }>>,
  Refute<Equal<{ a: string }, { readonly a: string }>>,
  // @ts-expect-error: they differ
  Expect<Equal<string, number>>,
  // @ts-expect-error: they are the same
  Refute<Equal<string, string>>,
];
