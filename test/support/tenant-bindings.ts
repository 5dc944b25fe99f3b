/** The values that a statement has for the column of the tenant, in each of its tables. */
import { nodesIn, nodesOf, type TreeNode, type TreeValue } from './query-tree.js';

/** Values of the tenant's column in a table: one value, values of rows that the statement has, or any. */
export type Binding = 'one' | 'of rows' | 'none';

/** The binding of a table. */
export interface Bound {
  readonly binding: Binding;
  readonly isLocked: boolean;
}

const NO_KEYS: ReadonlySet<string> = new Set();
/** Numbers of UPDATE, INSERT and DELETE. */
export const WRITES: readonly unknown[] = ['2', '3', '4'];

/** True for a SELECT, INSERT, UPDATE or DELETE, also inside of another one. */
export const isQuery = ({ type }: TreeNode): boolean => type === 'QUERY';
/** `CASE WHEN false THEN …`, which only has a type. */
export const isNeverRun = ({ type, fields }: TreeNode): boolean =>
  type === 'CASEEXPR' && isFlag(nodesIn(nodesIn(fields['args'])[0]?.fields['expr'])[0], '0');
/** True for a node whose content belongs to the query that it is in, and runs. */
export const isOfQuery = (node: TreeNode): boolean => !isQuery(node) && !isNeverRun(node);

/** Finds the values of the tenant's column in the tables of statements. */
export class TenantBindings {
  /**
   * @param tenants the number of the tenant's column, by table
   * @param equals the operators that compare by equality
   */
  constructor(
    private readonly tenants: ReadonlyMap<string, string>,
    private readonly equals: ReadonlySet<string>,
  ) {}

  /** The binding of each table of tenants. @param outer the keys with one value of the queries around, the nearest last */
  of(query: TreeNode, outer: readonly ReadonlySet<string>[] = []): Bound[] {
    const { one, ofRows } = this.#keys(query, outer);
    const scopes = [...outer, one];
    const inner = [...nodesOf(query.fields['cteList'], isOfQuery)].filter(isQuery);
    const below = ['rtable', 'jointree', 'targetList', 'returningList', 'havingQual', 'limitCount'].flatMap(
      (part) => [...nodesOf(query.fields[part], isOfQuery)].filter(isQuery),
    );
    const isLocked = nodesIn(query.fields['rowMarks']).length > 0;
    const own = nodesIn(query.fields['rtable']).flatMap((entry, index): Bound[] => {
      const column = this.#tenantColumn(entry);
      if (column === undefined) return [];
      const key = `${index + 1}.${column}`;
      if (query.fields['commandType'] === '3' && query.fields['resultRelation'] === String(index + 1))
        return [{ binding: this.#insertBinding(query, column, one), isLocked: false }];
      return [{ binding: one.has(key) ? 'one' : ofRows.has(key) ? 'of rows' : 'none', isLocked }];
    });
    return [
      ...own,
      ...inner.flatMap((each) => this.of(each, scopes)),
      ...below.flatMap((each) => this.of(each, scopes)),
    ];
  }

  #tenantColumn({ fields }: TreeNode): string | undefined {
    return fields['rtekind'] === '0' ? this.tenants.get(String(fields['relid'])) : undefined;
  }

  #insertBinding(query: TreeNode, column: string, one: ReadonlySet<string>): Binding {
    const entry = nodesIn(query.fields['targetList']).find(({ fields }) => fields['resno'] === column);
    const value = plain(nodesIn(entry?.fields['expr'])[0]);
    if (!value) return 'none';
    return isConstant(value) || one.has(keyOf(value)) ? 'one' : 'of rows';
  }

  /** Columns of a query's tables that can only have one value, and those that have values of other rows. */
  #keys(query: TreeNode, outer: readonly ReadonlySet<string>[]) {
    const pairs = this.#equalities(query);
    const entries = nodesIn(query.fields['rtable']);
    const one = new Set<string>();
    const ofRows = new Set<string>();
    const isOne = (value: TreeNode): boolean =>
      isConstant(value) || isOuterKey(value, outer) || one.has(keyOf(value));
    const isOfRows = (value: TreeNode): boolean => {
      const kind = entries[Number(value.fields['varno']) - 1]?.fields['rtekind'];
      return (
        ofRows.has(keyOf(value)) ||
        (value.type === 'VAR' && value.fields['varlevelsup'] === '0' && kind !== '0') ||
        isOuter(value)
      );
    };
    const spread = (): void => {
      for (let size = -1; size !== one.size + ofRows.size; ) {
        size = one.size + ofRows.size;
        for (const [left, right, isAny] of pairs)
          for (const [target, value] of [
            [left, right],
            [right, left],
          ] as const) {
            if (target.type !== 'VAR' || isOuter(target)) continue;
            if (isAny) ofRows.add(keyOf(target));
            else if (isOne(value)) one.add(keyOf(target));
            else if (isOfRows(value)) ofRows.add(keyOf(target));
          }
      }
    };
    spread();
    for (const [index, entry] of entries.entries())
      for (const column of this.#outputs(query, entry, [...outer, one])) one.add(`${index + 1}.${column}`);
    spread();
    return { one, ofRows };
  }

