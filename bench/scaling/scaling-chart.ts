/** Chooses what the charts of the scaling curves show: the processor time of a request, and of the start. */
import { drawLines, type Line, type LinePanel } from '../report/line-chart.js';
import { medianOf } from '../report/statistics.js';
import type { Bootstrap, MeasuredCurve, Point } from './run-scaling.js';
import type { ScalingRun } from './scaling-report.js';

/** Draws one panel for each curve, and one for the start. */
export function drawCurves({ curves, machine }: ScalingRun): string {
  return drawLines(
    'What a request costs as things grow',
    `Processor time of Node and PostgreSQL together, µs for each request; Node ${machine['Node']}, PostgreSQL ${machine['PostgreSQL']}`,
    [...curves.map(costPanel), ...curves.flatMap(startPanel)],
  );
}

function costPanel({ curve, points }: MeasuredCurve): LinePanel {
  return {
    title: curve.title,
    unit: curve.unit,
    steps: curve.steps,
    isProportional: curve.isProportional,
    lines: seriesOf(points).map((title) => lineOf(title, points, cost)),
  };
}

function startPanel({ curve, points }: MeasuredCurve): LinePanel[] {
  if (curve.start === undefined) return [];
  const medianOfStarts = ({ starts }: Point, figure: keyof Bootstrap): number | null =>
    starts.length > 0 ? medianOf(starts.map((start) => start[figure])) : null;
  const line = lineOf('bootstrap, ms', points, (point) => medianOfStarts(point, 'milliseconds'), false);
  const heap = lineOf(
    'heap, MB',
    points,
    (point) => {
      const bytes = medianOfStarts(point, 'heap');
      return bytes && bytes / 2 ** 20;
    },
    false,
  );
  return [
    {
      title: 'Start',
      unit: curve.start,
      steps: curve.steps,
      isProportional: true,
      lines: [line, heap],
    },
  ];
}

function seriesOf(points: readonly Point[]): string[] {
  return [...new Set(points.map(({ series }) => series))];
}

function lineOf(
  title: string,
  points: readonly Point[],
  value: (point: Point) => number | null,
  ofSeries = true,
): Line {
  const own = ofSeries ? points.filter(({ series }) => series === title) : points;
  return { title, values: own.map(value) };
}

function cost({ samples, problem }: Point): number | null {
  if (problem || samples.length === 0) return null;
  return medianOf(samples.map(({ node, postgres }) => node + (postgres ?? 0)));
}
