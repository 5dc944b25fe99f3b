/** The plan of a model without options, for operations without a route: no rules, no relations, every attribute. */
import type { RecordInfo } from '../describe/model-info.js';
import { totalOrder } from './compile-sort.js';
import { NO_SCHEMAS, noRelations, OPEN_EXPOSURE, type ResourcePlan } from './resource-plan.js';

const NONE = Object.freeze([]);

/** Makes the plan. */
export function barePlan(info: RecordInfo, exposure = OPEN_EXPOSURE): ResourcePlan {
  const { model, name } = info;
  return Object.freeze<ResourcePlan>({
    name,
    model,
    info: info as ResourcePlan['info'],
    exposure,
    hidden: exposure.unreadable,
    prefix: '',
    tags: NONE,
    description: null,
    endpoints: new Set<never>(),
    pagination: 'offset',
    pageSize: { default: 1, max: Number.MAX_SAFE_INTEGER },
    count: null,
    filters: new Map(),
    sortable: NONE,
    sortKeys: new Map(),
    everything: new Map(),
    defaultSort: totalOrder([], info.primaryKey),
    explicitSchemas: NO_SCHEMAS,
    isKeyGiven: false,
    dependencies: NONE,
    parseId: (raw) => ({ kind: 'id', value: raw }),
    idKind: 'custom',
    idParts: NONE,
    unknownQuery: 'reject',
    entityTag: null,
    ifMatch: 'optional',
    access: null,
    relations: noRelations(),
    features: {},
  });
}
