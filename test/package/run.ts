/** Runs a program to its end. */
import { execFile } from 'node:child_process';

/** Output of a program, on standard output and on both. */
export interface Result {
  readonly code: number;
  readonly output: string;
  readonly everything: string;
}

/** Like `tryRun`, and throws the output of the program when it fails. */
export async function run(
  file: string,
  args: readonly string[],
  folder: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<Result> {
  const result = await tryRun(file, args, folder, variables);
  if (result.code === 0) return result;
  throw new Error(`${file} ${args.join(' ')} ended with ${result.code}:\n${result.everything}`);
}

/** Runs a program in a folder; a Node script by giving `process.execPath` as the program. */
export function tryRun(
  file: string,
  args: readonly string[],
  folder: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<Result> {
  const options = {
    cwd: folder,
    env: { ...environment(), ...variables },
    maxBuffer: 64 * 1024 * 1024,
    // On Windows npm is a shell script.
    shell: process.platform === 'win32' && file === 'npm',
  };
  return new Promise((resolve, reject) => {
    execFile(file, args, options, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), output: stdout, everything: stdout + stderr });
    });
  });
}

/** Without the variables that `npm test` sets for this package: the programs that it starts would take them for theirs. */
export function environment(): NodeJS.ProcessEnv {
  const isOurs = /^npm_(?:package|lifecycle|command|config_local_prefix)|^NODE_V8_COVERAGE$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs.test(name)));
}
