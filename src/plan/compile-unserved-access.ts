/** The rules of a model that an application does not serve: those of its own `@Crud`, and the scope of `bootstrap`. */
import type { AccessOptions } from '../metadata/access-options.js';
import type { ModelClass } from '../metadata/crud-options.js';
import { declaredOptions } from '../model/declared-options.js';
import type { AccessPlan } from './access-plan.js';
import { compileAccess, type SharedAccess } from './compile-access.js';
import { describeRecords } from './describe-model.js';

/** The rules that hold for rows wherever they are seen. */
export const RULES: readonly (keyof AccessOptions)[] = ['scope', 'visible', 'fields'];

/** Compiles the rules; null where there are none. */
export function compileUnservedAccess(
  model: ModelClass,
  { scope = {} }: SharedAccess,
): { readonly plan: AccessPlan | null; readonly problems: readonly string[] } {
  const declared = declaredOptions(model) ?? {};
  const options = Object.fromEntries(
    RULES.flatMap((name) => (name in declared ? [[name, declared[name]]] : [])),
  );
  const problems: string[] = [];
  const isScoped = Object.keys(scope).some((name) => name in model.getAttributes());
  if (Object.keys(options).length === 0 && !isScoped) return { plan: null, problems };
  const info = describeRecords(model);
  const exposure = { unreadable: new Set<string>(), unwritable: new Set<string>(), undecided: new Map() };
  const check = { info, exposure, options, report: (problem: string) => void problems.push(problem) };
  return { plan: compileAccess(check, NO_ROUTES, { scope }), problems };
}

const NO_ROUTES = Object.freeze({
  endpoints: new Set<never>(),
  defaultSort: [],
  explicitSchemas: { read: null, create: null, update: null },
});
