/** A reason not to start that its reader can do something about; it is shown without a stack. */

/** The message says what is wrong and what to do. */
export class StartProblem extends Error {
  override readonly name = 'StartProblem';
}
