/** Parts of statements that distributed engines limit, found in the trees of PostgreSQL's own parser. */
import type { Client } from 'pg';
import { isNode, nodesIn, nodesOf, type TreeNode, type TreeValue, treeOf } from './query-tree.js';
import {
  type Binding,
  isFlag,
  isNeverRun,
  isOfQuery,
  isQuery,
  TenantBindings,
  WRITES,
} from './tenant-bindings.js';

/** Parts of a statement, in the order of the page. */
export const CONSTRUCTS = [
  'LATERAL',
  'WITH ORDINALITY',
  'function in FROM',
  'INSERT … SELECT',
  'ON CONFLICT',
  'row lock',
  'SKIP LOCKED',
  'WITH that writes',
  'table without a tenant',
  'MATERIALIZED',
  'correlated subquery',
  'subquery that never runs',
  'nextval',
  'ctid',
  'xmin',
  'transaction numbers',
  'advisory lock',
  'function that is not IMMUTABLE over a column, in a write',
  'function that is not IMMUTABLE in RETURNING',
  'settings of a transaction',
  'savepoint',
  'deferred constraints',
  'trigger',
  'transition tables',
  'partitions',
  'LISTEN',
  'prepared transaction',
] as const;

/** Name of such a part. */
export type Construct = (typeof CONSTRUCTS)[number];

/** A statement, classified. */
export interface Classified {
  readonly constructs: ReadonlySet<Construct>;
  /** True for one that reads tables of PostgreSQL alone, as the start does. */
  readonly isOfCatalogue: boolean;
  /** Null for a statement that names no table of tenants. */
  readonly tenant: Binding | null;
  /** True where a query locks rows, and binds the tenant of a table to something else than one value. */
  readonly isLockSpread: boolean;
}

/** Patterns of commands. PostgreSQL does not analyze them, so they have no tree. */
const COMMANDS: readonly (readonly [Construct, RegExp])[] = [
  ['settings of a transaction', /\bSET LOCAL\b|\bSET TRANSACTION\b/i],
  ['savepoint', /\bSAVEPOINT\b/i],
  ['deferred constraints', /\bSET CONSTRAINTS\b|\bDEFERRABLE\b/i],
  ['trigger', /\bCREATE (?:OR REPLACE )?(?:CONSTRAINT )?TRIGGER\b/i],
  ['transition tables', /\bREFERENCING (?:OLD|NEW) TABLE\b/i],
  ['partitions', /\bPARTITION (?:BY|OF)\b/i],
  ['transaction numbers', /\b(?:xid8|pg_snapshot)\b/i],
  ['LISTEN', /^\s*(?:UN)?LISTEN\b|^\s*NOTIFY\b/i],
  ['prepared transaction', /\bPREPARE TRANSACTION\b/i],
];

const FUNCTIONS: readonly (readonly [Construct, RegExp])[] = [
  ['nextval', /^nextval$/],
  ['advisory lock', /^pg_(?:try_)?advisory_/],
  [
    'transaction numbers',
    /^(?:pg_current_snapshot|pg_current_xact_id|pg_snapshot_\w+|pg_visible_in_snapshot)$/,
  ],
];

/** The first number of a table that is none of PostgreSQL's own (`FirstNormalObjectId`). */
const FIRST_OF_USER = 16_384;
/** Classifies statements of a database, whose tables of tenants have a column of this name. */
export class StatementClassifier {
  readonly #functions = new Map<string, { readonly name: string; readonly isImmutable: boolean }>();
  readonly #casts = new Map<string, { readonly input: string; readonly output: string }>();
  readonly #equals = new Set<string>();
  /** The number of the tenant's column, by table. */
  readonly #tenants = new Map<string, string>();

  private constructor(private readonly client: Client) {}

