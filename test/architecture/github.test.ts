/** The files for GitHub: the runs of the matrix, scripts that exist, and no address that would have to be changed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { expect } from 'chai';
import { RUNS } from '../support/matrix-edges.js';
import { PACKAGE_ROOT } from '../support/package-root.js';

interface Job {
  readonly 'timeout-minutes'?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: { readonly run: readonly string[] } };
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

interface Workflow {
  readonly on: unknown;
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Form {
  readonly name: string;
  readonly body: readonly { readonly id?: string; readonly validations?: { readonly required: boolean } }[];
}

const FOLDER = join(PACKAGE_ROOT, '.github');
const FILES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.\w+$/.test(name),
);
const { scripts } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'));

function read(name: string): string {
  return readFileSync(join(FOLDER, name), 'utf8');
}

function workflow(name: string): Workflow {
  return parseYaml(read(`workflows/${name}.yml`)) as Workflow;
}

describe('the workflows and forms of GitHub', () => {
  it('run each run of the matrix in a job', () => {
    expect(workflow('ci').jobs['matrix']?.strategy?.matrix.run).to.deep.equal(
      RUNS.map((run) => run.join('+')),
    );
  });

  for (const name of ['ci', 'release']) {
    it(`have scripts, versions, limits of time and the least rights in ${name}`, () => {
      const { jobs, permissions } = workflow(name);
      const steps = Object.values(jobs).flatMap((job) => job.steps);
      const commands = steps.flatMap(({ run = '' }) => [...run.matchAll(/npm (?:run )?([a-z]+)/g)]);
      const known = [...Object.keys(scripts), 'ci', 'publish'];
      expect(known).to.include.members(commands.map(([, script]) => script));
      expect(steps.flatMap(({ uses }) => uses ?? []).filter((uses) => !/@v\d+$/.test(uses))).to.deep.equal(
        [],
      );
      expect(Object.values(jobs).filter((job) => !job['timeout-minutes'])).to.deep.equal([]);
      expect(permissions).to.deep.equal({ contents: 'read' });
    });
  }

  it('publish with provenance, after the tests, in an environment', () => {
    const { on, jobs } = workflow('release');
    expect(on).to.deep.equal({ push: { tags: ['v*'] } });
    expect(jobs['publish']).to.deep.include({ needs: 'test', environment: 'npm' });
    expect(jobs['publish']?.permissions).to.include({ 'id-token': 'write' });
    expect(jobs['publish']?.steps.map(({ run }) => run)).to.include(
      'npm publish --provenance --access public',
    );
  });

  it('ask for a program that shows a bug, and for the versions', () => {
    const { body } = parseYaml(read('ISSUE_TEMPLATE/bug.yml')) as Form;
    const required = body.filter(({ validations }) => validations?.required).map(({ id }) => id);
    expect(required).to.deep.equal(['program', 'requests', 'expected', 'versions']);
  });

  it('name no host of a registry, and no owner', () => {
    expect(FILES).to.have.lengthOf.above(4);
    expect(FILES.filter((name) => /registry\.|npmjs|OWNER|https?:/.test(read(name)))).to.deep.equal([]);
  });
});
