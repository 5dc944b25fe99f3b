/** Finds the doc comments of a TypeScript source, and the declarations behind them. By text: declarations begin their line. */

/** A declaration with `export` in front of it. */
export interface ExportedDeclaration {
  readonly name: string;
  readonly kind: 'class' | 'function' | 'const' | 'type' | 'interface';
  /** The text of the doc comment right before it, without the stars; null when there is none. */
  readonly comment: string | null;
}

const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(class|function\*?|const|let|type|interface|enum) (\w+)/gm;
const COMMENT_BEFORE = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:(?:\/\/[^\n]*|@[^\n]*)\n\s*)*$/;
const FILE_COMMENT = /^(?:#![^\n]*\n)?\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n/;

/** Every `export class`, `export function` … of a source; of an overloaded function the first. */
export function exportedDeclarations(source: string): ExportedDeclaration[] {
  const declarations = new Map<string, ExportedDeclaration>();
  for (const { 1: keyword = '', 2: name = '', index } of source.matchAll(DECLARATION)) {
    const comment = COMMENT_BEFORE.exec(source.slice(0, index))?.[1];
    if (declarations.has(name)) continue;
    declarations.set(name, {
      name,
      kind: kindOf(keyword),
      comment: comment === undefined ? null : plainText(comment),
    });
  }
  return [...declarations.values()];
}

/** The comment a file opens with, or null when that one belongs to a declaration, or there is none. */
export function fileComment(source: string): string | null {
  const match = FILE_COMMENT.exec(source);
  const [whole, comment = ''] = match ?? [];
  if (whole === undefined) return null;
  const next = source.slice(whole.length);
  const isOfFile = /^\s*(?:\n|$|import\b|export (?:type )?[{*]|declare module\b)/.test(next);
  return isOfFile ? plainText(comment) : null;
}

function kindOf(keyword: string): ExportedDeclaration['kind'] {
  switch (keyword) {
    case 'class':
    case 'const':
    case 'type':
    case 'interface':
      return keyword;
    case 'function':
    case 'function*':
      return 'function';
    default:
      throw new Error(`'export ${keyword}' is not used in this library`);
  }
}

function plainText(comment: string): string {
  return comment.replace(/^[ \t]*\*[ \t]?/gm, '').trim();
}
