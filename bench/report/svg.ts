/** Texts of all charts, and colours for light and dark pages. */

/** Colours and fonts; the classes are those that the charts use. */
export const STYLE = `
  text { font: 13px -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #24292f; }
  .title { font-size: 17px; font-weight: 600; }
  .subtitle, .note, .small { fill: #57606a; }
  .small { font-size: 11px; }
  .panel { font-size: 14px; font-weight: 600; }
  .strong { font-weight: 600; fill: #24292f; }
  .none { fill: #afb8c1; }
  .limit { fill: #6e7781; }
  .ours { fill: #1f7a4d; }
  .grid { stroke: #d0d7de; stroke-width: 1; }
  .line { fill: none; stroke-width: 2; }
  .stroke0 { stroke: #1f7a4d; } .fill0 { fill: #1f7a4d; }
  .stroke1 { stroke: #6e7781; } .fill1 { fill: #6e7781; }
  .stroke2 { stroke: #0969da; } .fill2 { fill: #0969da; }
  .background { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    text, .strong { fill: #e6edf3; }
    .subtitle, .note, .small { fill: #9198a1; }
    .none { fill: #484f58; }
    .limit { fill: #8b949e; }
    .ours { fill: #3fb950; }
    .grid { stroke: #30363d; }
    .stroke0 { stroke: #3fb950; } .fill0 { fill: #3fb950; }
    .stroke1 { stroke: #9198a1; } .fill1 { fill: #9198a1; }
    .stroke2 { stroke: #58a6ff; } .fill2 { fill: #58a6ff; }
    .background { fill: #0d1117; }
  }
`;

/** Blank space around a picture. */
export const MARGIN = 16;

/** A picture with a title, a line below it, and its content. */
export function picture(
  {
    width,
    height,
    title,
    subtitle,
  }: {
    readonly width: number;
    readonly height: number;
    readonly title: string;
    readonly subtitle: string;
  },
  parts: readonly string[],
): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">
<style>${STYLE}</style>
<rect class="background" width="${width}" height="${height}" rx="6"/>
${text(MARGIN, 28, title, 'title')}
${text(MARGIN, 48, subtitle, 'subtitle')}
${parts.join('\n')}
</svg>
`;
}

/** A text whose baseline begins, or else ends or has its middle, at the point. */
export function text(
  x: number,
  y: number,
  content: string,
  style: string,
  anchor: 'start' | 'middle' | 'end' = 'start',
): string {
  return `<text x="${round(x)}" y="${round(y)}" class="${style}" text-anchor="${anchor}">${escapeXml(content)}</text>`;
}

/** A tenth of a pixel is enough. */
export function round(length: number): number {
  return Math.round(length * 10) / 10;
}

function escapeXml(content: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return content.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
