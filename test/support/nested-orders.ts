/** Orders with lines at work, for tests of nested writes. */
import { ORDER_MODELS } from '../models/orders.js';
import { except } from './combination.js';
import { emptyTables } from './empty-tables.js';
import { serveTestApp, type TestApp, type TestAppOptions } from './test-app.js';

const OVERRIDDEN = 'a nested write would pass by the overrides of its children';

/** `describe` in combinations whose children have no code of their own. */
export const describeNested = except({ session: OVERRIDDEN, records: OVERRIDDEN }).describe;

/** The application of a suite, whose tables are empty but for products. */
export function serveOrders(options: Partial<TestAppOptions> = {}) {
  const { bootstrap, ...others } = options;
  const site = serveTestApp(() => ({
    models: ORDER_MODELS,
    ...others,
    bootstrap: { indexAdvice: false, ...bootstrap },
  }));
  beforeEach(() => emptyOrders(site));
  return {
    site,
    /** The rows of a statement. */
    async query<T extends object>(text: string): Promise<readonly T[]> {
      const [rows] = await site.engine.sequelize.query(text);
      return rows as T[];
    },
  };
}

/** Removes all orders. Products 1 to 3 are of tenant 1, and 9 is of tenant 2. */
export async function emptyOrders(site: Pick<TestApp, 'engine'>): Promise<void> {
  await emptyTables(site, 'discounts', 'notes', 'lines', 'orders', 'products');
  await site.engine.sequelize.query(
    `INSERT INTO products (id, "tenantId", name) VALUES (1, 1, 'pen'), (2, 1, 'cup'), (3, 1, 'bag'), (9, 2, 'hat')`,
  );
}
