/** The models behind relations, and the rows that a relation may show. */

import type { Class, ModelClass } from '../declare/crud-options.js';
import type { IncludeOptions } from '../declare/include-options.js';
import { describeRecords } from '../describe/describe-model.js';
import { choiceProblem, isLeftOut } from '../describe/hooks-and-scopes-internals.js';
import type { RecordInfo } from '../describe/model-info.js';
import { declaredOptions, ownModel } from '../describe/record.js';
import { describeRelation, parentKeys, type Relation } from '../describe/relations.js';
import { keptIn } from '../util/memo.js';
import { showValue } from '../util/option-problems.js';
import { compileUnservedAccess, type SharedAccess } from './compile-access.js';
import { compileResource, type DecoratorReader } from './compile-resource.js';
import type { AccessPlan, RelatedPlan, ResourceDeclaration, ResourcePlan } from './resource-plan.js';

/** A model behind a relation, as far as its rows are shown. */
interface Target {
  readonly plan: ResourcePlan | null;
  readonly problems: readonly string[];
  /** Why its own routes may hide rows that no rule hides. */
  readonly guards: readonly string[];
}

/** Reports the problems of a relation. */
export interface RelationReport {
  readonly option: string;
  report(problem: string): void;
  /** Advice where other code guards the rows. Default: to set `where`. */
  readonly mend?: string;
}

/** The plans of models behind relations. The plan of a model that is not served is made from the model alone. */
export class RelatedModels {
  readonly #known = new Map<ModelClass, Target>();

  constructor(
    private readonly resources: readonly {
      readonly plan: ResourcePlan;
      readonly declaration: ResourceDeclaration;
    }[],
    private readonly decorators: DecoratorReader,
    private readonly shared: SharedAccess,
  ) {
    for (const { plan, declaration } of resources) {
      const guards = [...guardsOf(plan), ...(declaration.guards ?? [])];
      this.#known.set(plan.model, { plan, problems: [], guards });
    }
  }

  /**
   * Target of a relation of a model; null where the relation cannot be shown, and then each reason is reported.
   *
   * @param option the name of the option, such as `include.reviews`
   */
  lead(
    model: ModelClass,
    name: string,
    { where }: Pick<IncludeOptions, 'where'>,
    { option, report, mend }: RelationReport,
  ): RelatedPlan | null {
    let isWrong = false;
    const refuse = (problem: string): void => {
      isWrong = true;
      report(`${option} ${problem}`);
    };
    const { relation, problem } = describeRelation(model, name);
    if (!relation) {
      refuse(problem);
      return null;
    }
    const { target, parent, through } = relation;
    if (target.sequelize !== parent.sequelize)
      refuse(`leads to ${target.name}, which is in another database; read it by itself.`);
    scopeProblems(relation).forEach(refuse);
    softDeleteProblems(relation).forEach(refuse);
    const found = this.#of(target);
    for (const each of found.problems) refuse(`leads to a model that cannot be shown: ${each}`);
    const throughAccess = through && this.#accessOf(through.model, refuse);
    const rule = checkWhere(where, relation, found, { refuse, mend });
    if (isWrong || !found.plan) return null;
    const between = through && describeRecords(through.model);
    const throughSchema = through && this.#schemaOf(through.model);
    return Object.freeze({
      ...{ relation, target: found.plan, through: between, throughSchema, throughAccess },
      where: rule,
    });
  }

  #schemaOf(model: ModelClass): Class | null {
    const known = this.#known.get(model)?.plan;
    return known ? known.explicitSchemas.read : (declaredOptions(model)?.readSchema ?? null);
  }

  #accessOf(model: ModelClass, refuse: (problem: string) => void): AccessPlan | null {
    const known = this.#known.get(model)?.plan;
    if (known) return known.access;
    return compileUnservedAccess(model, this.shared, (problem) =>
      refuse(`leads over rows that cannot be asked for: ${problem}`),
    );
  }

  #of(model: ModelClass): Target {
    return keptIn(this.#known, model, () => this.#unserved(model));
  }

  #unserved(model: ModelClass): Target {
    const declared = declaredOptions(model);
    // It has no routes, so no bodies either.
    const options = {
      ...declared,
      endpoints: declared?.endpoints ?? (['list', 'read'] as const),
      include: {},
    };
    const { scope = {} } = this.shared;
    const { plan, problems } = compileResource({ model, options, isServed: false }, this.decorators, {
      scope,
    });
    const isRuled = (plan?.access?.can.size ?? 0) > 0;
    const guards = plan && declared ? [...guardsOf(plan), ...(isRuled ? ['it has rules in can'] : [])] : [];
    const isScoped = this.resources.some(({ plan: other }) => ownModel(other.model) === ownModel(model));
    return { plan, problems, guards: isScoped ? [...guards, 'it is served within another scope'] : guards };
  }
}

