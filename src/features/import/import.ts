/** Imports of files: `POST /import`, guarded as the methods whose work it does for each row. */
import { declaredParameters, isGuarded, lineageOf } from '../../express/resources/controller-metadata.js';
import { CrudController } from '../../express/resources/crud-controller.js';
import type { Resource } from '../../express/resources/resource.js';
import type { HandledRoute } from '../../handle/handled-route.js';
import type { DescribedRoute } from '../../openapi/described-route.js';
import type { FeatureContext, FeatureFactory } from '../../operation/feature.js';
import { type RoutePlan, USUAL } from '../../operation/route-spec.js';
import type { KeySettings } from '../idempotency/idempotency-options.js';
import { importOperation, importSchemas, WORDS } from './describe-import.js';
import { type ImportFeature, importHandler } from './handle-import.js';
import { checkImport, compileImport, type ImportPlan, importPlan } from './import-options.js';
import { importTables } from './import-table.js';

/** Settings of the keys of imports, for their handler. */
function makeFeature({ plan, application }: FeatureContext): ImportFeature | null {
  if (!importPlan(plan)) return null;
  return { importKeys: (application?.['idempotency'] as KeySettings | undefined) ?? null };
}

/** The route for files. Its rules, schemas and methods are those of the writes of one record. */
export const fileImport: FeatureFactory = Object.assign(makeFeature, {
  tables: importTables,
  resourceOptions: { import: compileImport },
  check: checkImport,
  routes(plan: RoutePlan) {
    const option = importPlan(plan);
    return option ? [routeOf(option)] : [];
  },
});

function routeOf(option: ImportPlan): HandledRoute & DescribedRoute {
  const [first = 'create'] = option.modes;
  return {
    ...USUAL.create,
    endpoint: 'import',
    operation: first,
    // No method has a dot in its name.
    method: 'import.rows',
    path: '/import',
    parameters: [],
    status: 200,
    words: WORDS,
    single: USUAL[first],
    compile: (context) => importHandler(context, option),
    problems: (resource) => problemsOf(resource, option),
    mend: (name) => `leave import out of the options of ${name}`,
    describe: ({ resource, action }) => importOperation(resource, action, option),
    schemas: () => importSchemas(),
  };
}

/** Problems of a controller whose methods an import passes by, or calls for each row. */
function problemsOf({ controller }: Resource, { modes }: ImportPlan): string[] {
  const lineage = lineageOf(controller, CrudController);
  const [first, ...others] = modes;
  return modes.flatMap((mode) => {
    const { method } = USUAL[mode];
    const isPassed = others.includes(mode) && isGuarded(lineage, method);
    const isRead = declaredParameters(lineage, method).length > 0;
    return [
      ...(isPassed
        ? [
            `${controller.name}.${method} has decorators that guard it, and import is guarded as ${first}; guard the class, or use can.${mode}, or leave '${mode}' out of import.modes.`,
          ]
        : []),
      ...(isRead
        ? [
            `${controller.name}.${method} has decorated parameters, which are read once for a request, and import calls it for each row; read them from context.request in the method, or leave '${mode}' out of import.modes.`,
          ]
        : []),
    ];
  });
}
