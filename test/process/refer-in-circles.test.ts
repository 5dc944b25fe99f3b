/** Models that refer to each other, each in an ES module of its own, compiled with `emitDecoratorMetadata`. */
import { expect } from 'chai';
import { buildApplication } from '../../src/bootstrap.js';
import { attach } from '../support/offline-models.js';

describe('models in ES modules that import each other', () => {
  it('are served where the types of their relations are a Ref', async () => {
    // This one first: the module of Task is then run before the class Project is there.
    const { Project } = await import('./esm-models/project.mjs');
    const { Task } = await import('./esm-models/task.mjs');
    expect(Reflect.getMetadata('design:type', Task.prototype, 'project')).to.equal(Object);
    attach(Project, Task);
    const { application } = buildApplication({ models: [Project, Task] });
    const lists = application.routes.filter(({ operation }) => operation === 'list');
    expect(lists.map(({ path }) => path)).to.deep.equal(['/projects', '/tasks']);
  });
});
