/** The command line of the benchmark. */
import { expect } from 'chai';
import { readOptions } from '../../bench/options.js';
import { StartProblem } from '../../sample/support/start-problem.js';

describe('options of the benchmark', () => {
  const CONTENDERS = { kind: 'contenders', isPartial: true };
  const read: Readonly<Record<string, object>> = {
    '--only ours,node-http --work list20,read --rounds 3 --seconds 4 --warm-up 0 --connections 10': {
      ...CONTENDERS,
      only: ['node-http', 'ours'],
      work: ['read', 'list20'],
      schedule: { rounds: 3, seconds: 4, warmUp: 0, connections: 10 },
    },
    '--node 22,24 --postgres 14,18 --processes 1,2': {
      ...CONTENDERS,
      only: ['node-http-pipelined', 'node-http', 'ours'],
      platforms: { node: ['22', '24'], postgres: ['14', '18'], processes: [1, 2] },
    },
    '--node 22 --only ours': { ...CONTENDERS, only: ['ours'] },
    '--quick --seconds 1': {
      ...CONTENDERS,
      schedule: { rounds: 1, seconds: 1, warmUp: 1, connections: 64 },
    },
    '--scaling': { kind: 'scaling', isPartial: false },
    '--scaling --rounds 9': { kind: 'scaling', isPartial: true },
    '--transfer': { kind: 'transfer', isPartial: false },
    '--feeds': { kind: 'feeds', isPartial: false },
    '--crowds': {
      kind: 'contenders',
      isPartial: false,
      only: ['node-http-pipelined', 'node-http', 'ours'],
      work: ['read-256', 'read-1000', 'list20-256', 'list20-1000', 'create-256', 'create-1000'],
      schedule: { rounds: 3, seconds: 2, warmUp: 1, connections: 1_000 },
    },
    '--compare main': {
      kind: 'compare',
      revision: 'main',
      work: ['read', 'list20', 'filter20', 'create', 'update', 'mix'],
      schedule: { rounds: 9, seconds: 1, warmUp: 6, connections: 64 },
    },
    '--writes --compare main --work update --rounds 6 --once': {
      kind: 'compare',
      work: ['update'],
      schedule: { rounds: 6, seconds: 1, warmUp: 6, connections: 64 },
    },
    '--queries --work searchWords': { ...CONTENDERS, work: ['searchWords'] },
    '--as page-of-20': {
      ...CONTENDERS,
      as: 'page-of-20',
      work: ['list20'],
      schedule: { rounds: 7, seconds: 2, warmUp: 1, connections: 64 },
    },
    '--as platforms --once --rounds 1 --node 22': {
      ...CONTENDERS,
      as: 'platforms',
      isOnce: true,
      only: ['node-http', 'ours'],
      platforms: { node: ['22'], postgres: ['14', '18'], processes: [] },
      schedule: { rounds: 1, seconds: 2, warmUp: 1, connections: 64 },
    },
    '--as extensions': { ...CONTENDERS, work: ['read', 'list20', 'create', 'update'] },
    '--as neighbours': { ...CONTENDERS, as: 'neighbours' },
    '--as visibility': { ...CONTENDERS, work: ['read', 'list20'] },
    '--work read --as reads-2': { ...CONTENDERS, as: 'reads-2' },
  };
  for (const [line, options] of Object.entries(read)) {
    it(`takes ${line}`, () => {
      expect(readOptions(line.split(' '))).to.deep.include(options);
    });
  }

  it('measures all that is no variant when nothing is asked for', () => {
    const { only, work, ...others } = readOptions([]);
    expect(others).to.deep.include({
      kind: 'contenders',
      schedule: { rounds: 3, seconds: 2, warmUp: 1, connections: 64 },
      isPartial: false,
    });
    expect([only.length, work.length]).to.deep.equal([15, 9]);
  });

  const refused: Readonly<Record<string, string>> = {
    '--fast': "Unknown option '--fast'",
    everything: "Unexpected argument 'everything'",
    '--only ours,theirs': "--only has no 'theirs'; choose from",
    '--work reads': "--work has no 'reads'; choose from read,",
    '--as ../latest': "--as is '../latest'; use small letters",
    '--scaling --as curves': '--as does not go with --scaling.',
    '--scaling --as extensions': '--as does not go with --scaling.',
    '--rounds 0': "--rounds is '0'; use an integer from 1 on.",
    '--seconds 1.5': "--seconds is '1.5'; use an integer from 1 on.",
    '--scaling --compare main': 'Use --scaling or --compare, not both.',
    '--compare main --only ours': '--only does not go with --compare.',
    '--node 22,lts': "--node is 'lts'; use an integer from 1 on.",
    '--compare main --processes 2': '--node, --postgres and --processes do not go with --compare.',
    '--scaling --work read': '--work does not go with --scaling.',
    '--transfer --scaling': 'Use --scaling or --transfer, not both.',
    '--queries --writes': 'Use --writes or --queries, not both.',
  };
  for (const [line, message] of Object.entries(refused)) {
    it(`refuses ${line}`, () => {
      expect(() => readOptions(line.split(' '))).to.throw(StartProblem, message);
    });
  }
});
