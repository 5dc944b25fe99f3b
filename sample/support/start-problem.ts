/** A reason not to start that the reader of its message can remove. It is printed without a stack. */

/** @param message the problem and its fix */
export class StartProblem extends Error {
  override readonly name = 'StartProblem';
}
