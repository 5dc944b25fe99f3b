/** Options of the commands `export` and `import` that are refused without an application, and the lines of their progress. */
import { expect } from 'chai';
import { Progress } from '../../../src/transfer/progress.js';
import { resourceAddress, type TransferName } from '../../../src/transfer/resource-address.js';
import { prepareTransfer } from '../../../src/transfer/transfer.js';

describe('the commands for files', () => {
  it('refuse options that do not fit', () => {
    for (const [name, file, options, problem, headers = ''] of [
      ['export', '', { format: 'xml' }, "--format is 'xml'; use csv or ndjson."],
      [
        'import',
        'data.bin',
        {},
        "'data.bin' has no ending that says what it is; add --format=csv or --format=ndjson.",
      ],
      [
        'import',
        'a.csv',
        { 'no-atomic': '' },
        '--no-atomic needs --key=<text>: under it the same command goes on where it was cut.',
      ],
      ['import', 'a.csv', { key: 'Zürich' }, "--key is 'Zürich'; use 1 to 255 signs of ASCII."],
      [
        'export',
        '',
        { header: 'secret' },
        "--header has a line that is no header; write 'Name: value' in ASCII.",
      ],
      [
        'export',
        '',
        { header: 'A: b\nAccept: c' },
        '--header has Accept, which the command sets by itself; leave it out.',
      ],
      [
        'export',
        '',
        {},
        "CRUD_HEADERS has a line that is no header; write 'Name: value' in ASCII.",
        'A: b\nBearer x',
      ],
    ] as const)
      expect(() => prepareTransfer(name, file, new Map(Object.entries(options)), { CRUD_HEADERS: headers }))
        .to.throw(problem)
        .with.property('exitCode', 2);
  });

  it('find a resource by the end of its path, and name what it lacks', () => {
    const list = { responses: { 200: { content: { 'application/json': {}, 'text/csv': {} } } } };
    const described = {
      mount: '/v2',
      routes: [
        { path: '/api/cities', operation: 'list', resource: 'City' },
        { path: '/api/cities/import', operation: 'import', resource: 'City' },
        { path: '/api/plain', operation: 'list', resource: 'Plain' },
      ],
      document: { paths: { '/api/cities': { get: list }, '/api/plain': { get: { responses: {} } } } },
    };
    const found = (name: string, operation: TransferName) =>
      resourceAddress(described as never, name, operation);
    expect([found('cities', 'export'), found('/v2/api/cities/', 'import')]).to.deep.equal([
      '/v2/api/cities',
      '/v2/api/cities/import',
    ]);
    const resources = 'The resources are v2/api/cities, v2/api/plain.';
    for (const [name, operation, problem, exitCode] of [
      ['citis', 'export', `There is no resource 'citis'. Did you mean 'cities'? ${resources}`, 2],
      [
        'plain',
        'export',
        "Plain has no export; add export: ['csv', 'ndjson'] to the options of its @Crud.",
        1,
      ],
      [
        'plain',
        'import',
        "Plain has no import; add import: { modes: ['create'] } to the options of its @Crud.",
        1,
      ],
    ] as const)
      expect(() => found(name, operation))
        .to.throw(problem)
        .with.property('exitCode', exitCode);
  });

  it('show a bar in a terminal, and elsewhere a line now and then', () => {
    const lines = (isTTY: boolean) => {
      let time = 0;
      const written: string[] = [];
      const progress = new Progress({ isTTY, write: (text) => written.push(text) }, () => time);
      for (const [at, rows, part] of [
        [10, 1, 0.1],
        [15_000, 30_000, 0.25],
        [15_050, 30_500, 0.26],
        [60_000, 120_000, null],
      ] as const) {
        time = at;
        progress.update(rows, part);
      }
      progress.end();
      return written;
    };
    expect(lines(false)).to.deep.equal([
      '25%, 30000 rows, 2000 rows/s, 0:45 left\n',
      '120000 rows, 2000 rows/s\n',
    ]);
    expect(lines(true)).to.deep.equal([
      '\r\u001b[K[######------------------] 25%, 30000 rows, 2000 rows/s, 0:45 left',
      '\r\u001b[K120000 rows, 2000 rows/s',
      '\r\u001b[K',
    ]);
  });
});
