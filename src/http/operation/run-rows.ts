/** Runs an operation with our SQL: rows of texts, which are written into JSON as they are. */
import type { Endpoint } from '../../metadata/crud-options.js';
import { hasScope } from '../../persistence/customization/default-scope.js';
import { hasQueryHooks } from '../../persistence/customization/model-hooks.js';
import { noSuchRecord } from '../../persistence/errors/errors.js';
import { RowExecutor } from '../../persistence/rows/row-executor.js';
import { encodeParameter } from '../../persistence/sql/encode-parameter.js';
import { NO_SLOTS } from '../../persistence/sql/statement.js';
import type { RequestArguments } from '../request/parse-request.js';
import type { Resource } from '../resources/resource.js';
import type { Outcome } from './outcome.js';

/** Runs one operation of a resource. */
export interface RowRunner {
  /** Whether it may now: hooks and a scope can be added at any time, and would not see our SQL. */
  isOpen(): boolean;
  /** Null when only Sequelize can, and then nothing has happened yet. */
  run(input: RequestArguments): Promise<Outcome | null>;
}

/** Compiles the runners of a resource's operations. */
export function compileRowRunners({ plan, rowView, features }: Resource): (endpoint: Endpoint) => RowRunner {
  const { info, model } = plan;
  const { primaryKey, name } = info;
  const executor = new RowExecutor(info);
  const keyAt = rowView.columnsOf(null).indexOf(primaryKey.name);
  return (endpoint) => {
    const { operation } = features[endpoint];
    const kind = endpoint === 'list' || endpoint === 'read' ? 'read' : 'write';
    return {
      isOpen: () => !hasQueryHooks(model, kind) && !hasScope(model),
      async run({ query, id, values }) {
        const slots = id === undefined ? NO_SLOTS : { id: encodeParameter(primaryKey.type, id) as string };
        const found = await executor.run(operation(query, values), slots);
        if (found === null) return null;
        const { rows, parsers, count } = found;
        if (endpoint !== 'list' && count === 0) throw noSuchRecord({ name, key: primaryKey.name });
        return {
          page: endpoint === 'list' ? { ...query, ...found, items: [] } : null,
          count,
          key: () => rows[0]?.[keyAt],
          // Where there are no rows, nobody has said how to read one.
          texts: (fields) => (rows.length === 0 ? [] : rows.map(rowView.writer(parsers, fields).text)),
          values: (fields) => (rows.length === 0 ? [] : rows.map(rowView.writer(parsers, fields).values)),
        };
      },
    };
  };
}
