/** Options that the names and triggers of a table suggest: proposals, which nothing assumes. */
import { includable } from '../compile/compile-include.js';
import type { AttributePlan, DatabaseColumn, DatabaseTable, ModelPlan, RelationPlan } from './model-plan.js';
import { keyOf } from './name-choices.js';

const TENANT = /^(?:tenant|account|organi[sz]ation|org|company|workspace)_?id$/i;
/** Tables that have to have a column, so that it is that of tenants: most of them, and some. */
const LEAST_TENANTS = 3;

/** The columns that separate tenants, because most tables have them. */
export function findTenants(tables: readonly DatabaseTable[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const { name } of tables.flatMap(({ columns }) => columns))
    if (TENANT.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Set(
    [...counts]
      .filter(([, count]) => count >= LEAST_TENANTS && count * 2 > tables.length)
      .map(([name]) => name),
  );
}

/** Proposals of a model, and lines of the report. */
export function planHints(
  { table, attributes }: Pick<ModelPlan, 'table' | 'attributes'>,
  included: readonly RelationPlan[],
  tenants: ReadonlySet<string>,
): { readonly proposals: readonly string[]; readonly hints: readonly string[] } {
  const own = keyOf(table);
  const isWritten = !table.kind.endsWith('view');
  const ones = included.filter(isOne);
  const first = includable([...ones, ...included.filter((each) => !isOne(each))], isOne);
  const more = included.filter((each) => !first.includes(each));
  const set = attributes.filter(({ column }) => table.setByTriggers.includes(column.name));
  const proposals = [
    ...(first.length > 0 ? [`include: { ${first.map(({ name }) => `${name}: true`).join(', ')} }`] : []),
    ...(isWritten && set.length > 0 ? [`readOnly: [${set.map(({ name }) => `'${name}'`).join(', ')}]`] : []),
    ...(isWritten ? timestampsProposal(attributes.filter((each) => !set.includes(each))) : []),
    ...(isWritten ? attributes.flatMap((each) => columnProposal(each, set.includes(each))) : []),
    ...attributes
      .filter(({ column }) => tenants.has(column.name))
      .map(({ name }) => `scope: { ${name}: (request) => … }`),
  ];
  const hidden = attributes.filter(({ isSecret }) => isSecret).map(({ column }) => column.name);
  return {
    proposals,
    hints: [
      ...(hidden.length > 0
        ? [`${own}: ${hidden.join(', ')} ${hidden.length > 1 ? 'are' : 'is'} hidden as a secret.`]
        : []),
      ...(more.length > 0
        ? [
            `${own}: the proposed include is as large as one may be, without ${someOf(more.map(({ name }) => name))}.`,
          ]
        : []),
    ],
  };
}

function isOne({ kind }: RelationPlan): boolean {
  return kind === 'BelongsTo' || kind === 'HasOne';
}

/** Names that a line of the report has. */
const MOST_NAMED = 3;

function someOf(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Lines of the report, one for each proposal. */
export function proposalHints(models: readonly Pick<ModelPlan, 'table' | 'proposals'>[]): string[] {
  const tables = new Map<string, string[]>();
  for (const { table, proposals } of models)
    for (const line of proposals.filter((each) => !each.startsWith('include')))
      tables.set(line, [...(tables.get(line) ?? []), keyOf(table)]);
  return [...tables].map(([line, names]) => `${someOf(names)}: consider ${line}`);
}

/** Times that the application writes, as those of Rails: Sequelize can. A time with a default needs no writer. */
function timestampsProposal(attributes: readonly AttributePlan[]): string[] {
  const times = attributes.filter(({ column }) => isTime(column) && column.defaultSql === null);
  const nameOf = (pattern: RegExp) => times.find(({ column }) => pattern.test(plainName(column)))?.name;
  const created = nameOf(/^(?:createdat|createdon|createddate|datecreated)$/);
  const updated = nameOf(UPDATED);
  const deleted = attributes.find(
    ({ column }) =>
      isTime(column) && !column.isNotNull && /^(?:deletedat|deletedon|deletiondate)$/.test(plainName(column)),
  )?.name;
  if (!created && !updated && !deleted) return [];
  const text = (name: string | undefined) => (name ? `'${name}'` : 'false');
  const [paranoid, deletedAt] = deleted ? ['paranoid: true, ', `, deletedAt: '${deleted}'`] : ['', ''];
  return [
    `@Table({ timestamps: true, ${paranoid}createdAt: ${text(created)}, updatedAt: ${text(updated)}${deletedAt} })`,
  ];
}

const UPDATED = /^(?:updatedat|updatedon|modifiedat|lastupdated?|modifieddate)$/;

function isTime({ base, isArray }: DatabaseColumn): boolean {
  return base.startsWith('timestamp') && !isArray;
}

/** `updated_at` -> `updatedat` */
function plainName({ name }: DatabaseColumn): string {
  return name.replaceAll('_', '').toLowerCase();
}

function columnProposal({ name, column }: AttributePlan, isSet: boolean): string[] {
  const { base, isArray, isNotNull } = column;
  const plain = plainName(column);
  if (isArray) return [];
  if (base === 'boolean' && /^(?:is)?(?:deleted|archived)$/.test(plain))
    return [`softDelete: { attribute: '${name}', deleted: true, alive: false }`];
  if (/^(?:integer|bigint)$/.test(base) && isNotNull && /^(?:lockversion|version|rowversion)$/.test(plain))
    return [`etag: { attribute: '${name}'${isSet ? ", by: 'database'" : ''} }`];
  if (isTime(column) && !isSet && column.defaultSql !== null && UPDATED.test(plain))
    return [`readOnly: ['${name}'] where a trigger or a default keeps it`];
  return [];
}
