/** Files of `bench/results`: their tables, and the lines that say when, where and by which command they were measured. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { StepFailed } from './step.mjs';

/** Titles of contenders in the tables. */
export const OURS = 'crud-controllers';
export const LIMIT = 'node:http + pg';
export const LEANEST = 'node:http + pg, pipelined';

/** Reads the files of a folder by name, each once. */
export function resultsIn(folder) {
  const read = new Map();
  return (name) => {
    if (!read.has(name)) read.set(name, new ResultFile(folder, name));
    return read.get(name);
  };
}

/** A file of results. */
export class ResultFile {
  #sections;

  constructor(folder, name) {
    this.name = `bench/results/${name}.md`;
    this.text = readFileSync(path.join(folder, this.name), 'utf8');
    this.#sections = this.text.split(/^#+ /m).slice(1);
  }

  /** The text of a line such as `- Date: …`. */
  said(label) {
    const [, found] = new RegExp(`^- ${label}: (.*)$`, 'm').exec(this.text) ?? [];
    return found ?? this.#fail(`no line '- ${label}: …'`);
  }

  /** The part of the text that a pattern has in parentheses. */
  matched(pattern) {
    return pattern.exec(this.text)?.[1] ?? this.#fail(`no text like ${pattern}`);
  }

  /** The first number of a cell: 28432 of `28432 (16916–32516)`, and 0.7 of `0.70 · 35 µs`. A section is found by the beginning of its heading. */
  number(section, row, column) {
    const cell = this.#cell(section, row, column);
    const [found] = /^[\d.]+/.exec(cell) ?? [];
    return found === undefined
      ? this.#fail(`no figure of '${row}', '${column}' below '${section.trim()}', but '${cell}'`)
      : +found;
  }

  /** A ratio as pages have it. */
  ratio(section, row, column) {
    const ratio = this.number(section, row, column);
    return ratio.toFixed(ratio < 10 ? 2 : 1);
  }

  /** A figure without a fraction. */
  whole(section, row, column) {
    return this.number(section, row, column).toFixed(0);
  }

  /** The highest round of a figure to its lowest one: the largest such ratio of these rows and columns. A figure of one round has none. */
  spread(section, rows, columns) {
    const rounds = rows
      .flatMap((row) =>
        columns.map((column) => /\(([\d.]+)–([\d.]+)\)/.exec(this.#cell(section, row, column))),
      )
      .filter(Boolean);
    const spread = Math.max(...rounds.map(([, lowest, highest]) => highest / lowest));
    return Number.isFinite(spread)
      ? spread
      : this.#fail(`no rounds of '${rows.join("', '")}' below '${section.trim()}'`);
  }

  #cell(section, row, column) {
    return (
      this.#row(section, row).get(column) ?? this.#fail(`no column '${column}' below '${section.trim()}'`)
    );
  }

  /** The cells of a row by their heads. */
  #row(section, title) {
    const found =
      this.#sections.find((each) => each.startsWith(section)) ?? this.#fail(`no heading '${section.trim()}'`);
    const tables = found.split(/\n(?!\|)/).map((lines) => lines.match(/^\| .*(?= \|$)/gm) ?? []);
    const cellsOf = (line) => line.slice(2).split(' | ');
    for (const [head, , ...rows] of tables) {
      const row = rows.map(cellsOf).find((cells) => cells[0] === title);
      if (row) return new Map(cellsOf(head).map((column, at) => [column, row[at]]));
    }
    return this.#fail(`no row '${title}' below '${section.trim()}'`);
  }

  #fail(what) {
    throw new StepFailed(`${this.name} has ${what}.`);
  }
}
