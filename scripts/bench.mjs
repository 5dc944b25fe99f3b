/** `npm run bench`: compiles, installs the peers in a package of their own, and measures. */
import path from 'node:path';
import { isInstalled } from './set-up.mjs';
import { programs, root, runProgram, runScript, step } from './step.mjs';

const PEERS = path.join(root, 'bench/peers');

export async function bench(args) {
  await runScript(programs.tsc);
  // Only who measures needs them.
  if (!args.includes('--help') && !isInstalled(PEERS)) await step('Install peers', installPeers);
  if (!args.includes('--help')) await runScript(programs.tsc, ['-p', path.join(PEERS, 'tsconfig.json')]);
  await runScript('dist/bench/main.js', args);
}

async function installPeers() {
  await runProgram('npm', ['install', '--prefix', PEERS, '--no-audit', '--no-fund']);
}
