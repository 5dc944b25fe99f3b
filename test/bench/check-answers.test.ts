/** Checks of answers before a measurement. */
import { type AddressInfo, createServer } from 'node:net';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { askPort } from '../../bench/load/call.js';
import { type Examination, findDifference } from '../../bench/measure/check-answers.js';

describe('a check of answers', () => {
  it('names the failure of a server that is gone, and leaves the others to be measured', async () => {
    const server = createServer().listen();
    const { port } = server.address() as AddressInfo;
    await promisify(server.close.bind(server))();
    const examination = { ask: askPort(port) } as Examination;
    const read = async ({ ask }: Examination) => void (await ask({ method: 'GET', path: '/' }));
    expect(await findDifference(read, examination)).to.equal('It did not answer: ECONNREFUSED.');
  });
});
