/** The back office in a real browser, for a suite. */
import type { Response } from 'playwright-core';
import { startChromium } from './chromium.js';
import { forSuite } from './for-suite.js';

/** Opens a page for the tests of a suite, and notes the complaints of its console. @param app which serves the back office */
export function forAdminPage(app: { readonly server: { readonly url: string } }) {
  const browser = forSuite(() => startChromium());
  const complaints: string[] = [];
  const page = forSuite(async () => {
    const opened = await browser.newPage();
    // react-admin keeps how a list was left.
    await opened.addInitScript("if (location.protocol === 'http:') localStorage.clear()");
    opened.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    opened.on('pageerror', (error) => complaints.push(error.message));
    return opened;
  });
  return {
    page,
    complaints,
    /** Opens a path of the back office anew. */
    async open(path: string, office = '/admin/'): Promise<void> {
      await page.goto('about:blank'); // A change behind # alone would not load the page again.
      await page.goto(`${app.server.url}${office}#${path}`);
    },
    /** The next answer to a request. */
    answerOf: (method: string, path: string): Promise<Response> =>
      page.waitForResponse(
        (response) => response.request().method() === method && new URL(response.url()).pathname === path,
      ),
  };
}