  /** Reads the catalogue. The tables have to be there. */
  static async of(client: Client, column: string): Promise<StatementClassifier> {
    const classifier = new StatementClassifier(client);
    const rows = async (text: string, values: readonly unknown[] = []) =>
      (await client.query<Record<string, string>>(text, [...values])).rows;
    for (const each of await rows(
      'SELECT oid::text, proname::text AS name, provolatile = $1 AS pure FROM pg_proc',
      ['i'],
    ))
      classifier.#functions.set(String(each['oid']), {
        name: String(each['name']),
        isImmutable: Boolean(each['pure']),
      });
    for (const each of await rows(
      'SELECT oid::text, typinput::oid::text AS input, typoutput::oid::text AS output FROM pg_type',
    ))
      classifier.#casts.set(String(each['oid']), {
        input: String(each['input']),
        output: String(each['output']),
      });
    for (const each of await rows("SELECT oid::text FROM pg_operator WHERE oprname = '='"))
      classifier.#equals.add(String(each['oid']));
    for (const each of await rows(
      'SELECT attrelid::text AS oid, attnum::text AS at FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid WHERE attname = $1 AND relkind = ANY ($2)',
      [column, ['r', 'p']],
    ))
      classifier.#tenants.set(String(each['oid']), String(each['at']));
    return classifier;
  }

  /** Classifies a statement, or several of them in one text. */
  async classify(statement: string): Promise<Classified> {
    if (!/^\s*(?:WITH|SELECT|INSERT|UPDATE|DELETE)\b/i.test(statement))
      return {
        constructs: commandConstructs(statement),
        isOfCatalogue: false,
        tenant: null,
        isLockSpread: false,
      };
    const tree = await treeOf(this.client, statement);
    const constructs = new Set<Construct>([...nodesOf(tree)].flatMap((node) => this.#constructsOf(node)));
    const bindings = new TenantBindings(this.#tenants, this.#equals).of(tree);
    const tenant =
      (['none', 'of rows', 'one'] as const).find((each) =>
        bindings.some(({ binding }) => binding === each),
      ) ?? null;
    const isLockSpread = bindings.some(({ binding, isLocked }) => isLocked && binding !== 'one');
    const tables = [...nodesOf(tree)].filter(
      ({ type, fields }) => type === 'RANGETBLENTRY' && fields['rtekind'] === '0',
    );
    const isOfCatalogue =
      tables.length > 0 && tables.every(({ fields }) => Number(fields['relid']) < FIRST_OF_USER);
    const isOther = ({ fields }: TreeNode): boolean => !this.#tenants.has(String(fields['relid']));
    if (tenant !== null && tables.some(isOther)) constructs.add('table without a tenant');
    return { constructs, isOfCatalogue, tenant, isLockSpread };
  }

  #constructsOf({ type, fields }: TreeNode): Construct[] {
    switch (type) {
      case 'QUERY':
        return this.#constructsOfQuery(fields);
      case 'RANGETBLENTRY':
        return [
          ...(fields['lateral'] === 'true' ? ['LATERAL' as const] : []),
          ...(fields['funcordinality'] === 'true' ? ['WITH ORDINALITY' as const] : []),
          ...(fields['rtekind'] === '3' ? ['function in FROM' as const] : []),
        ];
      case 'ROWMARKCLAUSE':
        return fields['waitPolicy'] === '1' ? ['row lock', 'SKIP LOCKED'] : ['row lock'];
      case 'ONCONFLICTEXPR':
        return ['ON CONFLICT'];
      case 'COMMONTABLEEXPR': {
        const written = nodesIn(fields['ctequery']).some((query) =>
          WRITES.includes(query.fields['commandType']),
        );
        return [
          ...(written ? ['WITH that writes' as const] : []),
          ...(fields['ctematerialized'] === '1' ? ['MATERIALIZED' as const] : []),
        ];
      }
      case 'CASEEXPR':
        return isNeverRun({ type, fields }) && [...nodesOf(fields['args'])].some(isQuery)
          ? ['subquery that never runs']
          : [];
      case 'SUBLINK':
        return isCorrelated(fields['subselect']) ? ['correlated subquery'] : [];
      case 'VAR':
        return fields['varattno'] === '-1' ? ['ctid'] : fields['varattno'] === '-2' ? ['xmin'] : [];
      case 'FUNCEXPR': {
        const { name = '' } = this.#functions.get(String(fields['funcid'])) ?? {};
        const isOfTransaction = name === 'set_config' && isFlag(nodesIn(fields['args'])[2], '1');
        return [
          ...FUNCTIONS.flatMap(([construct, pattern]) => (pattern.test(name) ? [construct] : [])),
          ...(isOfTransaction ? ['settings of a transaction' as const] : []),
        ];
      }
      default:
        return [];
    }
  }

  #constructsOfQuery(fields: TreeNode['fields']): Construct[] {
    if (!WRITES.includes(fields['commandType'])) return [];
    const isInsert = fields['commandType'] === '3';
    const isSelected = isInsert && nodesIn(fields['rtable']).some((entry) => entry.fields['rtekind'] === '1');
    const changed = isInsert ? [] : [fields['jointree'], fields['targetList']];
    const overColumns = changed.some((part) => this.#mutable(part).some(hasVar));
    return [
      ...(isSelected ? ['INSERT … SELECT' as const] : []),
      ...(overColumns ? ['function that is not IMMUTABLE over a column, in a write' as const] : []),
      ...(this.#mutable(fields['returningList']).length > 0
        ? ['function that is not IMMUTABLE in RETURNING' as const]
        : []),
    ];
  }

  /** Expressions of a query itself whose function is not IMMUTABLE. */
  #mutable(part: TreeValue | undefined): TreeNode[] {
    return [...nodesOf(part, isOfQuery)].filter(({ type, fields }) => {
      const calls = [fields['funcid'], fields['opfuncid']];
      if (type === 'COERCEVIAIO') {
        const [from, to] = [typeOf(nodesIn(fields['arg'])[0]), String(fields['resulttype'])];
        calls.push(this.#casts.get(from)?.output, this.#casts.get(to)?.input);
      }
      return calls.some((oid) => typeof oid === 'string' && this.#functions.get(oid)?.isImmutable === false);
    });
  }
}

/** Parts of a command. */
function commandConstructs(text: string): ReadonlySet<Construct> {
  return new Set(COMMANDS.flatMap(([construct, pattern]) => (pattern.test(text) ? [construct] : [])));
}

function hasVar(expression: TreeNode): boolean {
  return [...nodesOf(expression)].some(({ type }) => type === 'VAR');
}

/** True for a subquery that uses columns of the query around it. */
function isCorrelated(value: TreeValue | undefined, depth = 0): boolean {
  if (!isNode(value)) return Array.isArray(value) && value.some((each) => isCorrelated(each, depth));
  if (value.type === 'VAR') return Number(value.fields['varlevelsup']) >= depth;
  const below = isQuery(value) ? depth + 1 : depth;
  return Object.values(value.fields).some((each) => isCorrelated(each, below));
}

const RESULT_TYPES = [
  'vartype',
  'paramtype',
  'consttype',
  'funcresulttype',
  'opresulttype',
  'resulttype',
  'coalescetype',
  'casetype',
];

function typeOf(value: TreeNode | undefined): string {
  return String(
    RESULT_TYPES.map((name) => value?.fields[name]).find((each) => typeof each === 'string') ?? '',
  );
}
