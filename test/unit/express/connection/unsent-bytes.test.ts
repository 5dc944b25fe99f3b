import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

/** Megabytes. */
const HEAP = 96;

describe('a long answer in a process with little memory', () => {
  it('fits while those that clients have not taken leave room for it', async () => {
    const program = join(__dirname, 'unsent-bytes-program.js');
    const { stdout } = await promisify(execFile)(process.execPath, [`--max-old-space-size=${HEAP}`, program]);
    expect(JSON.parse(stdout)).to.deep.equal({
      'beside nothing, however long': true,
      'beside one that a client does not take': false,
      'when that client has gone': true,
      'beside the next one': false,
      'when it has been taken': true,
      'beside two on one connection': false,
      'when their client has gone': true,
      'behind one for a client that has gone before': true,
      'beside the last one': false,
    });
  });
});
