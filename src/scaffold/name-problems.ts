/** Names that nothing decides between: the run stops with the lines that people add to the file of names. */
import { throwProblems } from '../util/config-error.js';
import type { RelationNames } from './name-choices.js';

/** A line to add: a proposal. */
type NameProposal = { readonly table: string } & (
  | { readonly class: string }
  | { readonly column: string; readonly attribute: string }
  | { readonly relation: string; readonly names: RelationNames }
);

/** Collects problems of names, with proposals that solve them. */
export class NameProblems {
  readonly #texts: string[] = [];
  readonly #lines: Record<
    string,
    { class?: string; columns?: Record<string, string>; relations?: Record<string, RelationNames> }
  > = {};

  add(text: string, proposals: readonly NameProposal[]): void {
    this.#texts.push(text);
    for (const proposal of proposals) {
      const lines = this.#lines[proposal.table] ?? {};
      this.#lines[proposal.table] = lines;
      if ('class' in proposal) lines.class = proposal.class;
      else if ('column' in proposal)
        lines.columns = { ...lines.columns, [proposal.column]: proposal.attribute };
      else
        lines.relations = {
          ...lines.relations,
          [proposal.relation]: { ...lines.relations?.[proposal.relation], ...proposal.names },
        };
    }
  }

  /** @throws ConfigError with all problems, and the lines to add as the last one */
  throwAll(): void {
    if (this.#texts.length === 0) return;
    throwProblems([
      ...this.#texts,
      `Choose names: write these, or others, into a file that --names names:\n${JSON.stringify(this.#lines, null, 2)}`,
    ]);
  }
}
