/** One person in one window of a real Chromium. Every console error and failed request is kept. */
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';

export class Person {
  readonly name: string;
  readonly page: Page;
  readonly context: BrowserContext;
  /** Console errors, uncaught ones, and requests to anywhere but the server. */
  readonly problems: string[] = [];
  #expectsLoss = false;

  private constructor(name: string, context: BrowserContext, page: Page, url: string) {
    this.name = name;
    this.context = context;
    this.page = page;
    page.setDefaultTimeout(30_000);
    page.on('pageerror', (error) => this.problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && this.#heard(message.text()));
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== new URL(url).origin) this.problems.push(`a request to ${request.url()}`);
    });
  }

  static async enter(browser: Browser, url: string, name: string, options: BrowserContextOptions = {}): Promise<Person> {
    const context = await browser.newContext({ viewport: { width: 1100, height: 720 }, locale: 'en-GB', ...options });
    return Person.enterIn(context, url, name);
  }

  /** In a context that others of the same browser profile share. */
  static async enterIn(context: BrowserContext, url: string, name: string): Promise<Person> {
    const page = await context.newPage();
    const person = new Person(name, context, page, url);
    await page.goto(url);
    await page.getByRole('textbox').fill(name);
    await page.keyboard.press('Enter');
    await page.getByTestId('me').waitFor();
    return person;
  }

  /** A browser reports a connection that failed as an error; where a test cuts one, that is no problem of the page. */
  expectLoss(): void {
    this.#expectsLoss = true;
  }

  #heard(text: string): void {
    if (this.#expectsLoss && /WebSocket connection to .* failed|net::ERR_(INTERNET_DISCONNECTED|CONNECTION_REFUSED)/.test(text)) return;
    this.problems.push(text);
  }

  /** A direct conversation by the other one's name. */
  async writeTo(name: string, text: string): Promise<void> {
    await this.page.getByRole('button', { name: 'New chat' }).first().click();
    await this.page.getByLabel('Name of the person').fill(name);
    await this.page.getByRole('button', { name: 'Write', exact: true }).click();
    await this.say(text);
    await this.message(text).waitFor();
  }

  async makeGroup(title: string, members: string): Promise<void> {
    await this.page.getByRole('button', { name: 'New chat' }).first().click();
    await this.page.getByLabel('Group title').fill(title);
    await this.page.getByLabel('Members, separated by commas').fill(members);
    await this.page.getByRole('button', { name: 'Make the group' }).click();
    await this.page.getByRole('heading', { name: title }).waitFor();
  }

  get box(): Locator {
    return this.page.getByLabel('Message', { exact: true });
  }

  async say(text: string): Promise<void> {
    await this.box.fill(text);
    await this.box.press('Enter');
  }

  /** The entry of the list with this title. */
  row(title: string): Locator {
    return this.page.getByTestId('conversation').filter({ has: this.page.getByText(title, { exact: true }) });
  }

  /** The messages with this text in them. */
  message(text: string): Locator {
    return this.page.getByTestId('message').filter({ hasText: text });
  }

  async open(title: string): Promise<void> {
    await this.row(title).click();
  }

  /** From the menu of a message. */
  async choose(text: string, item: string): Promise<void> {
    await this.message(text).last().hover();
    await this.message(text).last().getByRole('button', { name: 'More', exact: true }).click();
    await this.page.getByRole('menuitem', { name: item }).click();
  }

  /** From the menu of the open conversation. */
  async chooseOfConversation(item: string): Promise<void> {
    await this.page
      .getByRole('main')
      .getByRole('button', { name: /^Actions for/ })
      .click();
    await this.page.getByRole('menuitem', { name: item }).click();
  }

  /** Out of every conversation, as the back button does. */
  async closeConversation(): Promise<void> {
    await this.page.evaluate(() => {
      location.hash = '#/';
    });
  }

  /** As when another tab is in front, or this one is again. */
  async setVisible(state: 'visible' | 'hidden'): Promise<void> {
    await this.page.evaluate((value) => {
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => value });
      document.dispatchEvent(new Event('visibilitychange'));
    }, state);
  }

  /** What scrolls the messages. */
  get scroller(): Locator {
    return this.page.locator('[data-virtuoso-scroller]');
  }
}
