/** The rules of a model that the application does not serve: those of its own `@Crud`, and the scope of `bootstrap`. */
import type { AccessOptions } from '../declare/access-options.js';
import type { ModelClass } from '../declare/crud-options.js';
import { describeRecords } from '../describe/describe-model.js';
import { declaredOptions } from '../describe/record.js';
import type { AccessPlan } from './access-plan.js';
import { compileAccess, type SharedAccess } from './compile-access.js';

/** The rules of rows and attributes; `can` is about routes. */
export const ROW_RULES: readonly (keyof AccessOptions)[] = ['scope', 'visible', 'fields'];

const NO_ROUTES = Object.freeze({
  endpoints: new Set<never>(),
  defaultSort: [],
  explicitSchemas: { read: null, create: null, update: null },
});

/** Compiles them; null where there are none. */
export function compileUnservedAccess(
  model: ModelClass,
  { scope = {} }: SharedAccess,
  report: (problem: string) => void,
): AccessPlan | null {
  const declared = declaredOptions(model) ?? {};
  const options = Object.fromEntries(
    ROW_RULES.flatMap((name) => (name in declared ? [[name, declared[name]]] : [])),
  );
  const isScoped = Object.keys(scope).some((name) => name in model.getAttributes());
  if (Object.keys(options).length === 0 && !isScoped) return null;
  const exposure = { unreadable: new Set<string>(), unwritable: new Set<string>(), undecided: new Map() };
  return compileAccess({ info: describeRecords(model), exposure, options, report }, NO_ROUTES, { scope });
}
