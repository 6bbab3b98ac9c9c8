/** A real Chromium, and people in windows of their own in it. Every console error and failed request is kept. */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    // CI runs as root, where the sandbox cannot be.
    chromiumSandbox: false,
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** One person in one window. */
export class Person {
  readonly name: string;
  readonly page: Page;
  readonly context: BrowserContext;
  /** Console errors, uncaught ones, and requests to anywhere but the server. */
  readonly problems: string[] = [];

  private constructor(name: string, context: BrowserContext, page: Page) {
    this.name = name;
    this.context = context;
    this.page = page;
  }

  static async enter(browser: Browser, url: string, name: string, options: BrowserContextOptions = {}): Promise<Person> {
    const context = await browser.newContext({ viewport: { width: 1100, height: 720 }, locale: 'en-GB', ...options });
    const page = await context.newPage();
    const person = new Person(name, context, page);
    page.on('pageerror', (error) => person.problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && person.problems.push(message.text()));
    page.on(
      'request',
      (request) => new URL(request.url()).origin === new URL(url).origin || person.problems.push(`a request to ${request.url()}`),
    );
    page.setDefaultTimeout(15_000);
    await page.goto(url);
    await page.getByLabel('Your name').fill(name);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByTestId('me').waitFor();
    return person;
  }

  /** A direct conversation by the other one's name. */
  async writeTo(name: string, text: string): Promise<void> {
    await this.page.getByRole('button', { name: 'New chat' }).click();
    await this.page.getByLabel('Write to one person').last().fill(name);
    await this.page.getByRole('button', { name: 'Write', exact: true }).click();
    await this.say(text);
    await this.message(text).waitFor();
  }

  async say(text: string): Promise<void> {
    await this.page.getByLabel('Message', { exact: true }).fill(text);
    await this.page.keyboard.press('Enter');
  }

  /** The entry of the list with this title. */
  row(title: string): Locator {
    return this.page.getByTestId('conversation').filter({ has: this.page.getByText(title, { exact: true }) });
  }

  message(text: string): Locator {
    return this.page.getByTestId('message').filter({ hasText: text });
  }

  async open(title: string): Promise<void> {
    await this.row(title).click();
  }

  /** Out of every conversation, as the back button does. */
  async closeConversation(): Promise<void> {
    await this.page.evaluate(() => {
      location.hash = '#/';
    });
  }
}
