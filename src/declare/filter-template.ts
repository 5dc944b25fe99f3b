/** Conditions of the application's own, in the language of `q`: recorded here, and understood for a model later. */

/** A value in a `filter`. Null and undefined refuse the request, because a missing value must not widen the rows. */
export type FilterValue = string | number | bigint | boolean | Date | null | undefined;

/** A condition as it was written, with its values apart from the text. Made by `filter`. */
export class FilterTemplate {
  constructor(
    /** The same object for each condition that the same place in the code makes. */
    readonly texts: TemplateStringsArray,
    readonly values: readonly (FilterValue | readonly FilterValue[])[],
  ) {
    Object.freeze(this);
  }
}

/**
 * A condition for `visible`, and for rules of `can`, in the language of `q`, over all attributes of the model. An interpolated value is a value and
 * nothing else, with any characters: quotes, commas and stars mean themselves. An array means a list:
 * `teamId=in=${teams}`; an empty one matches no row, and with `=out=` every row. Where a value is null or undefined the request is refused with 403;
 * `=isnull=true` finds NULL.
 *
 * @example
 * ```ts
 * visible: (request) => filter`public==true,ownerId==${request.user.id}`
 * ```
 */
export function filter(
  texts: TemplateStringsArray,
  ...values: readonly (FilterValue | readonly FilterValue[])[]
): FilterTemplate {
  return new FilterTemplate(texts, Object.freeze(values));
}
