/** Access of a request to a sub-resource: the rows of one parent, if the list of their resource returns them. */
import type { SubresourcePlan } from '../../compile/resource-plan.js';
import { type Access, type AccessForm, perForm } from '../../operation/access.js';
import { PARENT, type RelatedAccess, relatedSlots, rowsUnder } from '../../operation/related-rows.js';
import type { Predicate } from '../../request/query/predicate.js';

/** Makes the access of a request. @param id the parent's, as the path has it */
export type GrantSubresource = (related: RelatedAccess, id: string) => SubresourceAccess;

/** Compiles the access to a sub-resource. Requests with the same rules share a form, as everywhere. */
export function compileSubresourceAccess(plan: SubresourcePlan): GrantSubresource {
  const formOf = perForm((form) =>
    Object.freeze({ ...form, where: rowsUnder(plan, { target: form, where: null, through: null }) }),
  );
  return (related, id) => {
    const { target, where, through } = related;
    const form = formOf(target.form);
    const isUsual = target.where === target.form.where && !where && !through?.where;
    return new SubresourceAccess(plan, form, isUsual ? form.where : rowsUnder(plan, related), related, id);
  };
}

/** The access of one request to the rows of one parent. Its statements lack the parent's key until that is known. */
export class SubresourceAccess implements Access {
  readonly slots: Access['slots'];
  readonly references = [];

  constructor(
    private readonly plan: SubresourcePlan,
    readonly form: AccessForm,
    readonly where: Predicate | null,
    private readonly related: RelatedAccess,
    private readonly id: string,
  ) {
    this.slots = relatedSlots(related);
  }

  values(): ReturnType<Access['values']> {
    return this.related.target.values();
  }

  /** A cursor belongs to one parent and relation. */
  digest(): string {
    const { parent, name } = this.plan.relation;
    const { target, where, through } = this.related;
    return JSON.stringify([parent.name, name, this.id, target.digest(), where, through?.digest() ?? null]);
  }

  /** The same with the text of the parent's key. */
  under(key: string): Access {
    const { form, where, slots, references } = this;
    return {
      form,
      where,
      slots: { ...slots, [PARENT.slot]: key },
      references,
      values: () => this.values(),
      digest: () => this.digest(),
    };
  }
}
