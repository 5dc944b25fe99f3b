/** The SQL of each request, as one would write it by hand. */
import type { Statement } from '../contenders/support/statements.js';
import { COLUMNS } from './posts.js';

const FROM = `SELECT ${COLUMNS.map((name) => `p."${name}"`).join(', ')} FROM posts AS p`;

/** A pattern of LIKE, with `%`, `_` and `\` of the word escaped. */
function pattern(word: string): string {
  return `%${word.replace(/[\\%_]/g, '\\$&')}%`;
}

/** The rows of a page, and one more. */
export function listStatement(path: string, parameters: URLSearchParams, size: number): Statement {
  const search = parameters.get('search');
  const sort = parameters.get('sort');
  const limit = size + 1;
  if (search !== null && path === '/posts') {
    const text = `${FROM} WHERE p.title ILIKE $1 ORDER BY p.id LIMIT $2`;
    return { name: 'words', text, values: [pattern(search), limit] };
  }
  if (search !== null && sort === 'relevance') {
    const hits = `SELECT * FROM posts WHERE vector @@ websearch_to_tsquery('simple', $1) LIMIT 10000`;
    const text = `${FROM.replace('posts', `(${hits})`)} ORDER BY ts_rank_cd(p.vector, websearch_to_tsquery('simple', $1)) DESC, p.id LIMIT $2`;
    return { name: 'relevance', text, values: [search, limit] };
  }
  if (search !== null) {
    const text = `${FROM} WHERE p.vector @@ websearch_to_tsquery('simple', $1) ORDER BY p.id LIMIT $2`;
    return { name: 'text', text, values: [search, limit] };
  }
  if (sort === 'section.name') {
    const text = `${FROM} JOIN sections AS s ON s.id = p."sectionId" ORDER BY s.name, p.id LIMIT $1`;
    return { name: 'relation', text, values: [limit] };
  }
  if (sort === 'price')
    return { name: 'nulls', text: `${FROM} ORDER BY p.price NULLS LAST, p.id LIMIT $1`, values: [limit] };
  return { name: 'list', text: `${FROM} ORDER BY p.id LIMIT $1`, values: [limit] };
}

/** The sums of a section, by month where there is a zone. */
export function aggregateStatement(section: number, zone: string | null): Statement {
  if (zone === null) {
    return {
      name: 'sums',
      text: 'SELECT count(*), sum(stock), trim_scale(round(avg(price), 10)) FROM posts WHERE "sectionId" = $1',
      values: [section],
    };
  }
  const month = `(date_trunc('month', "createdAt" AT TIME ZONE $2))::date`;
  return {
    name: 'months',
    text: `SELECT count(*), sum(stock), ${month} FROM posts WHERE "sectionId" = $1 GROUP BY 3 ORDER BY 3 LIMIT 101`,
    values: [section, zone],
  };
}
