/** Problems and warnings of views, materialized views, foreign tables and partitioned tables: operations that PostgreSQL refuses there. */
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { Operation } from '../declare/crud-options.js';
import { singleOf } from '../declare/endpoint.js';
import { tableFacts } from '../describe/table-facts.js';
import { quotedTable } from '../execute/sql/sql-fragment.js';
import { isRefused } from '../operation/route-spec.js';

/** A warning for the endpoints of a resource whose writes PostgreSQL refuses. */
export function refusedLine({ name, model, info, endpoints, isKeyGiven }: ResourcePlan): readonly string[] {
  const facts = tableFacts(model);
  const isTaken = (endpoint: Operation) => {
    const operation = endpoint === 'replace' && !isKeyGiven ? 'update' : singleOf(endpoint);
    return isRefused({ model, info }, { operation }) !== true;
  };
  const left = [...endpoints].filter(isTaken);
  const refused = [...endpoints].filter((each) => !left.includes(each));
  if (!facts || refused.length === 0) return [];
  const isRead = left.every((each) => each === 'list' || each === 'read');
  const mend = isRead ? 'readOnly: true' : `endpoints: [${left.map((each) => `'${each}'`).join(', ')}]`;
  const others = facts.kind === 'view' ? 'INSTEAD OF triggers or routes of your own' : 'routes of your own';
  return [
    `${name}: the ${facts.kind} ${quotedTable(model)} takes no ${refused.join(', ')}, so that PostgreSQL would refuse each, and it is answered ` +
      `405; write ${mend} in its @Crud, or write elsewhere by ${others}.`,
  ];
}

/** A warning for a table whose heirs' rows are records of a resource as well. */
export function heirLine({ name, model, info }: ResourcePlan): readonly string[] {
  if (!tableFacts(model)?.isInherited || info.leavesHeirs) return [];
  return [
    `${name}: other tables inherit from ${quotedTable(model)}, whose rows are records, too, so that an id may be that of several, which is ` +
      '409; write only: true in its @Crud to leave them out.',
  ];
}

/** A warning for foreign partitions under plans that PostgreSQL keeps: 18.4 ended all connections at an UPDATE by such a plan. */
export function planLine({ name, model }: ResourcePlan): readonly string[] {
  const facts = tableFacts(model);
  if (facts?.kind !== 'foreign table' || facts.partitions.size === 0 || facts.isPlannedAnew) return [];
  return [
    `${name}: ${quotedTable(model)} has a foreign partition, and a plan that PostgreSQL keeps for an UPDATE or a DELETE of it may end all ` +
      'connections of the server; set plan_cache_mode = force_custom_plan for the database or the role.',
  ];
}

/** `only: true` where no table can inherit. */
export function onlyProblems({ name, model, info }: ResourcePlan): readonly string[] {
  const facts = tableFacts(model);
  if (!info.leavesHeirs || !facts || facts.kind === 'table') return [];
  return [
    `${name}: only is true, and ${quotedTable(model)} is a ${facts.kind}, from which no table inherits; leave it out. The rows of a ` +
      'partitioned table are in its partitions.',
  ];
}

/** Columns of tags and of soft deletion that nothing would write. */
export function writtenProblems({ name, model, info, entityTag }: ResourcePlan): readonly string[] {
  const facts = tableFacts(model);
  const counter = info.attributes.get(entityTag?.attribute ?? '');
  const isLeft = counter?.isReadOnly === true && counter.role === 'version';
  const [made] = [counter, info.attributes.get(info.softDelete?.attribute ?? '')].filter(
    (each) => each?.found?.isReadOnly,
  );
  return [
    ...(isLeft && facts?.kind === 'table' && !facts.watchesUpdates
      ? [
          `${name}: etag is { attribute: '${counter.name}', by: 'database' }, and no trigger of the table ${quotedTable(model)} runs for a row of ` +
            "an UPDATE, so that its tags would never change; add one, or leave by: 'database' out.",
        ]
      : []),
    ...(made
      ? [
          `${name}: the column ${made.column} of the table ${quotedTable(model)} is made by the table, so that no write can set ${made.name} for ` +
            `${made === counter ? 'etag' : 'softDelete'}; name another attribute.`,
        ]
      : []),
  ];
}

/** Tags of a column that views and foreign tables do not have. */
export function tagProblems({ name, model, entityTag }: ResourcePlan): readonly string[] {
  const facts = tableFacts(model);
  if (entityTag?.kind !== 'xmin' || !facts || facts.isTable || facts.kind === 'materialized view') return [];
  return [
    `${name}: etag is 'xmin', and the ${facts.kind} ${quotedTable(model)} has no such column of its own; give the model a version, or leave ` +
      'etag out.',
  ];
}
