/** The command line of the benchmark. */
import { expect } from 'chai';
import { HELP, readOptions } from '../../bench/options.js';
import { StartProblem } from '../../sample/support/start-problem.js';

describe('options of the benchmark', () => {
  it('measures everything when nothing is asked for', () => {
    const { kind, only, work, schedule, isPartial } = readOptions([]);
    expect({ kind, schedule, isPartial }).to.deep.equal({
      kind: 'contenders',
      schedule: { rounds: 5, seconds: 2, warmUp: 1, connections: 64 },
      isPartial: false,
    });
    expect(only).to.have.length(34);
    expect(work).to.have.length(9);
  });

  it('takes names and numbers', () => {
    const { only, work, schedule, isPartial } = readOptions(
      '--only ours,node-http --work list20,read --rounds 3 --seconds 4 --warm-up 0 --connections 10'.split(
        ' ',
      ),
    );
    expect({ only, work, schedule, isPartial }).to.deep.equal({
      only: ['node-http', 'ours'],
      work: ['read', 'list20'],
      schedule: { rounds: 3, seconds: 4, warmUp: 0, connections: 10 },
      isPartial: true,
    });
  });

  it('takes versions and numbers of processes, and fewer contenders for them', () => {
    const { only, platforms, isPartial } = readOptions(
      '--node 22,24 --postgres 14,18 --processes 1,2'.split(' '),
    );
    expect({ only, platforms, isPartial }).to.deep.equal({
      only: ['node-http-pipelined', 'node-http', 'ours'],
      platforms: { node: ['22', '24'], postgres: ['14', '18'], processes: [1, 2] },
      isPartial: true,
    });
    expect(readOptions(['--node', '22', '--only', 'ours']).only).to.deep.equal(['ours']);
  });

  it('lets single numbers change a quick run', () => {
    const { schedule, isPartial } = readOptions(['--quick', '--seconds', '1']);
    expect(schedule).to.deep.equal({ rounds: 1, seconds: 1, warmUp: 1, connections: 64 });
    expect(isPartial).to.equal(true);
  });

  it('has as many rounds for curves', () => {
    const { kind, schedule, isPartial } = readOptions(['--scaling']);
    expect({ kind, rounds: schedule.rounds, isPartial }).to.deep.equal({
      kind: 'scaling',
      rounds: 5,
      isPartial: false,
    });
    expect(readOptions(['--scaling', '--rounds', '9']).isPartial).to.equal(true);
  });

  const refused: Readonly<Record<string, string>> = {
    '--fast': "Unknown option '--fast'",
    everything: "Unexpected argument 'everything'",
    '--only ours,theirs': "--only has no 'theirs'; choose from",
    '--work reads': "--work has no 'reads'; choose from read,",
    '--rounds 0': "--rounds is '0'; use an integer from 1 on.",
    '--seconds 1.5': "--seconds is '1.5'; use an integer from 1 on.",
    '--scaling --compare main': 'Use --scaling or --compare, not both.',
    '--compare main --only ours': '--only does not go with --compare.',
    '--node 22,lts': "--node is 'lts'; use an integer from 1 on.",
    '--compare main --processes 2': '--node, --postgres and --processes do not go with --compare.',
    '--scaling --work read': '--work does not go with --scaling.',
  };
  for (const [line, message] of Object.entries(refused)) {
    it(`refuses ${line}`, () => {
      expect(() => readOptions(line.split(' '))).to.throw(StartProblem, message);
    });
  }

  it('explains every option', () => {
    for (const name of 'quick only work rounds seconds warm-up connections once node postgres processes compare scaling help'.split(
      ' ',
    )) {
      expect(HELP).to.match(new RegExp(`^ {2}--${name}\\b`, 'm'));
    }
  });
});
