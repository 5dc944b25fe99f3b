/** Tests over HTTP: each in the folder of a capability, with tags that the scripts know. */
import { posix } from 'node:path';
import { expect } from 'chai';
import { featureTests, RUN_TAGS, runTags } from '../support/run-tags.js';

const MAX_FILES = 25;

/** Lines with `@runs` that no script reads. */
function unknownTags(source: string): readonly string[] {
  const tags = runTags(source);
  const lines = source.split('\n').filter((line) => line.includes('@runs '));
  const head = source.slice(0, Math.max(0, source.search(/^(?:import|const|describe)\b/m)));
  return [
    ...tags.filter((tag) => !Object.hasOwn(RUN_TAGS, tag)),
    ...(lines.length > runTags(head).length ? ['a tag that is no comment of its own in the head'] : []),
    ...(tags.includes('once') && tags.includes('fast') ? ['once and fast'] : []),
  ];
}

describe('the tests over HTTP', () => {
  const tests = featureTests();

  it('have known tags', () => {
    const unknown = tests.flatMap(([path, source]) => unknownTags(source).map((tag) => `${path}: ${tag}`));
    expect(unknown).to.deep.equal([]);
  });

  it('would be found with unknown tags', () => {
    expect(unknownTags("// @runs fast\n\nimport 'a';\n")).to.deep.equal([]);
    expect(unknownTags("// @runs unpooled: for a reason\n\nimport 'a';\n")).to.deep.equal([]);
    expect(unknownTags("// @runs slow\n\nimport 'a';\n")).to.deep.equal(['slow']);
    expect(unknownTags("// @runs once\n// @runs fast\n\nimport 'a';\n")).to.deep.equal(['once and fast']);
    const outside = ['a tag that is no comment of its own in the head'];
    expect(unknownTags("import 'a';\n// @runs fast\n")).to.deep.equal(outside);
    expect(unknownTags("/** @runs fast */\nimport 'a';\n")).to.deep.equal(outside);
    expect(unknownTags("// @runs fast and once\nimport 'a';\n")).to.deep.equal(outside);
  });

  it('stand in folders that a reader can survey, and have names of their own', () => {
    const paths = tests.map(([path]) => path);
    const names = paths.map((path) => posix.basename(path));
    expect(names).to.have.lengthOf(new Set(names).size);
    const folders = paths.map((path) => posix.dirname(path));
    const large = folders.filter((folder) => folders.filter((each) => each === folder).length > MAX_FILES);
    expect(large).to.deep.equal([]);
  });
});
