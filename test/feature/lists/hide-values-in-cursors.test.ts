/** Cursors with values that no answer has: only the application can read them. */
// @runs fast
import { expect } from 'chai';
import { Expose } from 'class-transformer';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { serveTestApp } from '../../support/test-app.js';

class PublicFilm {
  @Expose() declare slug: string;
  @Expose() declare title: string;
}

const OPTIONS = { pagination: 'cursor', pageSize: { default: 1 }, sortAllow: ['title', 'rating'] } as const;

class FilmRow extends NumberedRow {
  @Column({ type: DataType.STRING(40), allowNull: false, unique: true }) declare slug: string;
  @Column(DataType.TEXT) declare title: string;
  @Column(DataType.INTEGER) declare rating: number;
}

/** Paths have the slug, and answers have no key. */
@Crud({ ...OPTIONS, id: 'slug', readSchema: PublicFilm } as CrudOptions)
@Table({ tableName: 'films', timestamps: false })
class Film extends FilmRow {}

/** Paths have the key. */
@Crud({ ...OPTIONS, readSchema: PublicFilm } as CrudOptions)
@Table({ tableName: 'plays', timestamps: false })
class Play extends FilmRow {}

/** Its JSON form leaves out the key. */
@Crud({ ...OPTIONS, id: 'slug' } as CrudOptions)
@Table({ tableName: 'songs', timestamps: false })
class Song extends FilmRow {
  override toJSON(): object {
    return { slug: this.slug, title: this.title };
  }
}

describe('a cursor of values that no answer has', () => {
  const log = new CapturedLog();
  const site = serveTestApp(() => ({ models: [Film, Play, Song], bootstrap: { logger: log } }));
  const walk = async (path: string): Promise<readonly [text: string, slugs: readonly string[]]> => {
    const { body: first } = await site.agent.get(path);
    const { body: second } = await site.agent.get(path).query({ after: first.next_cursor });
    const [payload] = first.next_cursor.split('.');
    const slugs = [...first.items, ...second.items].map(({ slug }: { slug: string }) => slug);
    return [Buffer.from(payload, 'base64url').toString('latin1'), slugs];
  };

  before(() =>
    site.engine.sequelize.query(
      ['films', 'plays', 'songs']
        .map(
          (table) =>
            `INSERT INTO ${table} (id, slug, title, rating) VALUES (4711, 'a', 't', 9013), (4712, 'b', 'u', 9014)`,
        )
        .join(';'),
    ),
  );

  for (const [path, isSealed] of Object.entries({
    '/films': true,
    '/films?sort=title': true,
    '/plays': false,
    '/plays?sort=title': false,
    '/plays?sort=rating': true,
    '/songs': true,
  }))
    it(`${isSealed ? 'is sealed' : 'can be read'}, and leads on: ${path}`, async () => {
      const [text, slugs] = await walk(path);
      expect(slugs).to.deep.equal(['a', 'b']);
      expect(text.startsWith('[1,')).to.equal(!isSealed);
      expect(/4711|9013/.test(text)).to.equal(!isSealed);
    });

  it('needs a secret that other processes have, and the start says so', () => {
    const [line] = log.lines.map(({ message }) => message).filter((text) => text.includes('cursorSecret'));
    expect(line).to.equal(
      'Cursors of Film, Play, Song hide values that no answer has, with a secret of this process alone; set cursorSecret in bootstrap, ' +
        'so that other processes read them, too.',
    );
  });
});
