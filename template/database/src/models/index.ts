/** The models of the database. The command `models` writes this file. */
import type { ModelClass } from 'crud-controllers';

export const models: readonly ModelClass[] = [];
