/** `npm run bench`: compiles, installs the peers in a package of their own, and measures. */
import path from 'node:path';
import { compile } from './compile.mjs';
import { installPackages } from './set-up.mjs';
import { programs, root, runScript } from './step.mjs';

const PEERS = path.join(root, 'bench/peers');

/** Neither measures anybody but ours and the limit. */
const WITHOUT_PEERS = /^--(help|compare|scaling|servers)\b/;

export async function bench(args) {
  await compile();
  if (!args.some((arg) => WITHOUT_PEERS.test(arg))) await preparePeers();
  await runScript('dist/bench/main.js', args);
}

async function preparePeers() {
  await installPackages('peers', PEERS);
  await runScript(programs.tsc, ['-p', path.join(PEERS, 'tsconfig.json')]);
}
