/** Links of a join model: our SQL finds and writes its rows, or Sequelize does row by row where code of the user's takes part. */
import type { Sequelize } from 'sequelize';
import { accessRules, accessSource } from '../../access/reference-access.js';
import { keyAttributes } from '../../describe/foreign-keys.js';
import { isFilled, isGenerated, type RowKey } from '../../describe/model-info.js';
import { idOf, isOfKey, keyText } from '../../describe/row-key.js';
import { defaultValues } from '../../describe/sequelize-internals.js';
import { ofTables } from '../../describe/table-facts.js';
import { noteUnseen } from '../../describe/unseen-values.js';
import { describeFault, hasState } from '../../errors/database-fault.js';
import { NotFoundError, notStored } from '../../errors/errors.js';
import { openTest } from '../../execute/customization/plain-queries.js';
import { Repository } from '../../execute/records/repository.js';
import { type Id, repositoryOperation } from '../../execute/records/repository-operations.js';
import { checkNewRow } from '../../execute/records/scoped-values.js';
import { ManyRows } from '../../execute/rows/many-rows.js';
import { COUNTED } from '../../execute/rows/many-writes.js';
import { joinableSession, runInSavepoint } from '../../execute/session/savepoint.js';
import { selectValues } from '../../execute/session/select-values.js';
import { now, RowEncoder } from '../../execute/sql/encode-parameter.js';
import { bindRows, isBindable, newRowsByShape } from '../../execute/sql/parameter-arrays.js';
import { joinSlots } from '../../execute/sql/statement.js';
import { LEFT_BEHIND } from '../../execute/sql/write-matching-sql.js';
import { NOW } from '../../execute/sql/write-sql.js';
import type { PathSettings } from '../../handle/decide-route.js';
import { type Access, OPEN_ACCESS } from '../../operation/access.js';
import type { DeleteOperation, DeletionMark } from '../../operation/operation.js';
import { allOf, compared, equalTo } from '../../operation/predicates.js';
import { relatedSlots } from '../../operation/related-rows.js';
import { onPrimary } from '../../postgres/index.js';
import { constantDefault } from '../../request/constant-default.js';
import { recordValue } from '../../request/query/rule-filters.js';
import { invalidAttribute } from '../../schema/request-issue.js';
import { describePairs, isRequired, linkAttributes, shownAttributes, unseenOfPairs } from './link-options.js';
import { findPairsSql, insertPairsSql, seenPairs } from './link-sql.js';
import {
  type FoundLink,
  findSlots,
  type LinkChanges,
  type LinkRequest,
  type LinkStore,
} from './link-store.js';
import type { Links } from './parse-links.js';

type Values = Readonly<Record<string, unknown>>;

