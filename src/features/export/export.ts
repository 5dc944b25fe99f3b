/** Exports: all records of a list as a file, of any number, in constant memory. They are another form of the list's answer, at its path. */
import { type ExportFormat, MEDIA_TYPES } from '../../declare/export-options.js';
import { Repository } from '../../execute/records/repository.js';
import { lineageOf } from '../../express/resources/controller-metadata.js';
import { CrudController, isOverridden } from '../../express/resources/crud-controller.js';
import type { Resource } from '../../express/resources/resource.js';
import { answerChanges, type PathSettings } from '../../handle/decide-route.js';
import type { HandledRoute } from '../../handle/handled-route.js';
import {
  type DescribedResource,
  type DescribedRoute,
  inputParameter,
} from '../../openapi/described-route.js';
import type { OperationObject, ParameterObject, ResponseObject } from '../../openapi/openapi-object.js';
import type { FeatureFactory } from '../../operation/feature.js';
import { type RoutePlan, USUAL } from '../../operation/route-spec.js';
import { createCursorCodec } from '../../request/query/cursor-codec.js';
import type { JsonSchema } from '../../schema/json-schema.js';
import { checkExport, compileExport, type ExportPlan, exportInputs, exportOf } from './export-options.js';
import { exportHandler } from './handle-export.js';

/** Answers a list as a file where the request wants one. */
export const exported: FeatureFactory = Object.assign(() => null, {
  resourceOptions: { export: compileExport },
  check: checkExport,
  routes: (plan: RoutePlan) => (exportOf(plan) ? [ROUTE] : []),
});

const ROUTE: HandledRoute & DescribedRoute = {
  ...USUAL.list,
  endpoint: 'export',
  // No method has a dot in its name.
  method: 'export.list',
  parameters: [],
  single: USUAL.list,
  joins: USUAL.list.path,
  compile: exportHandler,
  problems,
  describeJoined: describe,
};

/** Code of the user's that lists go through, and that an export would pass by. */
function problems({ controller, repository, isGenerated }: Resource, settings: PathSettings): string[] {
  const lineage = isGenerated ? [] : lineageOf(controller, CrudController);
  const { page, cursorPage } = Repository.prototype;
  const ownPages = [
    ...(repository.page === page ? [] : ['page']),
    ...(repository.cursorPage === cursorPage ? [] : ['cursorPage']),
  ];
  const passed = [
    ...(isOverridden(controller, 'list') ? [`${controller.name} has a method list`] : []),
    ...ownPages.map((name) => `${repository.constructor.name} has a method ${name}`),
    ...answerChanges(USUAL.list.method, lineage, settings),
  ];
  return passed.map(
    (reason) =>
      `${controller.name}: ${reason}, which no export goes through. Leave export out, or do without it: scope, visible, dependencies and ` +
      'read schemas hold for both.',
  );
}

function describe({ plan }: DescribedResource, list: OperationObject): OperationObject {
  const { formats } = exportOf(plan) as ExportPlan;
  const { parameters = [], responses } = list;
  const isNew = ({ name }: ParameterObject) => !parameters.some((each) => each.name === name);
  const added = exportInputs(plan, createCursorCodec([])).flatMap(inputParameter).filter(isNew);
  const page = responses[200] as ResponseObject;
  const files = formats.map((format) => [MEDIA_TYPES[format], { schema: FILES[format] }]);
  return {
    ...list,
    description: `${list.description}\n\nWith \`format\` all records are a file, which is whole where the answer ends as HTTP says it does.`,
    parameters: [...parameters, ...added],
    responses: {
      ...responses,
      200: {
        ...page,
        headers: { ...page.headers, 'Crud-Total': TOTAL },
        content: { ...page.content, ...Object.fromEntries(files) },
      },
    },
  };
}

const FILES: Readonly<Record<ExportFormat, JsonSchema>> = {
  csv: { type: 'string', description: 'A line of names, and a line for each record (RFC 4180).' },
  ndjson: { type: 'string', description: 'A line of JSON for each record.' },
};

const TOTAL = {
  description: 'The number of all records, with `format` and `count=exact`.',
  schema: { type: 'integer', minimum: 0 },
} as const;
