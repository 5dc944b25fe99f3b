/** Points and circles, of which the driver makes objects. */

interface Point {
  readonly x: number;
  readonly y: number;
  readonly radius?: number;
}

/** The text that PostgreSQL writes of a point or a circle; undefined for any other value. */
export function pointText(value: unknown): string | undefined {
  const { x, y, radius } = Object(value) as Partial<Point>;
  if (typeof x !== 'number' || typeof y !== 'number') return undefined;
  const text = (part: number): string => (Object.is(part, -0) ? '-0' : String(part));
  const point = `(${text(x)},${text(y)})`;
  return radius === undefined ? point : `<${point},${radius}>`;
}