/** Options of a resource that guard its rows beside rules of access. */
function guardsOf({ dependencies, endpoints }: ResourcePlan): string[] {
  return [
    ...(dependencies.length > 0 ? ['it has dependencies'] : []),
    ...(endpoints.has('list') ? [] : ['it has no list']),
    ...(endpoints.has('read') ? [] : ['it has no read']),
  ];
}

/** Fail closed: an include would ignore guards that protect the rows elsewhere. */
function checkWhere(
  where: IncludeOptions['where'],
  { isOne }: Relation,
  { guards, plan }: Target,
  {
    refuse,
    mend = "give it where: a function of the request that says which rows may be seen here, or 'all'",
  }: { readonly refuse: (problem: string) => void; readonly mend: string | undefined },
): RelatedPlan['where'] {
  if (typeof where === 'function') return where;
  if (where === 'all') return null;
  if (where !== undefined) {
    refuse(
      `has where: ${showValue(where)}; use 'all', or a function of the request that gives a filter\`…\` or EVERYTHING.`,
    );
    return null;
  }
  const others = guards.filter((each) => each !== (isOne ? 'it has no list' : 'it has no read'));
  if (others.length > 0) {
    refuse(`would show what the routes of ${plan?.name} may hide, because ${others.join(', ')}; ${mend}.`);
  }
  return null;
}

function scopeProblems({ target, scope, through }: Relation): string[] {
  const scopes = [
    [target, scope],
    [through?.model, through?.scope],
  ] as const;
  return scopes.flatMap(([owner, values]) =>
    Object.entries(values ?? {})
      .filter(([name, value]) => !(owner && name in owner.getAttributes() && isPlainScope(value)))
      .map(
        ([name, value]) =>
          `has the scope { ${name}: ${showValue(value)} }, which is no value of an attribute; use plain values.`,
      ),
  );
}

/** The mark of a soft delete has no value before. @returns ends of sentences */
export function softDeleteProblems({ target, through }: Relation): string[] {
  return [target, through?.model].flatMap((model) => {
    const mark = model && describeRecords(model).softDelete;
    const name = mark?.values === null ? mark.attribute : undefined;
    const value = name && model?.getAttributes()[name]?.defaultValue;
    return model && value
      ? `leads to ${model.name}, whose ${name} has a default; rows that are not deleted must have NULL there.`
      : [];
  });
}

/** Why no condition can be about the rows behind a relation. @returns ends of sentences */
export function choiceProblems({ target, through }: Relation): string[] {
  return [target, through?.model].flatMap((model) => (model && choiceProblem(model)) ?? []);
}

/** Why no record has the key of a relation as the database has it. @returns the end of a sentence */
export function keyProblem(relation: Relation): string | null {
  const { parent } = relation;
  const { attributes } = describeRecords(parent);
  const moment = parentKeys(relation).find((name) => attributes.get(name)?.type.kind === 'date');
  if (moment === undefined) return null;
  return `is found by ${parent.name}.${moment}, a date, of which records keep milliseconds alone; use a key of another type.`;
}

/** Why no record is found again by its row, which Sequelize needs to read the rows of many parents. @returns the end of a sentence */
export function rowProblem({ name, primaryKey }: RecordInfo): string | null {
  if (primaryKey.length > 0) return null;
  return `leads to ${name}, of which no attributes tell its rows apart; name them with id: [...] in the @Crud of ${name}, or list its rows with a filter.`;
}

/** Why records that a scope is part of do not have the key. @returns the end of a sentence */
export function scopeProblem(relation: Relation): string | null {
  const { parent } = relation;
  const missing = parentKeys(relation).find((name) => isLeftOut(parent, name));
  if (missing === undefined) return null;
  return `is found by ${parent.name}.${missing}, which its default scope leaves out; have the scope read it: @Exclude() hides it from answers.`;
}

/** Values that PostgreSQL compares as texts. */
function isPlainScope(value: unknown): boolean {
  const values = Array.isArray(value) ? value : [value];
  return values.every((each) =>
    each === null
      ? !Array.isArray(value)
      : ['string', 'number', 'bigint', 'boolean'].includes(typeof each) || each instanceof Date,
  );
}
