/** The chart of the README: horizontal bars as SVG, readable on light and on dark pages. */

import { MARGIN, picture, round, text } from './svg.js';

/** One bar. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  /** Text behind the bar. */
  readonly note: string;
  readonly emphasis: 'ours' | 'limit' | 'none';
}

/** Bars that share a scale. */
export interface Panel {
  readonly title: string;
  readonly bars: readonly Bar[];
}

const WIDTH = 860;
const LABELS = 256;
const NOTES = 96;
const BAR = 16;
const STEP = 23;
const HEADER = 62;
const PANEL_HEADER = 34;
const PANEL_GAP = 18;

/** Draws the panels below each other. */
export function drawBars(title: string, subtitle: string, panels: readonly Panel[]): string {
  let y = HEADER;
  const parts: string[] = [];
  for (const panel of panels) {
    parts.push(drawPanel(panel, y));
    y += PANEL_HEADER + panel.bars.length * STEP + PANEL_GAP;
  }
  return picture({ width: WIDTH, height: y, title, subtitle }, parts);
}

function drawPanel({ title, bars }: Panel, top: number): string {
  const longest = Math.max(...bars.map(({ value }) => value));
  const room = WIDTH - 2 * MARGIN - LABELS - NOTES;
  const lines = bars.map(({ label, value, note, emphasis }, index) => {
    const y = top + PANEL_HEADER + index * STEP;
    const width = round(Math.max(1, (value / longest) * room));
    const left = MARGIN + LABELS;
    const strong = emphasis === 'ours' ? 'strong' : '';
    return [
      text(left - 10, y + BAR - 3, label, strong, 'end'),
      `<rect class="${emphasis}" x="${left}" y="${y}" width="${width}" height="${BAR}" rx="2"/>`,
      text(left + width + 8, y + BAR - 3, note, strong || 'note'),
    ].join('\n');
  });
  return [text(MARGIN, top + 20, title, 'panel'), ...lines].join('\n');
}
