/** Place of this copy of the package: a process may have several, and a bundle has no files of its own. */

/** A bundle of ES modules has no such variable. */
const FILE = typeof __filename === 'string' ? __filename : 'a bundle';
const [, files, folder] = /^((.*)[/\\]dist[/\\]src[/\\])util[/\\]own-package\.js$/.exec(FILE) ?? [];

/** Folder of the compiled files; undefined in a bundle, which has them beside the user's. */
export const OWN_FILES: string | undefined = files;

/** The same for a message: folder of the package, or file of a bundle. */
export const OWN_PLACE: string = folder ?? FILE;
