/** The contenders of searches, of orders by related values, and of aggregates. */
import { join } from 'node:path';
import type { Contender } from '../contenders.js';

const OURS = ['express', 'routing-controllers', 'sequelize', 'pg'];

/** They are measured in this order. */
export const QUERY_CONTENDERS: readonly Contender[] = [
  own('node-http', 'node:http + pg, SQL by hand', 'limit', ['pg']),
  own('ours', 'crud-controllers', 'ours', OURS),
  own('ours-general', 'crud-controllers, general path', 'ours', OURS),
];

function own(
  name: string,
  title: string,
  group: Contender['group'],
  packages: readonly string[],
): Contender<null> {
  const script = join(__dirname, `${name}.js`);
  return { name, title, group, script, wire: null, packages, readyPath: '/posts?size=20' };
}
