/** The landing page in a real browser: it fits every screen, breaks no rule of its policy, and leads to the documentation. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { Crud } from '../../src/index.js';
import { NumberedRow } from '../models/rows.js';
import { startChromium } from '../support/chromium.js';
import { forSuite } from '../support/for-suite.js';
import { serveTestApp } from '../support/test-app.js';

@Crud({ tags: ['Rings & moons'] })
@Table({ tableName: 'rings', timestamps: false })
class Ring extends Model {
  @Column(DataType.STRING(20)) declare name: string;
}

@Crud({ prefix: '/particles-between-the-inner-and-the-outer-rings', endpoints: ['list', 'read'] })
@Table({ tableName: 'particles', timestamps: false })
class Particle extends Model {
  @Column(DataType.STRING(20)) declare name: string;
}

function moon(index: number) {
  @Crud({ prefix: `/moons/${index}`, endpoints: ['list'] })
  @Table({ modelName: `Moon${index}`, tableName: `moon${index}`, timestamps: false })
  class Moon extends NumberedRow {}
  return Moon;
}

describe('the landing page in a browser', function () {
  this.timeout(180_000);
  const app = serveTestApp(() => ({ models: [Ring, Particle], bootstrap: { landing: true } }));
  const browser = forSuite(() => startChromium());
  let page: Page;
  const complaints: string[] = [];

  before(async () => {
    page = await browser.newPage();
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
  });

  beforeEach(() => page.goto(app.server.url));

  it('shows each resource with its operations, in its own style', async () => {
    expect(await page.locator('h2').allTextContents()).to.deep.equal(['Rings & moons', 'Particle']);
    const methods = ['GET', 'POST', 'GET', 'PATCH', 'DELETE', 'GET', 'GET'];
    expect(await page.locator('li > b').allTextContents()).to.deep.equal(methods);
    expect(await page.evaluate("getComputedStyle(document.querySelector('li')).display")).to.equal('grid');
    expect(complaints).to.deep.equal([]);
  });

  it('is not wider than a narrow screen', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width).to.equal(320);
  });

  it('leads from an operation to its place in the documentation', async () => {
    await page.getByRole('link', { name: 'List rings', exact: true }).click();
    const operation = page.locator('[id$="-listRings"]');
    await operation.locator('.opblock-body').waitFor();
    expect(page.url()).to.equal(`${app.server.url}/docs#/Rings%20%26%20moons/listRings`);
  });
});

describe('the landing page of many models', function () {
  this.timeout(180_000);
  const app = serveTestApp(() => ({
    models: Array.from({ length: 120 }, (_, index) => moon(index)),
    bootstrap: { landing: true },
  }));
  const browser = forSuite(() => startChromium());

  it('folds each, and finds some by a part of a name or a path', async () => {
    const page = await browser.newPage({ viewport: { width: 375, height: 640 } });
    await page.goto(app.server.url);
    expect(await page.locator('summary').count()).to.equal(120);
    expect(await page.locator('li:visible').count()).to.equal(0);
    await page.getByRole('group').filter({ hasText: 'Moon77' }).locator('summary').click();
    await page.getByRole('link', { name: '/moons/77', exact: true }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(375);
    await page.getByRole('searchbox').fill(' MOONS/11 ');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('11 resources with 11 operations').waitFor();
    expect(await page.locator('h2').allTextContents()).to.include.members(['Moon11', 'Moon110', 'Moon119']);
    expect(await page.getByRole('searchbox').inputValue()).to.equal(' MOONS/11 ');
    expect(await page.locator('li:visible').count()).to.equal(11);
    await page.close();
  });
});
