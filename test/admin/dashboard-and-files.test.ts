/** The dashboard, the download and the upload of the back office in a real browser. `npm run admin -- --test` builds it first. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Response } from 'express';
import type { Request } from 'playwright-core';
import { serveAdmin } from '../../sample/atlas/admin.js';
import { City, CityController, Country, Review, ReviewController } from '../../sample/atlas/resources.js';
import { FRANCE } from '../models/atlas-rows.js';
import { forAdminPage } from '../support/admin-page.js';
import { deferred } from '../support/deferred.js';
import { createTemporaryFolder } from '../support/temporary-folder.js';
import { serveTestApp } from '../support/test-app.js';

const CHAD = { ...FRANCE, code: 'TCD', alpha2: 'TD', name: 'Chad', region: 'Africa', area: '1284000.00' };
const CITIES = [
  { id: 1, name: 'Ville, "la grande"', countryCode: 'FRA', population: 2_000_000_001 },
  { id: 2, name: '=1+1', countryCode: 'FRA', population: 2_000_000_000 },
  { id: 3, name: 'Faya\nLargeau', countryCode: 'TCD', population: 3_000 },
].map((city) => ({ ...city, latitude: 48, longitude: 2, featureCode: 'PPL' }));
const HEADER = 'id,name,countryCode,population,latitude,longitude,featureCode';

function csv(rows: readonly string[]): Buffer {
  return Buffer.from(`${[HEADER, ...rows].join('\n')}\n`);
}

function newCities(from: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${from + index},Ville ${index},FRA,${index},48,2,PPL`);
}

describe('the dashboard and the files of the back office', function () {
  this.timeout(120_000);
  /** Takes the next answer of an export or of an import that is no dry run; undefined lets it be. */
  let meddle: ((response: Response) => void) | undefined;
  const app = serveTestApp(() => ({
    models: [Country, City, Review],
    bootstrap: {
      controllers: [CityController, ReviewController],
      idempotency: { principal: () => 'everybody' },
    },
    prepare(server) {
      serveAdmin(server);
      server.use('/cities', (request, response, next) => {
        const isFile = request.query['format'] !== undefined || request.path === '/import';
        if (isFile && request.query['dry_run'] === undefined) {
          meddle?.(response);
          meddle = undefined;
        }
        next();
      });
    },
  }));
  const { page, complaints, open } = forAdminPage(app);

  before(async () => {
    await Country.bulkCreate([FRANCE, CHAD]);
    await City.bulkCreate(CITIES);
  });

  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const message = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const rows = () => page.getByRole('row').allInnerTexts();

  async function choose(label: string, option: string): Promise<void> {
    await page.getByLabel(label, { exact: true }).click();
    await page.getByRole('option', { name: option, exact: true }).click();
  }

  async function upload(name: string, buffer: Buffer): Promise<void> {
    await page.getByLabel('File').setInputFiles({ name, mimeType: 'text/csv', buffer });
    await button('Check the file').click();
  }

  function nextImport(): Promise<Request> {
    return page.waitForRequest((request) => /\/import\?(?!.*dry_run)/.test(request.url()));
  }

  it('draws the groups that its filters find, with their numbers in a table', async () => {
    await open('/');
    await message('Cities: 3. People: 4,000,003,001.');
    expect(await rows()).to.deep.equal(['Country\t\tPeople', 'France\t\n\t4,000,000,001', 'Chad\t\n\t3,000']);
    const lengths = await page
      .locator('tbody rect')
      .evaluateAll((bars) => bars.map((bar) => bar.getAttribute('width')));
    expect(lengths).to.deep.equal(['100%', '0.00007499999998125%']);
    await choose('Show', 'People of one');
    await page.getByRole('cell', { name: '2,000,000,000.5' }).waitFor();
    await choose('Region', 'Africa');
    await message('Cities: 1. People: 3,000.');
    await page.getByLabel('People at least').fill('4000');
    await message('No city is like this.');
    expect(await page.getByRole('table').count()).to.equal(0);
    await page.getByLabel('People at least').fill('1.5');
    await page.getByRole('alert').getByText("'1.5' is not an integer (field 'population').").waitFor();
    await page.getByLabel('People at least').fill('');
    await page.getByRole('link', { name: 'Chad' }).focus();
    const [list] = await Promise.all([
      page.waitForRequest((request) => /\/cities\?.*q=/.test(request.url())),
      page.keyboard.press('Enter'),
    ]);
    expect(new URL(list.url()).searchParams.get('q')).to.equal('country.region=="Africa";countryCode=="TCD"');
  });

  it('downloads the records of the list, in its order and with its filters', async () => {
    await open(`/cities?filter=${encodeURIComponent('{"countryCode":"FRA"}')}&sort=name&order=ASC`);
    const files: string[] = [];
    for (const form of ['CSV to upload again', 'CSV to open in a spreadsheet']) {
      await button('Download').click();
      const file = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: form }).click();
      expect((await file).suggestedFilename()).to.match(/^cities-\d{4}-\d\d-\d\d\.csv$/);
      files.push(readFileSync(await (await file).path(), 'utf8'));
      await message('Downloaded 2 rows');
    }
    const lines = [
      'id,name,countryCode,population,latitude,longitude,featureCode,adminCode,municipalityCode',
      '2,=1+1,FRA,2000000000,48,2,PPL,,',
      '1,"Ville, ""la grande""",FRA,2000000001,48,2,PPL,,',
      '',
    ];
    expect(files).to.deep.equal([lines.join('\r\n'), `\uFEFF${lines.join('\r\n').replace('=1+1', "'=1+1")}`]);
  });

  it('saves nothing of a download that was cut, or cancelled', async () => {
    const downloads: string[] = [];
    const note = () => downloads.push('one');
    page.on('download', note);
    await open('/cities');
    const start = async () => {
      await button('Download').click();
      await page.getByRole('menuitem', { name: 'CSV to upload again' }).click();
    };
    // All rows are there, and the end is not.
    meddle = (response) => {
      const end = () => response.write('\r\n', () => response.destroy());
      Object.assign(response, { end });
    };
    await start();
    await page.getByRole('alert').getByText('Nothing was saved. The connection was cut.').waitFor();
    const isGone = deferred<void>();
    meddle = (response) => {
      Object.assign(response, { end: () => response });
      response.on('close', () => isGone.resolve());
    };
    await start();
    await message('3 of 3 rows');
    expect(await page.getByRole('progressbar', { name: 'Download' }).getAttribute('aria-valuenow')).to.equal(
      '100',
    );
    await button('Cancel').click();
    await message('The download was cancelled. Nothing was saved.');
    await isGone.promise;
    page.off('download', note);
    expect(downloads).to.deep.equal([]);
  });

  it('shows the errors of a file by row before anything is stored', async () => {
    await open('/cities/upload');
    await upload('header.csv', Buffer.from('id,nam\n1,2\n'));
    await page.getByRole('cell', { name: 'The header has no column name, which is required.' }).waitFor();
    expect(await button(/^Store/).count()).to.equal(0);
    const wrong = Array.from({ length: 120 }, (_, index) => `${1_000 + index},Ville,FRA,many,48,2,PPL`);
    await upload('wrong.csv', csv(['500,"Ville\nneuve",FRA,1,48,2,PPL', ...wrong]));
    await message('Refused: 120 of 121 rows. Nothing is stored yet.');
    expect((await rows()).slice(0, 2)).to.deep.equal([
      'Row\tLine\tColumn\tMessage',
      '2\t4\tpopulation\tpopulation must be an integer.',
    ]);
    await message('The first 100 of 120 rows that are refused.');
    expect(await button(/^Store/).count()).to.equal(0);
    await page.getByLabel('Leave out rows that are refused, and store the others').check();
    await button('Check the file').click();
    await button('Store 1 row').click();
    await message('Stored. New: 1. Changed: 0. Refused: 120.');
    expect(await City.count({ where: { id: 500 } })).to.equal(1);
    expect(await City.count()).to.equal(4);
  });

  it('shows how many rows are done, and goes on with the same file under its key', async () => {
    await using folder = await createTemporaryFolder('upload');
    const path = join(folder.path, 'many.csv');
    writeFileSync(path, csv(newCities(10_000, 1_500)));
    await open('/cities/upload');
    await page.getByLabel('File').setInputFiles(path);
    await button('Check the file').click();
    const store = button('Store 1,500 rows');
    await store.waitFor();
    expect(await City.count({ where: { name: 'Ville 7' } })).to.equal(0);
    const isStored = deferred<void>();
    meddle = (response) => {
      const write = response.write.bind(response);
      // The first line arrives, and no other.
      Object.assign(response, {
        write: (line: string) => (line.includes('"rows":1000,') ? write(line) : true),
        end() {
          isStored.resolve();
          return response;
        },
      });
    };
    const [first] = await Promise.all([nextImport(), store.click()]);
    await message('1,000 of 1,500 rows');
    const bar = page.getByRole('progressbar', { name: 'Storing' });
    expect(await bar.getAttribute('aria-valuenow')).to.equal('67');
    await isStored.promise;
    await button('Cancel').click();
    await message('Cancelled. Some rows may be stored.');
    // Somebody comes back later, to another page.
    meddle = (response) => Object.assign(response, { write: () => response.destroy() });
    const [second] = await Promise.all([nextImport(), button('Go on').click()]);
    await message(/^The connection was (cut|lost)\. Some rows may be stored\./);
    await page.reload();
    await page.getByLabel('File').setInputFiles(path);
    await message(
      'This file was sent before, and the page was left before its end. Some rows may be stored.',
    );
    const [third] = await Promise.all([nextImport(), button('Go on').click()]);
    await message('Stored. New: 1,500. Changed: 0.');
    const keys = [first, second, third].map((request) => request.headers()['idempotency-key']);
    expect(new Set(keys).size).to.equal(1);
    expect(keys[0]).to.match(/^[0-9a-f]{32}$/);
    expect(await City.count({ where: { name: 'Ville 7' } })).to.equal(1);
    // A result ends the life of the key.
    await choose('Rows are', 'Changes, by id');
    await button('Check the file').click();
    const [fourth] = await Promise.all([nextImport(), store.click()]);
    await message('Stored. New: 0. Changed: 1,500.');
    expect(fourth.headers()['idempotency-key']).to.not.equal(keys[0]);
    writeFileSync(path, csv([]));
    await button('Check the file').click();
    await message('The file has changed since it was chosen. Choose it again. Nothing was stored.');
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByLabel('File').click()]);
    await chooser.setFiles(path);
    await button('Check the file').click();
    await message('The file has no rows.');
  });

  it('complains of nothing but the answers that were to be refused', () => {
    const expected = /status of 4(00|22)|ERR_(INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE|CONNECTION_RESET)/;
    expect(complaints.filter((complaint) => !expected.test(complaint))).to.deep.equal([]);
  });
});
