/** Histories of random records that move between two tenants, into view and out of it, against an oracle in memory. */
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, EVERYTHING, filter } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { type Dice, dice } from '../../support/dice.js';
import { emptyTables } from '../../support/empty-tables.js';
import { wholeOr } from '../../support/short.js';
import { serveTestApp } from '../../support/test-app.js';

type Headers = { get(name: string): string | undefined };
const isStaff = (request: Headers) => request.get('Role') === 'staff';

@Crud({
  scope: { tenant: (request) => request.get('Tenant') },
  visible: (request) => (isStaff(request) ? EVERYTHING : filter`grade<=5`),
  can: { history: true, deleted: isStaff },
  fields: { cost: { read: isStaff } },
  history: true,
  endpoints: ['read', 'history'],
  pageSize: { default: 50, max: 50 },
})
@Table({ tableName: 'jobs', timestamps: false })
class Job extends NumberedRow {
  @Column(DataType.TEXT) declare tenant: string;
  @Column(DataType.INTEGER) declare grade: number;
  @Column(DataType.TEXT) declare title: string | null;
  @Column(DataType.TEXT) declare cost: string | null;
}

/** A row. */
interface Image {
  readonly id: number;
  readonly tenant: string;
  readonly grade: number;
  readonly title: string | null;
  readonly cost: string | null;
}

/** A change; null is no row. */
interface Change {
  readonly old: Image | null;
  readonly now: Image | null;
}

/** A client. */
interface Viewer {
  readonly tenant: string;
  readonly isStaff: boolean;
}

/** Answered part of a change. */
interface Shown {
  readonly op: string;
  readonly changes: Readonly<Record<string, { from?: unknown; to?: unknown }>>;
}

const NAMES = ['id', 'tenant', 'grade', 'title', 'cost'] as const;
const IDS = [1, 2, 3];

function isInside(image: Image | null, viewer: Viewer): image is Image {
  return image !== null && image.tenant === viewer.tenant && (viewer.isStaff || image.grade <= 5);
}

/** The history that a viewer is to be answered; null is a 404. */
function expectedOf(changes: readonly Change[], viewer: Viewer, fields: readonly string[]): Shown[] | null {
  const last = changes.at(-1);
  const shown = changes.toReversed().flatMap(({ old, now }): Shown[] => {
    const [from, to] = [isInside(old, viewer) ? old : null, isInside(now, viewer) ? now : null];
    const entries = fields.flatMap((field) => {
      const name = field as keyof Image;
      if (from && to && from[name] === to[name]) return [];
      if (!from && !to) return [];
      return [[name, { ...(from ? { from: from[name] } : {}), ...(to ? { to: to[name] } : {}) }] as const];
    });
    const op = from ? (to ? 'update' : 'delete') : 'create';
    return entries.length === 0 ? [] : [{ op, changes: Object.fromEntries(entries) }];
  });
  if (isInside(last?.now ?? null, viewer)) return shown;
  // Later changes are those of others: the answer is the same with them and without them.
  const seen = changes.findLast(({ old, now }) => isInside(old, viewer) || isInside(now, viewer));
  const hasLeft = seen?.now && !isInside(seen.now, viewer);
  return seen && (hasLeft || viewer.isStaff) ? shown : null;
}

/** A value of a time: those of other tenants, and of times out of view, begin otherwise. */
function timeOf({ tenant, grade }: Pick<Image, 'tenant' | 'grade'>): string {
  return `${tenant}${grade > 5 ? 'hidden' : 'shown'}`;
}

const REASON = 'it has a method read, with which no application has histories';