/** Compiles the store of a `belongsToMany`. */
export function compilePairStore({ below, link }: Links, { followed }: PathSettings): LinkStore {
  const info = describePairs(below);
  const { model, softDelete } = info;
  const [parentKey, targetKey] = info.address as unknown as readonly [RowKey[0], RowKey[0]] & RowKey;
  if (!parentKey || !targetKey) throw new TypeError(`${info.name} joins nothing.`);
  const sequelize = model.sequelize as Sequelize;
  const shown = shownAttributes(below, link.fields);
  noteUnseen(model, () => unseenOfPairs(below));
  const offered = ofTables(() =>
    linkAttributes(below, link.fields).filter((attribute) => !isGenerated(attribute)),
  );
  const encoder = new RowEncoder(info);
  const many = new ManyRows(info);
  const tests = (['create', 'update', 'delete'] as const).map((endpoint) => ({
    isOpen: openTest(info, endpoint, false),
    isFollowed: () => (followed.get(model)?.(endpoint) ?? null) !== null,
  }));
  const isByRows = () => tests.every(({ isOpen, isFollowed }) => isOpen() && !isFollowed());
  const { mark } = repositoryOperation(
    model,
    'delete',
    OPEN_ACCESS,
    keyText(info.address),
  ) as DeleteOperation;

  const keysOf = ({ key }: LinkRequest, found: FoundLink): Values => ({
    [parentKey.name]: recordValue(parentKey.type, key),
    [targetKey.name]: recordValue(targetKey.type, found.key),
  });
  const idIn = (request: LinkRequest, found: FoundLink) => {
    const keys = keysOf(request, found);
    return idOf(info.address, (name) => keys[name]);
  };
  /** Values of a new link, with those that it does not name. */
  const anew = (values: Values): Values => {
    const defaults = defaultValues(model);
    const usual = offered().flatMap((attribute) => {
      const { name, nullable } = attribute;
      const value = defaults[name]?.() ?? constantDefault(attribute);
      if (value !== undefined) return [[name, value] as const];
      return nullable && !isFilled(attribute) ? [[name, null] as const] : [];
    });
    return { ...Object.fromEntries(usual), ...values };
  };
  const alive: Values = softDelete ? { [softDelete.attribute]: softDelete.values?.alive ?? null } : {};

  const bySql = {
    async add(request: LinkRequest, rows: readonly Values[]): Promise<number | null> {
      const { input, on } = request;
      const isFound = offered().every(({ found }) => found);
      // Rows with the same attributes are inserted in one order, in which no two requests wait for each other.
      const groups = newRowsByShape(encoder, isFound ? rows.map(anew) : rows);
      if (!groups) return null;
      const parts = [...groups].map(([shape, given]) => ({
        given,
        columns: encoder.columnsOf(shape, '1'),
        stamped: encoder.columnsOf(shape, 'n').map(({ attribute }) => attribute),
      }));
      if (!parts.every(({ columns }) => columns.every(({ attribute }) => isBindable(attribute.type))))
        return null;
      let count = 0;
      for (const { given, columns, stamped } of parts) {
        const slots = joinSlots(relatedSlots(input.related), { [NOW.slot]: now() });
        bindRows(1, columns, given, slots);
        const insert = insertPairsSql(below, input.related, info, columns, stamped, given.length === 1);
        count += (await selectValues(info, insert, slots, onPrimary(on))).length;
      }
      return count;
    },
    async change(
      { on, input }: LinkRequest,
      items: readonly { readonly key: unknown; readonly values: Values }[],
    ) {
      const unseen = input.related.through?.form.unreadable;
      return (await many.update({ where: null, items, returning: COUNTED, unseen }, {}, on)) !== null;
    },
    async remove({ key, input, on }: LinkRequest, keys: readonly string[]) {
      const where = allOf(
        equalTo(parentKey.name, key),
        compared(targetKey.name, '=in=', keys),
        seenPairs(below, input.related),
      );
      const rows = { where, mark: mark as DeletionMark | null, maximum: keys.length };
      const done = await many
        .deleteMatching(rows, relatedSlots(input.related), on)
        .catch((error: unknown) => {
          throw hasState(error, LEFT_BEHIND) ? notStored('delete') : error;
        });
      if (done && (done.isExceeded || done.written < keys.length)) throw notStored('delete');
      return done !== null;
    },
  };

  const all = new Repository(model).addressedBy(keyText(info.address));
  /** The rows as records, with hooks. */
  const repositoryFor = ({ action: { request } }: LinkRequest): Repository => {
    const source = accessSource(request, model, accessRules(request)?.accessTo(model) ?? null);
    return source ? all.within(source) : all;
  };
  /** True where an item names a row of another model, some of whose rows the request may not see. */
  const isReferring = ({ action: { request }, input }: LinkRequest): boolean =>
    (accessRules(request)?.keysOf(model) ?? []).some((key) =>
      keyAttributes(key).some((name) => input.items.some(({ values }) => (values[name] ?? null) !== null)),
    );
  const createUnlessThere = async (rows: Repository, values: Values): Promise<number> => {
    const session = joinableSession(sequelize, 'write');
    const create = () => rows.create(values);
    try {
      await (session ? runInSavepoint(session, 'write', create) : create());
      return 1;
    } catch (error) {
      // A row that the request may not see is there, too.
      const isThere =
        describeFault(error)?.kind === 'unique' &&
        (await all.find(idOf(info.address, (name) => values[name]) as Id));
      if (isThere) return 0;
      throw error;
    }
  };

  return {
    shown,
    async find(request, items, isWhole) {
      const { input, on } = request;
      const fragment = findPairsSql(below, input.related, shown, { isWhole, isOne: items.length === 1 });
      const rows = await selectValues(info, fragment, findSlots(below, request, items), onPrimary(on));
      const { length } = below.target.info.address;
      return rows.map(
        ([n, key, isAlive, ...rest]): FoundLink => ({
          place: (n ?? null) as number | null,
          key: String(key),
          state: key === null ? 'keyless' : isAlive === null ? 'none' : isAlive ? 'linked' : 'gone',
          id: rest.slice(0, length) as string[],
          values: rest.slice(length),
        }),
      );
    },
    required: offered().filter(isRequired),
    async write(request, { add, set, remove }: LinkChanges) {
      const revived = add.filter(({ found }) => found.state === 'gone');
      const created = add.filter(({ found }) => found.state !== 'gone');
      const rows = rowsOf(request, created);
      // A repository checks the rows that values refer to.
      const isOurs = isByRows() && !isReferring(request);
      const records = repositoryFor(request);
      const removed = remove.map(({ key }) => key);
      if (removed.length > 0 && !(isOurs && (await bySql.remove(request, removed))))
        for (const each of remove)
          await records.delete(idIn(request, each) as Id).catch((error: unknown) => {
            throw error instanceof NotFoundError ? notStored('delete') : error;
          });
      const changes = [
        ...set.map(({ found, item }) => ({ key: idIn(request, found), values: item.values })),
        ...revived.map(({ found, item }) => ({
          key: idIn(request, found),
          values: { ...anew(item.values), ...alive },
        })),
      ];
      if (changes.length > 0 && !(isOurs && (await bySql.change(request, changes)))) {
        for (const { found, item } of set) await records.update(idIn(request, found) as Id, item.values);
        for (const { found, item } of revived) {
          await records.restore(idIn(request, found) as Id);
          await records.update(idIn(request, found) as Id, anew(item.values));
        }
      }
      if (rows.length === 0) return revived.length;
      const count = isOurs ? await bySql.add(request, rows) : null;
      if (count !== null) return revived.length + count;
      let made = revived.length;
      for (const row of rows) made += await createUnlessThere(records, row);
      return made;
    },
  };

  /** Rows of new links. @throws RefusedRequestError 403 for keys outside the scope of the join model */
  function rowsOf(request: LinkRequest, created: LinkChanges['add']): readonly Values[] {
    if (created.length === 0) return [];
    const { through } = request.input.related;
    const given = through ? givenValues(through) : {};
    const rows = created.map(({ found, item }) => ({ ...given, ...keysOf(request, found), ...item.values }));
    if (through) for (const row of rows) checkNewRow(row, info.name, through);
    return rows;
  }

  /** Values of the scope of the join model, but for its keys, which a link has. */
  function givenValues(access: Access): Values {
    const values = access.values();
    const names = [...access.form.scope.keys()].filter((name) => !isOfKey(info.address, name));
    return Object.fromEntries(
      names.map((name) => {
        const own = values.get(name) ?? [];
        if (own.length === 1) return [name, own[0]];
        throw invalidAttribute(
          name,
          'scope',
          `This request acts for several values of ${name}, and a link has one.`,
        );
      }),
    );
  }
}
