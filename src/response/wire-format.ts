/** Values of a record -> JSON values, by column type. */
import type { ColumnType } from '../model/column-type.js';

/** Turns one value into what JSON can say; null and undefined stay. */
export type WireFormat = (value: unknown) => unknown;

const asIs: WireFormat = (value) => value;
/** BIGINT and DECIMAL: a JSON number would be rounded by most readers. */
const asString: WireFormat = (value) => (typeof value === 'string' ? value : String(value));

function asTimestamp(value: unknown): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  // PostgreSQL's `infinity`, which the driver reads as a number, has no RFC 3339 form.
  return typeof value === 'number' ? null : value;
}

function asBase64(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

/** JSON has no NaN and no infinities. */
function asNumber(value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? null : value;
}

/** The format of what the user's own code made of a value: its type decides, not the column's. */
export const ownFormat: WireFormat = (value) => {
  if (value instanceof Date) return asTimestamp(value);
  return typeof value === 'bigint' ? String(value) : asNumber(asBase64(value));
};

function presentOnly(format: WireFormat): WireFormat {
  return (value) => (value === null || value === undefined ? value : format(value));
}

/** The wire format of a column type. */
export function wireFormat(type: ColumnType): WireFormat {
  switch (type.kind) {
    case 'bigint':
    case 'decimal':
      return presentOnly(asString);
    case 'float':
      return asNumber;
    case 'date':
      return presentOnly(asTimestamp);
    case 'uuid':
      return presentOnly((value) => String(value).toLowerCase());
    case 'blob':
      return presentOnly(asBase64);
    case 'array': {
      const element = wireFormat(type.element);
      return (value) => (Array.isArray(value) ? value.map(element) : value);
    }
    default:
      return asIs;
  }
}