except({ session: REASON, records: REASON }).describe('the history of a tenant', () => {
  const site = serveTestApp(() => ({ models: [Job], bootstrap: { indexAdvice: false } }));

  const write = async ({ old, now }: Change): Promise<void> => {
    const text = (value: string | number | null) => (value === null ? 'NULL' : `'${value}'`);
    const { sequelize } = site.engine;
    if (!now) await sequelize.query(`DELETE FROM jobs WHERE id = ${old?.id}`);
    else if (!old)
      await sequelize.query(`INSERT INTO jobs VALUES (${NAMES.map((name) => text(now[name])).join()})`);
    else {
      const sets = NAMES.slice(1).map((name) => `${name} = ${text(now[name])}`);
      await sequelize.query(`UPDATE jobs SET ${sets.join()} WHERE id = ${now.id}`);
    }
  };
  const nextOf = ({ pick, once, roll }: Dice, id: number, old: Image | null, turn: number): Change => {
    if (old && once(8)) return { old, now: null };
    const place = {
      tenant: old && !once(3) ? old.tenant : pick(['a', 'b']),
      grade: old && !once(3) ? old.grade : roll(10),
    };
    const value = (name: 'title' | 'cost') => (once(6) ? null : `${timeOf(place)} ${name} ${turn}`);
    const isKept = (name: 'title' | 'cost') =>
      old && timeOf(old) === timeOf(place) && once(2) && old[name] !== null;
    const kept = (name: 'title' | 'cost') => (isKept(name) ? (old as Image)[name] : value(name));
    return { old, now: { id, ...place, title: kept('title'), cost: kept('cost') } };
  };
  const ask = async (id: number, viewer: Viewer, query: string) =>
    site.agent
      .get(`/jobs/${id}/history${query}`)
      .set({ Tenant: viewer.tenant, Role: viewer.isStaff ? 'staff' : 'other' });
  /** All pages. */
  const walk = async (id: number, viewer: Viewer, size: number, fields: string): Promise<Shown[] | null> => {
    const items: Shown[] = [];
    let after = '';
    for (;;) {
      const { status, body, text } = await ask(id, viewer, `?size=${size}${fields}${after}`);
      const strange = viewer.isStaff ? [] : [' cost ', 'hidden'];
      for (const word of [
        viewer.tenant === 'a' ? 'bshown' : 'ashown',
        viewer.tenant === 'a' ? 'bhidden' : 'ahidden',
        ...strange,
      ])
        expect(text, `${word} of ${id} for ${JSON.stringify(viewer)}`).to.not.include(word);
      if (status === 404) return null;
      expect(status, text).to.equal(200);
      items.push(...body.items.map(({ op, changes }: Shown) => ({ op, changes })));
      if (!body.next_cursor) return items;
      after = `&after=${body.next_cursor}`;
    }
  };

  for (const seed of Array.from({ length: wholeOr(3, 20) }, (_, index) => index + 1))
    it(`has no value of the time at another one, with seed ${seed}`, async () => {
      await emptyTables(site, 'jobs', 'crud_changes');
      const random = dice(seed);
      const past = new Map<number, Change[]>(IDS.map((id) => [id, []]));
      for (let turn = 0; turn < 60; turn += 1) {
        const id = random.pick(IDS);
        const changes = past.get(id) as Change[];
        const change = nextOf(random, id, changes.at(-1)?.now ?? null, turn);
        if (JSON.stringify(change.old) === JSON.stringify(change.now)) continue;
        await write(change);
        changes.push(change);
        if (turn % 6 !== 5) continue;
        const viewer = { tenant: random.pick(['a', 'b']), isStaff: random.once(2) };
        const readable = NAMES.filter((name) => viewer.isStaff || name !== 'cost');
        const fields = random.once(2) ? random.some(readable, 1, 3) : readable;
        const query = fields === readable ? '' : `&fields=${fields.join()}`;
        for (const each of IDS) {
          const known = past.get(each) as Change[];
          const expected = known.length === 0 ? null : expectedOf(known, viewer, fields);
          const found = await walk(each, viewer, random.pick([1, 3, 50]), query);
          expect(found, `${each} for ${JSON.stringify(viewer)}`).to.deep.equal(expected);
        }
      }
    });
});
