/** The relations in `sortAllow` of one resource -> the keys of their names, or everything that is wrong with them. */
import { isRelatedName, isSpelled, placeOf, sortEntries, sortOptionsOf, termsOf } from './compile-sort.js';
import { choiceProblems, type RelatedModels } from './related-models.js';
import {
  everyInclude,
  type RelatedPlan,
  type RelatedResource,
  type ResourcePlan,
  type SortKey,
} from './resource-plan.js';

/** Compiles the names such as `country.name` into the plan. Its filters are compiled before. @returns every problem */
export function compileRelationSorts(
  { plan, declaration: { options } }: RelatedResource,
  models: RelatedModels,
): readonly string[] {
  const problems: string[] = [];
  const report = (problem: string) => void problems.push(`${plan.name}: ${problem}`);
  const sortKeys = plan.sortKeys as Map<string, readonly SortKey[]>;
  for (const [name, wanted] of sortEntries(options.sortAllow)) {
    if (!isRelatedName(plan, name)) continue;
    const [relation = '', ...rest] = name.split('.');
    const { nulls } = sortOptionsOf(report, name, wanted, ['nulls'], "{ nulls: 'last' }");
    const related = leadTo(plan, relation, models, report);
    if (!related) continue;
    const { target } = related;
    const problem = nameProblem(name, rest.join('.'), related);
    if (problem) report(`sortAllow names '${name}', ${problem}`);
    else
      sortKeys.set(
        name,
        termsOf(target, rest.join('.'), false).map(({ descending: _, ...key }, index) => {
          const value = Object.freeze({ kind: 'related', related, key } as const);
          const place = placeOf(index === 0 ? (nulls ?? key.nulls) : key.nulls);
          return Object.freeze({ attribute: name, ...place, value });
        }),
      );
  }
  return problems;
}

/** Takes the plan of a relation that the resource has already: its access rule is then evaluated once for both. */
function leadTo(
  { model, relations: { include, filters } }: ResourcePlan,
  name: string,
  models: RelatedModels,
  report: (problem: string) => void,
): RelatedPlan | null {
  const known = everyInclude(include).find(({ path }) => path === name) ?? filters.get(name)?.related;
  const mend = `name it in include: '${name}': { where: … } says which rows may be seen, 'all' or a function of the request`;
  return known ?? models.lead(model, name, {}, { option: `sortAllow.${name}`, report, mend });
}

/** Why rows cannot be sorted by a name behind a relation. @returns the end of a sentence */
function nameProblem(name: string, inTarget: string, { relation, target }: RelatedPlan): string | undefined {
  if (!isSpelled(name)) return 'which sort cannot spell; rename it, or remove it.';
  if (!relation.isOne)
    return `and ${relation.name} leads to many records, of which none is the one to sort by; remove it.`;
  const [choice] = choiceProblems(relation);
  if (choice !== undefined) return `and ${choice}`;
  if (isRelatedName(target, inTarget))
    return 'behind more than one relation, which is the most that an order may follow; remove it.';
  if (target.sortable.includes(inTarget)) return undefined;
  return `and sortAllow of ${target.name} has no '${inTarget}'; add it there, or remove it.`;
}
