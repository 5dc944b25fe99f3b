/** `npm run promises`: the promises of test/README.md, each with the tests that hold it. */
import process from 'node:process';
import { compile } from './compile.mjs';

export async function promises() {
  await compile();
  const { holders, promiseRows } = await import('../dist/test/support/promises.js');
  const held = holders();
  for (const { id, text } of promiseRows()) {
    process.stdout.write(`${id}  ${text}\n`);
    for (const { ids, file, title } of held)
      if (ids.includes(id)) process.stdout.write(`     ${file}${title && `: ${title}`}\n`);
  }
}
