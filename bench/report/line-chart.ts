/** Small line charts side by side. Values begin at zero, so that flat means flat. */
import { MARGIN, picture, round, text } from './svg.js';

/** One line; null where there is no value. */
export interface Line {
  readonly title: string;
  readonly values: readonly (number | null)[];
}

/** Lines with the same axes. */
export interface LinePanel {
  readonly title: string;
  /** The unit of the steps. */
  readonly unit: string;
  readonly steps: readonly number[];
  /** True where the distances of steps are proportional to their values; else they are equal. */
  readonly isProportional: boolean;
  readonly lines: readonly Line[];
}

/** The part of the picture that a panel draws in. */
interface Frame {
  readonly left: number;
  readonly top: number;
  readonly highest: number;
  /** The place of each step, from 0 to 1. */
  readonly places: readonly number[];
}

const COLUMNS = 2;
const PANEL_WIDTH = 414;
const PLOT_LEFT = 52;
const PLOT_WIDTH = 330;
const PLOT_TOP = 62;
const PLOT_HEIGHT = 130;
const PANEL_HEIGHT = 252;
const HEADER = 62;
const GRID_LINES = 4;
/** Pixels between the axis and the first point. */
const INDENT = 14;
const LABEL_DISTANCE = 28;

/** Draws the panels, two in a row. */
export function drawLines(title: string, subtitle: string, panels: readonly LinePanel[]): string {
  const width = 2 * MARGIN + COLUMNS * PANEL_WIDTH;
  const height = HEADER + Math.ceil(panels.length / COLUMNS) * PANEL_HEIGHT;
  const parts = panels.map((panel, index) => {
    const left = MARGIN + (index % COLUMNS) * PANEL_WIDTH;
    return drawPanel(panel, left, HEADER + Math.floor(index / COLUMNS) * PANEL_HEIGHT);
  });
  return picture({ width, height, title, subtitle }, parts);
}

function drawPanel(
  { title, unit, steps, isProportional, lines }: LinePanel,
  left: number,
  top: number,
): string {
  const values = lines.flatMap((line) => line.values).filter((value) => value !== null);
  const highest = roundUp(Math.max(1, ...values));
  const frame = {
    left: left + PLOT_LEFT,
    top: top + PLOT_TOP,
    highest,
    places: placesOf(steps, isProportional),
  };
  return [
    text(left, top + 20, title, 'panel'),
    ...drawLegend(lines, left, top + 42),
    ...drawGrid(frame),
    ...drawSteps(steps, frame),
    text(frame.left + PLOT_WIDTH / 2, frame.top + PLOT_HEIGHT + 34, unit, 'small', 'middle'),
    ...lines.map((line, index) => drawLine(line, index, frame)),
  ].join('\n');
}

/** One behind the other, as wide as their texts are likely to be. */
function drawLegend(lines: readonly Line[], left: number, y: number): string[] {
  let x = left;
  return lines.map(({ title }, index) => {
    const mark = `<rect class="fill${index}" x="${x}" y="${y - 8}" width="10" height="3"/>`;
    const label = text(x + 14, y - 2, title, 'small');
    x += 28 + title.length * 5.9;
    return `${mark}${label}`;
  });
}

function drawGrid(frame: Frame): string[] {
  return Array.from({ length: GRID_LINES + 1 }, (_, index) => {
    const value = (frame.highest * index) / GRID_LINES;
    const y = yOf(frame, value);
    const line = `<line class="grid" x1="${frame.left}" y1="${y}" x2="${frame.left + PLOT_WIDTH}" y2="${y}"/>`;
    return line + text(frame.left - 6, y + 4, shorten(value), 'small', 'end');
  });
}

function drawLine({ values }: Line, index: number, frame: Frame): string {
  const points = values.flatMap((value, step) =>
    value === null ? [] : [`${xOf(frame, step)},${yOf(frame, value)}`],
  );
  const dots = points.map((point) => {
    const [x, y] = point.split(',');
    return `<circle class="fill${index}" cx="${x}" cy="${y}" r="3"/>`;
  });
  return `<polyline class="line stroke${index}" points="${points.join(' ')}"/>${dots.join('')}`;
}

function placesOf(steps: readonly number[], isProportional: boolean): number[] {
  const last = steps.at(-1) ?? 0;
  return steps.map((step, index) => (isProportional ? step / last : index / Math.max(1, steps.length - 1)));
}

/** The last ones of those that would overlap. */
function drawSteps(steps: readonly number[], frame: Frame): string[] {
  return steps.map((step, index) => {
    const x = xOf(frame, index);
    const next = index + 1 < steps.length ? xOf(frame, index + 1) : Number.POSITIVE_INFINITY;
    if (next - x < LABEL_DISTANCE) return '';
    return text(x, frame.top + PLOT_HEIGHT + 16, shorten(step), 'small', 'middle');
  });
}

function xOf({ left, places }: Frame, index: number): number {
  return round(left + INDENT + (places[index] ?? 0) * (PLOT_WIDTH - 2 * INDENT));
}

function yOf({ top, highest }: Frame, value: number): number {
  return round(top + PLOT_HEIGHT * (1 - value / highest));
}

/** Rounds up to 1, 2, 4, 5 or 8 and zeros: numbers that divide well by four, or are easy to read. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 8, 10].find((factor) => factor * power >= value) ?? 10) * power;
}

function shorten(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`;
  if (value >= 1e4) return `${value / 1e3}k`;
  return String(Math.round(value * 100) / 100);
}
