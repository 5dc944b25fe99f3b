/** Report of a health check. */

/** The name of a back end. */
export type ComponentName = 'postgres' | 'clickhouse' | 'cache';

/**
 * One back end. Frozen.
 *
 * @example
 * ```ts
 * const down = (await checkHealth()).components.filter((component) => !component.healthy);
 * ```
 */
export class ComponentHealth {
  declare readonly name: ComponentName;
  declare readonly healthy: boolean;
  /** Milliseconds until it answered; null when it did not. */
  declare readonly latencyMs: number | null;
  /** A short reason without hosts, users or passwords; null when healthy. */
  declare readonly error: string | null;

  constructor(found: Omit<ComponentHealth, 'toJSON'>) {
    Object.freeze(Object.assign(this, found));
  }

  toJSON() {
    return { name: this.name, healthy: this.healthy, latency_ms: this.latencyMs, error: this.error };
  }
}

/**
 * All configured back ends. Frozen. Healthy when each of them is, and when there is none.
 *
 * @example
 * ```ts
 * const report = await checkHealth();
 * if (!report.healthy) console.warn(JSON.stringify(report));
 * ```
 */
export class HealthReport {
  readonly healthy: boolean;
  readonly components: readonly ComponentHealth[];

  constructor(components: readonly ComponentHealth[]) {
    this.components = Object.freeze([...components]);
    this.healthy = components.every((component) => component.healthy);
    Object.freeze(this);
  }

  /** `{"status":"healthy"|"unhealthy","checks":[{"name","healthy","latency_ms","error"}]}` */
  toJSON() {
    return {
      status: this.healthy ? ('healthy' as const) : ('unhealthy' as const),
      checks: this.components.map((component) => component.toJSON()),
    };
  }
}
