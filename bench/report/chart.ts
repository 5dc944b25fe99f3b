/** Chooses what of a run the chart shows: servers, and not what extends ours. */
import { isUsual } from '../contenders.js';
import { type Bar, drawBars, type Panel } from './bar-chart.js';
import type { Run } from './report.js';
import { Summary } from './summary.js';

const SHOWN = ['read', 'list20', 'create', 'mix', 'create100', 'updateIfMatch', 'createWithKey'];

/** Draws it; the fastest comes first. */
export function drawChart(run: Run): string {
  const { base, machine, schedule } = run;
  const limit = run.contenders.find(({ name }) => name === base)?.title ?? base;
  const shown = run.workloads.filter(({ name }) => SHOWN.includes(name));
  const panels = (shown.length > 0 ? shown : run.workloads.slice(0, 1)).map(
    (workload): Panel => ({ title: workload.title, bars: bars(run, workload.name) }),
  );
  return drawBars(
    `Requests per second, as a ratio to ${limit}`,
    `Node ${machine['Node']}, PostgreSQL ${machine['PostgreSQL']}, one million rows, ${schedule.connections} connections, median of ${schedule.rounds} rounds`,
    panels,
  );
}

function bars({ contenders, rows, base, ours }: Run, workload: string): Bar[] {
  const summary = new Summary(rows);
  return contenders
    .filter(isUsual)
    .map(({ name, title, group }): Bar => {
      const ratio = summary.ratioSpread(name, base, workload, 'rate')?.median ?? null;
      // A short run may be without the one that all are compared with.
      const value = ratio ?? summary.median(name, workload, 'rate') ?? 0;
      const emphasis = name === ours ? 'ours' : group === 'limit' ? 'limit' : 'none';
      return {
        label: title,
        value,
        note: ratio === null ? 'not measured' : `× ${ratio.toFixed(2)}`,
        emphasis,
      };
    })
    .filter(({ value }) => value > 0)
    .sort((a, b) => b.value - a.value);
}
