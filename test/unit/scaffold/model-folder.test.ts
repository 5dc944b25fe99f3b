/** Files of models in a folder: the edits of people stay, and generated parts follow the database. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type WriteOptions, writePlan } from '../../../src/scaffold/model-folder.js';
import type { ModelPlan } from '../../../src/scaffold/model-plan.js';
import { ConfigError } from '../../../src/util/config-error.js';
import { forSuite } from '../../support/for-suite.js';
import { attributeOf, modelOf } from '../../support/model-plans.js';
import { createTemporaryFolder } from '../../support/temporary-folder.js';

const STATUS = attributeOf('status', { type: 'status', labels: ['new', 'paid'] });
const LINES = {
  kind: 'HasMany',
  name: 'lines',
  target: 'Line',
  foreignKey: 'orderId',
  referencedKey: 'id',
} as const;
const ORDER = modelOf('Order', { attributes: [STATUS, attributeOf('note')], relations: [LINES] });
const LINE = modelOf('Line', {
  attributes: [attributeOf('orderId', { type: 'integer', isNotNull: true })],
  relations: [
    { kind: 'BelongsTo', name: 'order', target: 'Order', foreignKey: 'orderId', referencedKey: 'id' },
  ],
});

describe('the files of models', () => {
  const folder = forSuite(() => createTemporaryFolder('models'));
  let out: string;

  const write = (models: readonly ModelPlan[], options: Partial<WriteOptions> = {}) => {
    const { created, changed, unchanged, differences, warnings } = writePlan(
      { models, leftOut: [], hints: [] },
      { out, ...options },
    );
    return { created, changed, unchanged, differences, warnings };
  };
  const problemsOf = (models: readonly ModelPlan[], options: Partial<WriteOptions> = {}) => {
    const before = snapshot();
    try {
      write(models, options);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      expect(snapshot(), 'something was written').to.deep.equal(before);
      return error.problems.map((problem) => problem.replaceAll(out, ''));
    }
    return [];
  };
  const read = (file: string) => readFileSync(join(out, file), 'utf8');
  const edit = (file: string, change: (text: string) => string) => {
    const before = read(file);
    writeFileSync(join(out, file), change(before));
    expect(read(file)).to.not.equal(before);
  };
  const snapshot = () =>
    readdirSync(out, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name: file }) => [file, read(file), statSync(join(out, file)).mtimeMs]);

  beforeEach(() => {
    out = join(folder.path, 'src/models');
    rmSync(out, { recursive: true, force: true });
    write([ORDER, LINE]);
    // Times of files that are written again are later ones.
    for (const file of readdirSync(out)) utimesSync(join(out, file), 1, 1);
  });

  it('are the same after a second run, down to their times', () => {
    const before = snapshot();
    expect(write([LINE, ORDER])).to.deep.equal({
      created: [],
      changed: [],
      unchanged: ['index.ts', 'line.ts', 'order.ts'],
      differences: [],
      warnings: [],
    });
    expect(snapshot()).to.deep.equal(before);
  });

  it('keep all that people write around the marks, and what formatters do', () => {
    edit('order.ts', (text) =>
      text
        .replace('// <enums', 'export const LIMIT = 5;\n// <enums')
        .replace('readOnly: true, ', "tags: ['Shop'], ")
        .replace(
          '  // </columns>',
          '  // </columns>\n\n  get isNew() {\n    return this.status === "new";\n  }',
        )
        .replace(/(?<= Ref \} from ).*;/, '"crud-controllers"')
        .replaceAll("'id'", '"id"')
        .replaceAll(/^ {2}(?=@)/gm, '\t')
        .replace('{ foreignKey: ', '{\n      foreignKey: ')
        .replace(' });\n  declare lines', ',\n    })\n  declare lines'),
    );
    edit('index.ts', (text) =>
      text
        .replace(/(import \{ Line.*\n)(import \{ Order.*\n)/, '$2$1')
        .replace(/\[\n {2}Line,\n {2}Order,\n\]/, '[Line, Order]'),
    );
    const before = snapshot();
    expect(write([ORDER, LINE]).changed).to.deep.equal([]);
    expect(snapshot()).to.deep.equal(before);
    const own = read('order.ts');
    const wide = modelOf('Order', { ...ORDER, attributes: [...ORDER.attributes, attributeOf('buyer')] });
    expect(write([wide, LINE]).changed).to.deep.equal(['order.ts']);
    const parts = (text: string) => text.split(/ *\/\/ <\/?columns.*\n/);
    const [[head, , tail], [, columns]] = [parts(own), parts(read('order.ts'))] as [string[], string[]];
    expect([parts(read('order.ts'))[0], parts(read('order.ts'))[2]]).to.deep.equal([head, tail]);
    expect(columns).to.include('declare buyer: string | null;');
  });

  it('stop a run where somebody has edited what is between the marks, until --force', () => {
    edit('order.ts', (text) =>
      text.replace('declare note: string | null', 'declare note: string').replace('@Table(', '@Table( '),
    );
    edit('line.ts', (text) =>
      text.replace("foreignKey: 'orderId' }", "foreignKey: 'orderId', onDelete: 'CASCADE' }"),
    );
    const mend =
      'was edited between its marks: move what is yours above the decorators or below the mark, or generate it again by --force. The file has the lines with -, and the database those with +:';
    expect(problemsOf([ORDER, LINE, modelOf('Tag')])).to.deep.equal([
      `/order.ts ${mend}\n-   declare note: string;\n+   declare note: string | null;`,
      `/line.ts ${mend}\n-   @BelongsTo(() => Order, { foreignKey: 'orderId', onDelete: 'CASCADE' })\n+   @BelongsTo(() => Order, { foreignKey: 'orderId' })`,
    ]);
    expect(write([ORDER, LINE], { force: true }).changed).to.deep.equal(['line.ts', 'order.ts']);
    expect(read('order.ts')).to.include('declare note: string | null').and.include('@Table( ');
  });

  it('take an edit that is what the database has', () => {
    edit('order.ts', (text) => text.replace('declare note: string | null', 'declare note: string'));
    const strict = {
      ...ORDER,
      attributes: ORDER.attributes.map((each) =>
        each.name === 'note'
          ? { ...each, column: { ...each.column, isNotNull: true, isGenerated: true } }
          : each,
      ),
    };
    edit('order.ts', (text) =>
      text.replace(
        '  @Column(DataType.TEXT)\n',
        '  /** The database makes its values. */\n  @Column(DataType.TEXT)\n',
      ),
    );
    expect(write([strict, LINE]).changed).to.deep.equal(['order.ts']);
    expect(write([strict, LINE]).changed).to.deep.equal([]);
  });

  for (const [name, change, problem] of [
    [
      'no marks',
      () => 'export class Order {}\n',
      'has no marks // <columns digest=…> and // </columns>, so that it is a file of yours; move it, or name another folder by --out.',
    ],
    [
      'one mark',
      (text: string) => text.replace('  // </columns>\n', ''),
      'has not one pair of the marks // <columns digest=…> and // </columns>; leave one of each around the lines of the command, as after a merge, and run it again.',
    ],
    [
      'its labels without marks',
      (text: string) => text.replaceAll(/.*<\/?enums.*\n/g, ''),
      'has ORDER_STATUS without the marks // <enums digest=…> and // </enums>; take it out, and the command writes it again.',
    ],
    [
      'marks twice',
      (text: string) => text + text,
      'has not one pair of the marks // <enums digest=…> and // </enums>; leave one of each around the lines of the command, as after a merge, and run it again.',
    ],
    [
      'another table in its decorator',
      (text: string) => text.replace("tableName: 'orders'", 'tableName: "old_orders"'),
      'has the table shop.old_orders in @Table, and shop.orders would be its class Order; correct @Table where the table was renamed, or choose classes in the file of --names, such as {"shop.old_orders":{"class":"Order"},"shop.orders":{"class":"ShopOrder"}}.',
    ],
    [
      'another class',
      (text: string) => text.replace('class Order', 'class Purchase'),
      'has no class Order, which index.ts and other models import; give the class another name in the file of --names.',
    ],
    [
      'another thing under the name of an import',
      (text: string) => text.replace('import { Line } from', 'import { Row as Line } from'),
      "imports Line from './line.js', and its region needs Line of './line.js'.",
    ],
  ] as const)
    it(`are left as they are where one has ${name}`, () => {
      edit('order.ts', change);
      for (const force of [false, true])
        expect(problemsOf([ORDER, LINE], { force })).to.deep.equal([`/order.ts ${problem}`]);
    });

  it('are left as they are where another class would have the table of one', () => {
    mkdirSync(join(out, 'folder.ts'));
    const { table } = ORDER;
    expect(problemsOf([modelOf('ShopOrder', { table }), LINE])).to.deep.equal([
      '/order.ts has the table shop.orders, whose class would be ShopOrder now; write {"shop.orders":{"class":"Order"}} into the file of --names, or delete the file.',
    ]);
  });

  it('follow a table that is dropped and a file that is deleted', () => {
    const bare = { ...ORDER, attributes: ORDER.attributes.slice(0, 1), relations: [] };
    const report = write([bare]);
    expect(report.changed).to.deep.equal(['order.ts']);
    expect(report.warnings).to.deep.equal([
      'line.ts: no table of the database has this model any more. The file stays as it is, and index.ts exports it; delete the file where nobody needs it.',
    ]);
    expect(write([bare], { isWhole: false }).warnings).to.deep.equal([]);
    expect(read('index.ts')).to.match(/^export const models: .* = \[\n {2}Line,\n {2}Order,\n\];$/m);
    // The relation, its import and the labels are gone, and so are the imports of their decorators.
    expect(
      read('order.ts'),
    ).to.equal(`/** The table shop.orders: what is between the marks is generated again, and the rest is yours. */
import { Crud } from 'crud-controllers';
import { Column, DataType, Model, Table } from 'sequelize-typescript';

@Crud({ readOnly: true, pagination: 'cursor' })
@Table({ schema: 'shop', tableName: 'orders', timestamps: false })
export class Order extends Model {
  ${read('order.ts').match(/\/\/ <columns.*/)?.[0]}
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true })
  declare id: number;
  // </columns>
}
`);
    rmSync(join(out, 'line.ts'));
    expect(write([bare])).to.deep.include({ changed: ['index.ts'], warnings: [] });
    expect(write([ORDER, LINE])).to.deep.include({ created: ['line.ts'], changed: ['index.ts', 'order.ts'] });
    const [before, after] = [read('order.ts'), write([ORDER, LINE])];
    expect(after.changed).to.deep.equal([]);
    expect(before).to.match(/^import \{ Line \} from '.\/line.js';\n\n\/\/ <enums digest=\w+>\n/m);
    expect(before).to.include(
      "import { Column, DataType, HasMany, Model, Table } from 'sequelize-typescript';",
    );
    expect(before).to.include("import { Crud, type Ref } from 'crud-controllers';");
  });

  it('keep an import that people use, and add what a type alone does not do', () => {
    edit(
      'order.ts',
      (text) =>
        `${text.replace('import { Line }', 'import type { Line }')}\nexport const use = (line: Line, ref: Ref<Line>) => [line, ref];\n`,
    );
    expect(write([ORDER, LINE]).changed).to.deep.equal(['order.ts']);
    expect(read('order.ts'))
      .to.include("\nimport { Line } from './line.js';\n")
      .and.not.include('import type');
    write([{ ...ORDER, relations: [] }, LINE]);
    expect(read('order.ts')).to.include("import { Line } from './line.js';\n").and.include('type Ref }');
    edit('order.ts', (text) => text.replace('import { Line }', 'import all, { Line }'));
    expect(write([ORDER, LINE]).changed).to.deep.equal(['order.ts']);
    expect(read('order.ts').match(/\bLine\b.* from/g)).to.deep.equal(['Line } from']);
  });

  it('keep the line ends of Windows, a mark of UTF-8, and refuse other encodings', () => {
    edit('order.ts', (text) => `\ufeff${text.replaceAll('\n', '\r\n')}`);
    expect(write([ORDER, LINE]).changed).to.deep.equal([]);
    write([{ ...ORDER, relations: [] }, LINE]);
    expect(read('order.ts'))
      .to.match(/^\ufeff/)
      .and.not.match(/(?<!\r)\n/)
      .and.not.include('HasMany');
    writeFileSync(join(out, 'line.ts'), Buffer.from([0xe9, 0x0a]));
    expect(problemsOf([ORDER, LINE])).to.deep.equal(['/line.ts is no text in UTF-8.']);
  });

  it('are only compared by --check', () => {
    const before = snapshot();
    const narrow = { ...ORDER, attributes: ORDER.attributes.slice(0, 2) };
    const { differences, created, changed } = write([narrow, LINE, modelOf('Tag')], { check: true });
    expect([created, changed]).to.deep.equal([['tag.ts'], ['index.ts', 'order.ts']]);
    const withoutDigests = differences.map((line) => line.replace(/digest=\w+/, 'digest=…'));
    expect(withoutDigests).to.deep.equal([
      'order.ts is out of date:',
      '-   // <columns digest=…>',
      '+   // <columns digest=…>',
      '-   @Column(DataType.TEXT)',
      '-   declare note: string | null;',
      'tag.ts is missing.',
      'index.ts is out of date:',
      '- // <models digest=…>',
      '+ // <models digest=…>',
      "+ import { Tag } from './tag.js';",
      '+   Tag,',
      '+   Tag,',
    ]);
    expect(snapshot()).to.deep.equal(before);
    expect(write([ORDER, LINE], { check: true }).differences).to.deep.equal([]);
  });
});
