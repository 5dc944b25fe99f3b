/** Writes of a model: a row is created, updated with its own values, replaced and deleted. Rows that others need are kept. */
import { type Json, type Judge, type Path, shownColumns, texts, toJson } from './judge.js';
import type { Row, RowMaker } from './rows.js';
import { quote } from './tables.js';

/** Writes by all routes of a model. */
export async function writeModel(judge: Judge, maker: RowMaker, canReplace: boolean): Promise<void> {
  for (const [at, path] of judge.paths.entries()) {
    const rows = await judge.select();
    for (const row of rows.slice(0, 2)) await patchToItself(judge, path, row);
    for (const row of rows.slice(0, 4)) await deleteNeeded(judge, path, row);
    await createAndDelete(judge, path, maker, at, canReplace);
  }
}

async function createAndDelete(
  judge: Judge,
  path: Path,
  maker: RowMaker,
  at: number,
  canReplace: boolean,
): Promise<void> {
  const { specimen } = judge;
  const { attributes, id, prefix, table } = specimen;
  // A client cannot send a value that it cannot see.
  if (
    table.columns.some(({ name, notNull, hasDefault }) => specimen.hidden.has(name) && notNull && !hasDefault)
  )
    return;
  const proposed = await judge.tryOut(async () => {
    for (let row = at * 3; row < 200; row += 1) {
      const made = await maker.insert(table, row);
      if (made) return made;
    }
    return null;
  });
  if (!proposed) return;
  const replaced = await judge.tryOut(() => maker.replaced(table, proposed.row, proposed.given));
  const isKept = (name: string) => !replaced.some((column) => attributes.get(column) === name);
  const isGiven = (name: string) => proposed.given.some((column) => attributes.get(column) === name);
  const body = only(toJson(specimen, proposed.row), isGiven);
  const created = await judge.send(path, 'POST', prefix, body);
  const request = `POST ${prefix} ${JSON.stringify(body)}`;
  if (created.status !== 201) return judge.expect(path, request, created, 201);
  const json = created.json as Json;
  // Bodies have no microseconds of moments.
  const isMoment = (name: string) =>
    table.columns.some((column) => column.name === name && column.base === 'timestamp with time zone');
  const drawn = id.filter((name) => !proposed.given.includes(name) || isMoment(name));
  const key = {
    ...proposed.row,
    ...Object.fromEntries(drawn.map((name) => [name, String(json[attributes.get(name) ?? ''])])),
  };
  const row = await judge.reload(key);
  if (!row) return judge.expect(path, `${request} is stored`, json, 'a row');
  judge.expect(path, request, json, toJson(specimen, row));
  judge.expect(path, `${request} as it was sent`, only(only(json, isGiven), isKept), only(body, isKept));
  const address = judge.addressOf(row);
  judge.expect(path, `Location of ${request}`, created.location, address);
  await patchToItself(judge, path, row);
  if (canReplace) {
    const isKey = (name: string) => id.some((column) => attributes.get(column) === name);
    const put = await judge.send(
      path,
      'PUT',
      address,
      only(body, (name) => !isKey(name)),
    );
    const now = toJson(specimen, (await judge.reload(row)) ?? {});
    judge.expect(path, `PUT ${address}`, put.status === 200 ? put.json : put, now);
    judge.expect(path, `PUT ${address} as it was sent`, only(only(now, isGiven), isKept), only(body, isKept));
  }
  const deleted = await judge.send(path, 'DELETE', address);
  judge.expect(path, `DELETE ${address}`, [deleted.status, await judge.reload(row)], [204, undefined]);
  const { status } = await judge.send(path, 'GET', address);
  judge.expect(path, `GET ${address} after DELETE`, status, 404);
}

/** Sends each column back as GET shows it: the row keeps all values but those that triggers change. */
async function patchToItself(judge: Judge, path: Path, row: Row): Promise<void> {
  const { specimen } = judge;
  const { attributes, id, table } = specimen;
  const address = judge.addressOf(row);
  const found = await judge.send(path, 'GET', address);
  judge.expect(path, `GET ${address}`, found.status, 200);
  const free = table.columns.filter(({ isGenerated }) => !isGenerated);
  const own = quote((free.find(({ name }) => !id.includes(name)) ?? free[0])?.name ?? '');
  const update = `UPDATE ${table.from} t SET ${own} = t.${own} WHERE ${judge.key} RETURNING ${texts(specimen)}`;
  const run = () => judge.client.query<Row>(update, judge.keyOf(row)).catch(() => null);
  const tried = free.length > 0 ? await judge.tryOut(run) : { rows: [] };
  // A trigger may refuse every change.
  if (!tried) return;
  const [unchanged = row] = tried.rows;
  const isLeft = (name: string) => unchanged[name] === row[name];
  for (const column of shownColumns(specimen)) {
    const attribute = attributes.get(column.name) ?? '';
    const body = { [attribute]: (found.json as Json)[attribute] };
    const wanted = id.includes(column.name) || column.isGenerated ? 422 : 200;
    const changed = await judge.send(path, 'PATCH', address, body);
    const request = `PATCH ${address} ${JSON.stringify(body)}`;
    judge.expect(path, request, changed.status === wanted ? wanted : changed, wanted);
    const now = (await judge.reload(row)) ?? {};
    judge.expect(path, `${request} in SQL`, only(now, isLeft), only(row, isLeft));
    if (changed.status === 200) judge.expect(path, request, changed.json, toJson(specimen, now));
  }
}

/** A row that a foreign key keeps is 409, and still there. Others stay as they are for later questions. */
async function deleteNeeded(judge: Judge, path: Path, row: Row): Promise<void> {
  const statement = `DELETE FROM ${judge.specimen.table.from} t WHERE ${judge.key}`;
  const isNeeded = await judge.tryOut(() =>
    judge.client.query(statement, judge.keyOf(row)).then(
      () => false,
      ({ code }) => code === '23503' || code === '23001',
    ),
  );
  if (!isNeeded) return;
  const address = judge.addressOf(row);
  const { status } = await judge.send(path, 'DELETE', address);
  judge.expect(path, `DELETE ${address}, which others need`, [status, await judge.reload(row)], [409, row]);
}

function only<T>(from: Readonly<Record<string, T>>, isMeant: (name: string) => boolean): Record<string, T> {
  return Object.fromEntries(Object.entries(from).filter(([name]) => isMeant(name)));
}
