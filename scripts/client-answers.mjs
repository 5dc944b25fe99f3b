/** Random requests to every operation of a document, whose answers have to be as it says: `npm run clients -- answers`. */
import process from 'node:process';

/** Ids of the atlas by the first segment of a path, and others that are not there, or are none. */
const IDS = {
  cities: ['2988507', '2995469', '2996944', '3117735'],
  countries: ['FRA', 'DEU', 'ESP', 'JPN'],
  reviews: ['1', '2', '3', '4', '5', '6', '7', '8'],
};
const OTHER_IDS = ['4000000000', 'ZZZ', 'none', '0', '-1'];
const QUERIES = ['id>0', 'name==Paris', 'rating>=4', 'population>1000000', 'name==', 'nothing==1'];
const TAGS = ['*', '"0"', '"1"', 'none'];
const JSON_TYPE = 'application/json';
const PREFERENCES = ['return=minimal', 'return=representation', 'respond-async'];

/** @returns what came of it, as other runs */
export async function holdAnswers(url, document, count) {
  const { ApiContract } = await import('../dist/test/support/api-contract.js');
  const seed = Number(process.env.CRUD_TEST_SEED ?? Date.now() % 1_000_000);
  process.stdout.write(`CRUD_TEST_SEED=${seed}\n`);
  const dice = diceOf(seed);
  const contract = new ApiContract(document);
  const operations = [...contract.operations.values()];
  const statuses = new Map();
  const wrong = [];
  for (let index = 0; index < count; index += 1) {
    const found = dice.one(operations);
    const { target, init } = requestOf(found, document, dice);
    const answer = await fetch(new URL(target, url), init);
    const text = await textOf(answer);
    const { status, headers } = answer;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    try {
      contract.check(found.operation.operationId, { status, headers: Object.fromEntries(headers), text });
    } catch (error) {
      wrong.push(`${init.method} ${target}: ${error.message.slice(0, 1_000)}`);
    }
  }
  const shown = [...statuses].sort(([first], [second]) => first - second);
  process.stdout.write(`${shown.map(([status, times]) => `${status}: ${times}`).join(', ')}\n`);
  for (const each of wrong.slice(0, 10)) process.stdout.write(`${each}\n`);
  const isRight = wrong.length === 0;
  return {
    isRight,
    versions: `${count} answers`,
    result: isRight ? 'works' : `failed: ${wrong.length} answers`,
  };
}

/** The text of an answer; of a stream, which does not end by itself, its first part. */
async function textOf(answer) {
  if (!answer.headers.get('content-type')?.startsWith('text/event-stream')) return answer.text();
  const reader = answer.body.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return Buffer.from(value ?? []).toString();
}

function requestOf({ method, path, operation }, document, dice) {
  const { parameters = [], requestBody, responses } = operation;
  const query = new URLSearchParams();
  const headers = {};
  const types = Object.keys(responses[200]?.content ?? {});
  if (types.length > 1 && dice.isLess(0.2)) headers.Accept = dice.one(types);
  for (const { name, in: place, schema } of parameters) {
    // The document describes whole records.
    const isPartial = /(?:^|\.)fields$/.test(name);
    if (place === 'query' && !isPartial && dice.isLess(0.25))
      query.append(name, parameterOf(name, schema, dice));
    if (name === 'If-Match' && dice.isLess(0.2)) headers[name] = dice.one(TAGS);
    if (name === 'If-None-Match' && dice.isLess(0.2)) headers[name] = '*';
    // Nothing that is preferred is described as a status of a change.
    if (name === 'Prefer' && method === 'delete') headers[name] = dice.one(PREFERENCES);
  }
  const target = `${path.replaceAll(/\{\w+\}/g, () => idFor(path, dice))}${query.size > 0 ? `?${query}` : ''}`;
  const init = { method: method.toUpperCase(), headers };
  if (!requestBody) return { target, init };
  const json = requestBody.content[JSON_TYPE];
  if (json) {
    headers['Content-Type'] = JSON_TYPE;
    return { target, init: { ...init, body: JSON.stringify(bodyOf(json, document, dice)) } };
  }
  headers['Content-Type'] = dice.one(Object.keys(requestBody.content));
  // A file has rows as bodies of the route for one.
  const { content } = document.paths[path.slice(0, path.lastIndexOf('/'))].post.requestBody;
  const rows = Array.from({ length: dice.upTo(4) }, () => bodyOf(content[JSON_TYPE], document, dice));
  return { target, init: { ...init, body: fileOf(rows, headers['Content-Type']) } };
}

function fileOf(rows, type) {
  if (type !== 'text/csv') return rows.map((each) => JSON.stringify(each)).join('\n');
  const names = Object.keys(rows[0] ?? { other: 1 });
  const cells = (row) => names.map((name) => JSON.stringify(row[name] ?? '').replaceAll('"', ''));
  return [names, ...rows.map(cells)].map((line) => line.join(',')).join('\n');
}

function idFor(path, dice) {
  const known = IDS[path.split('/')[1]] ?? OTHER_IDS;
  return dice.one(dice.isLess(0.8) ? known : OTHER_IDS);
}

function parameterOf(name, { type, items, enum: choices, maximum }, dice) {
  if (dice.isLess(0.05)) return 'nothing';
  if (/(?:^|\.)q$/.test(name)) return dice.one(QUERIES);
  // Seconds.
  if (name === 'wait') return '1';
  if (type === 'array') return dice.some(items.enum).join();
  if (choices) return dice.one(choices);
  if (type === 'boolean') return dice.one(['true', 'false']);
  return String(dice.upTo(Math.min(maximum ?? 10, 10)) + 1);
}

/** The example, with some members left out, and some of another type; or many of them where the body may be an array. */
function bodyOf({ example = {}, schema }, { components: { schemas } }, dice) {
  const changed = () => {
    const members = Object.entries(example).filter(() => dice.isLess(0.9));
    const values = members.map(([name, value]) => [
      name,
      dice.isLess(0.08) ? dice.one([null, 'x', -5, [], {}]) : value,
    ]);
    return { ...Object.fromEntries(values), ...(dice.isLess(0.05) ? { other: 1 } : {}) };
  };
  const { oneOf = [] } = schema.$ref ? (schemas[schema.$ref.split('/').at(-1)] ?? {}) : schema;
  const isArray = schema.type === 'array' || oneOf.some(({ type }) => type === 'array');
  if (isArray && dice.isLess(0.4)) return Array.from({ length: dice.upTo(3) }, changed);
  return changed();
}

/** Mulberry32: the same numbers for the same seed. */
function diceOf(seed) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const upTo = (end) => Math.floor(next() * end);
  const one = (values) => values[upTo(values.length)];
  return {
    upTo,
    one,
    isLess: (share) => next() < share,
    some: (values) => [one(values), ...values.filter(() => next() < 0.2)],
  };
}
