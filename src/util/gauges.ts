/** Numbers that metrics read at each request for them. */

/** A number of the process. */
export interface NamedGauge {
  readonly name: string;
  readonly help: string;
  read(): number;
}

/** All of them, for metrics. */
export const GAUGES: NamedGauge[] = [];