  /** Columns of a subquery or WITH query that can only have one value. */
  #outputs(query: TreeNode, { fields }: TreeNode, scopes: readonly ReadonlySet<string>[]): string[] {
    const named = nodesIn(query.fields['cteList']).find(
      (each) => each.fields['ctename'] === fields['ctename'],
    );
    const source =
      fields['rtekind'] === '1'
        ? fields['subquery']
        : fields['rtekind'] === '6'
          ? named?.fields['ctequery']
          : undefined;
    const [inner] = nodesIn(source);
    if (!inner) return [];
    const { one } = this.#keys(inner, scopes);
    const written = WRITES.includes(inner.fields['commandType']);
    return nodesIn(inner.fields[written ? 'returningList' : 'targetList']).flatMap((entry) => {
      const value = plain(nodesIn(entry.fields['expr'])[0]);
      return value && (isConstant(value) || one.has(keyOf(value))) ? [String(entry.fields['resno'])] : [];
    });
  }

  /** Pairs of expressions that a query has equal. The third member is true where one of them is an array. */
  #equalities(query: TreeNode): (readonly [TreeNode, TreeNode, boolean])[] {
    const joins = [...nodesOf(query.fields['jointree'], isOfQuery)].filter(({ type }) =>
      ['FROMEXPR', 'JOINEXPR'].includes(type),
    );
    const conditions = joins.flatMap(({ fields }) => nodesIn(fields['quals']));
    return conditions.flatMap(conjuncts).flatMap(({ type, fields }) => {
      if (!['OPEXPR', 'SCALARARRAYOPEXPR'].includes(type) || !this.equals.has(String(fields['opno'])))
        return [];
      const [left, right] = nodesIn(fields['args']).map((each) => joined(plain(each), query));
      return left && right ? [[left, right, type === 'SCALARARRAYOPEXPR'] as const] : [];
    });
  }
}

function conjuncts(condition: TreeNode): TreeNode[] {
  const isAnd = condition.type === 'BOOLEXPR' && condition.fields['boolop'] === 'and';
  return isAnd ? nodesIn(condition.fields['args']).flatMap(conjuncts) : [condition];
}

/** The expression below casts that change no value. */
function plain(value: TreeNode | undefined): TreeNode | undefined {
  return value?.type === 'RELABELTYPE' ? plain(nodesIn(value.fields['arg'])[0]) : value;
}

/** The column of a table behind one of a join. */
function joined(value: TreeNode | undefined, query: TreeNode): TreeNode | undefined {
  if (value?.type !== 'VAR' || isOuter(value)) return value;
  const entry = nodesIn(query.fields['rtable'])[Number(value.fields['varno']) - 1];
  if (entry?.fields['rtekind'] !== '2') return value;
  return joined(plain(nodesIn(entry.fields['joinaliasvars'])[Number(value.fields['varattno']) - 1]), query);
}

function keyOf({ type, fields }: TreeNode): string {
  return type === 'VAR' && fields['varlevelsup'] === '0' ? `${fields['varno']}.${fields['varattno']}` : '';
}

function isConstant({ type, fields }: TreeNode): boolean {
  if (type === 'FUNCEXPR' || type === 'COERCEVIAIO')
    return nodesIn(fields['args'] ?? fields['arg']).every(isConstant);
  return type === 'PARAM' || type === 'CONST';
}

function isOuter({ type, fields }: TreeNode): boolean {
  return type === 'VAR' && fields['varlevelsup'] !== '0';
}

function isOuterKey(value: TreeNode, outer: readonly ReadonlySet<string>[]): boolean {
  if (!isOuter(value)) return false;
  const { varlevelsup, varno, varattno } = value.fields;
  return (outer.at(-Number(varlevelsup)) ?? NO_KEYS).has(`${varno}.${varattno}`);
}

/** True for a constant whose first byte is this. */
export function isFlag(value: TreeNode | undefined, byte: string): boolean {
  const [, bytes] = (value?.fields['constvalue'] ?? []) as readonly TreeValue[];
  return Array.isArray(bytes) && bytes[0] === byte;
}
