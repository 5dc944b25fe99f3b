/** Imports of files: `POST /import`, guarded as the methods whose work it does for each row. */

import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { ImportMode } from '../../declare/import-options.js';
import { guardProblems, parameterProblems } from '../../express/resources/method-problems.js';
import type { Resource } from '../../express/resources/resource.js';
import type { HandledRoute } from '../../handle/handled-route.js';
import type { DescribedRoute } from '../../openapi/described-route.js';
import type { FeatureContext, FeatureFactory } from '../../operation/feature.js';
import { type RoutePlan, USUAL } from '../../operation/route-spec.js';
import type { KeySettings } from '../idempotency/idempotency-options.js';
import { CSV_PACKAGE, loadCsvParse } from './csv-rows.js';
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
  inspectTable: (plan: ResourcePlan) => ({ problems: [], warnings: packageWarnings(plan) }),
  routes(plan: RoutePlan) {
    const option = importPlan(plan);
    return option ? [routeOf(option)] : [];
  },
});

/** JSON lines need no package, so that the application starts without one. */
function packageWarnings(plan: ResourcePlan): string[] {
  if (!importPlan(plan) || loadCsvParse()) return [];
  return [
    `${plan.info.name}: import takes no CSV without the package ${CSV_PACKAGE}; npm install ${CSV_PACKAGE}. JSON lines need none.`,
  ];
}

function routeOf(option: ImportPlan): HandledRoute & DescribedRoute {
  const [first] = METHODS[option.modes[0] as ImportMode] as ['create' | 'update'];
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

/** The methods that a mode calls. */
const METHODS: Readonly<Record<ImportMode, readonly ('create' | 'update')[]>> = {
  create: ['create'],
  update: ['update'],
  upsert: ['create', 'update'],
};

/** Problems of a controller whose methods an import passes by, or calls for each row. */
function problemsOf(resource: Resource, { modes }: ImportPlan): string[] {
  const [first] = METHODS[modes[0] as ImportMode];
  const methods = new Set(modes.flatMap((mode) => METHODS[mode]));
  return [...methods].flatMap((method) => {
    const modeList = modes.filter((mode) => METHODS[mode].includes(method)).map((mode) => `'${mode}'`);
    const mend = `leave ${modeList.join(' and ')} out of import.modes`;
    return [
      ...guardProblems(
        resource,
        method === first ? [] : [method],
        `import is guarded as ${first}`,
        `guard the class, or use can.${method}, or ${mend}`,
      ),
      ...parameterProblems(
        resource,
        [method],
        'which are read once for a request, and import calls it for each row',
        mend,
      ),
    ];
  });
}
