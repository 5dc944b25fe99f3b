/** Errors of values that a change adds to those of a row. */
import { AddedValue } from '../operation/added-value.js';
import { bodyPointer, InvalidBodyError } from '../schema/request-issue.js';
import { hasState } from './database-fault.js';

/** PostgreSQL's state of a number that its type cannot hold. */
const OUT_OF_RANGE = '22003';

/** The error of a column that has no value to add to. */
export function noValueToAddTo(attribute: string): InvalidBodyError {
  const detail = `${attribute} has no value yet, so that nothing can be added to it; send a value.`;
  return new InvalidBodyError([{ pointer: bodyPointer(attribute), code: 'sum.null', detail }]);
}

/** The error of sums of which one is out of range. PostgreSQL does not say which one. */
export function sumOutOfRange(names: readonly string[]): InvalidBodyError {
  const words = names.length === 1 ? 'The sum' : 'One of the sums';
  const detail = `${words} of ${names.join(', ')} is beyond the range of its column.`;
  return new InvalidBodyError(
    names.map((name) => ({ pointer: bodyPointer(name), code: 'sum.range', detail })),
  );
}

/** Throws the error of a change with these values: that of the database, or that of its sums. */
export function throwOfSums(values: Readonly<Record<string, unknown>>): (error: unknown) => never {
  return (error) => {
    const isOfRange = hasState(error, OUT_OF_RANGE);
    const names = Object.keys(values).filter((name) => isOfRange && values[name] instanceof AddedValue);
    throw names.length === 0 ? error : sumOutOfRange(names);
  };
}
