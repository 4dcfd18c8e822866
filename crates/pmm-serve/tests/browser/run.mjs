// The page in a real browser: node run.mjs PMM FOLDER-OF-PLAYWRIGHT PENGUINS.csv PICTURES
// A table, a text and digits from the drop to the download; a hostile file; a stop; a server that is killed.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdtempSync, mkdirSync, readFileSync, writeFileSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { digits, digitPictures, digitZip } from './digits.mjs';

const [program, modules, penguins, pictures] = process.argv.slice(2).map((path) => resolve(path));
const { chromium } = createRequire(join(modules, 'x.js'))('playwright-core');
const WAIT = 600_000;
const folder = mkdtempSync(join(tmpdir(), 'pmm-browser-'));
const files = mkdtempSync(join(tmpdir(), 'pmm-files-'));
mkdirSync(pictures, { recursive: true });

/** Starts the server; its link, and how to end it. */
function serve(port = 0) {
  return new Promise((done, fail) => {
    const child = spawn(program, ['serve', folder, '--no-open', '--port', String(port)], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
      const link = said.match(/page: (\S+)/)?.[1];
      if (link) done({ child, link, port: Number(new URL(link).port) });
    });
    child.on('exit', () => fail(new Error(`pmm serve ended: ${said}`)));
  });
}

const ended = (child) => new Promise((done) => { child.on('exit', done); });

let server = await serve();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
const context = await browser.newContext({ viewport: { width: 1180, height: 860 }, acceptDownloads: true });
// With PAGE=crates/pmm-serve/page the files are taken as they are there, without building the program anew.
if (process.env.PAGE) await context.route(/\/page\/[\w.]+$/, (route) => route.fulfill({ path: join(process.env.PAGE, new URL(route.request().url()).pathname.split('/').pop()) }));
const page = await context.newPage();
page.setDefaultTimeout(WAIT);
const faults = []; const strangers = []; let forgiven = false;
page.on('pageerror', (error) => faults.push(String(error)));
page.on('console', (message) => { if (message.type() === 'error' && !forgiven && !/status of (4|503)/.test(message.text())) faults.push(message.text()); });
page.on('request', (request) => { const { hostname, protocol } = new URL(request.url()); if (protocol.startsWith('http') && hostname !== '127.0.0.1') strangers.push(request.url()); });
page.on('dialog', (dialog) => { faults.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });

const told = (words) => console.log(`ok  ${words}`);
const shot = (name, options = {}) => page.screenshot({ path: join(pictures, `${name}.png`), ...options });
const tab = (name) => page.getByRole('tab', { name }).click();
const go = (hash) => page.evaluate((to) => { location.hash = to; }, hash);
const drop = async (name, bytes) => {
  await go('#/');
  await page.getByRole('heading', { name: 'Models of your data' }).waitFor();
  const path = join(files, name);
  writeFileSync(path, bytes);
  await page.locator('#file').setInputFiles(path);
};
const fit = async (minutes) => {
  await page.getByLabel('Minutes', { exact: true }).fill(minutes);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
};
/** Steps through a sample in the making, by a key; what the slider says then. */
const stepTo = async (key) => {
  const slider = page.locator('[role=tabpanel] input[type=range]');
  await slider.press(key);
  return slider.getAttribute('aria-valuetext');
};
const state = (name) => page.locator('.tag', { hasText: new RegExp(`^${name}$`) }).waitFor();

try {
  // A stranger sees that a token is needed.
  const stranger = await browser.newPage();
  await stranger.goto(new URL(server.link).origin);
  await stranger.getByText('A token is needed').waitFor();
  await stranger.close();

  await page.goto(server.link);
  await page.getByText('Drop a file here').waitFor();
  assert.ok(!page.url().includes('token'), 'the token does not stay in the address');
  told('a link opens the page');

  // Keyboard: the first stop is the way past the header.
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');

  await drop('penguins.csv', readFileSync(penguins));
  await page.getByRole('rowheader', { name: 'species' }).waitFor();
  await shot('inspect');
  await page.getByLabel('pair of body_mass_g').selectOption({ index: 1 });
  await page.waitForTimeout(300);
  assert.equal(await page.locator('#problem').isHidden(), true);
  told('a table is looked at, and a pair changed by a click');

  await fit('0.15');
  await page.locator('path.s1').waitFor({ state: 'attached' });
  await page.getByText('New rows beside the data').waitFor();
  await page.getByText('The two columns that depend on each other most').waitFor();
  const fields = await Promise.all(['f-data', 'f0'].map((colour) => page.locator(`.pair rect.${colour}`).count()));
  assert.ok(fields.every((count) => count > 5), `data and model are seen: ${fields}`);
  await shot('watch', { fullPage: true });
  await state('finished');
  told('a fit is watched to its end');

  await page.getByRole('link', { name: 'Ask it' }).click();
  const card = (column) => page.locator(`[data-column="${column}"]`);
  await card('species').locator('.stats', { hasText: '%' }).waitFor();
  await card('species').getByRole('button', { name: 'is' }).click();
  await card('species').getByLabel('species is', { exact: true }).selectOption('Gentoo');
  await card('flipper_length_mm').getByRole('button', { name: 'from–to' }).click();
  await card('flipper_length_mm').getByLabel('flipper_length_mm from', { exact: true }).fill('205');
  await card('flipper_length_mm').getByLabel('flipper_length_mm to', { exact: true }).fill('225');
  await card('flipper_length_mm').getByLabel('flipper_length_mm to', { exact: true }).press('Tab');
  await page.locator('[role=tabpanel][aria-busy=false]').waitFor();
  await page.getByRole('button', { name: 'Draw rows' }).click();
  await page.locator('tbody tr').first().waitFor();
  const rows = await page.locator('tbody tr').allInnerTexts();
  const head = (await page.locator('thead th').allInnerTexts()).map((text) => text.trim());
  assert.equal(rows.length, 20);
  for (const row of rows) {
    const cells = row.split('\t');
    assert.equal(cells[head.indexOf('species')], 'Gentoo');
    const flipper = Number(cells[head.indexOf('flipper_length_mm')]);
    assert.ok(flipper >= 205 && flipper <= 225, row);
  }
  await shot('ask', { fullPage: true });
  told('rows keep to two conditions');

  await page.getByRole('button', { name: 'Free all' }).click();
  await card('species').locator('svg').click({ position: { x: 10, y: 30 } });
  assert.equal(await card('species').getByLabel('species is', { exact: true }).inputValue(), 'Adelie');
  const bars = await card('bill_length_mm').locator('svg').boundingBox();
  await page.mouse.move(bars.x + 0.3 * bars.width, bars.y + 20);
  await page.mouse.down();
  await page.mouse.move(bars.x + 0.6 * bars.width, bars.y + 20, { steps: 5 });
  await page.mouse.up();
  const [low, high] = await Promise.all(['from', 'to'].map((end) => card('bill_length_mm').getByLabel(`bill_length_mm ${end}`, { exact: true }).inputValue()));
  assert.ok(33 < Number(low) && Number(low) < Number(high) && Number(high) < 58, `${low} ${high}`);
  told('a bar that is pressed fixes a value, bars that are dragged over a range');
  await page.getByRole('button', { name: 'Free all' }).click();
  await card('body_mass_g').getByRole('button', { name: 'is' }).click();
  const slider = card('body_mass_g').getByRole('slider');
  const times = await page.evaluate(async () => {
    const panel = document.querySelector('[role=tabpanel]');
    const slider = document.querySelector('[data-column="body_mass_g"] input[type=range]');
    const found = [];
    for (let i = 0; i < 60; i += 1) {
      const answered = new Promise((done) => { panel.addEventListener('laws', (event) => done(event.detail.at(-1)), { once: true }); });
      slider.value = i % (Number(slider.max) + 1);
      slider.dispatchEvent(new Event('input'));
      found.push(await answered);
    }
    return found.sort((a, b) => a - b);
  });
  assert.equal(await slider.count(), 1);
  console.log(`    what-if on 7 columns in the browser: p50 ${times[30].toFixed(1)} ms, p99 ${times[59].toFixed(1)} ms`);
  await page.getByRole('button', { name: 'Free all' }).click();

  // By the keyboard alone: a column is fixed, its slider moved, another part opened.
  await card('body_mass_g').getByRole('button', { name: 'is', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  const byHand = card('body_mass_g').getByLabel('body_mass_g is', { exact: true });
  assert.equal(await byHand.evaluate((input) => input === document.activeElement), true);
  const mass = await byHand.inputValue();
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await byHand.inputValue(), mass);
  await page.getByRole('tab', { name: 'Ask' }).focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Your rows');
  await page.keyboard.press('ArrowLeft');
  await page.getByRole('button', { name: 'Free all' }).click();
  told('a column is fixed and moved by the keyboard alone');

  await tab('Your rows');
  await page.getByRole('button', { name: 'An example' }).click();
  await page.waitForFunction(() => document.querySelector('textarea').value.length > 50);
  await page.getByRole('button', { name: 'Fill the gaps' }).click();
  await page.locator('td.new').first().waitFor();
  assert.ok((await page.locator('td.new').allInnerTexts()).every((text) => text !== ''));
  await page.locator('textarea').fill('species,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex\nGentoo,Biscoe,47,15,215,5100,male\nGentoo,Biscoe,47,15,215,51,male\n');
  await page.getByRole('button', { name: 'What looks wrong' }).click();
  await page.locator('td.hot').first().waitFor();
  assert.equal(await page.locator('td.hot').first().innerText(), '51');
  await shot('score');
  await page.getByRole('button', { name: 'Predict', exact: true }).click();
  await page.getByText('What species is in each row').waitFor();
  told('gaps are filled, and the wrong cell is found');

  await tab('See inside');
  await page.locator('path.thin').first().waitFor({ state: 'attached' });
  await shot('inside');
  await tab('Ask');
  await card('species').getByRole('button', { name: 'is' }).click();
  await card('species').getByLabel('species is', { exact: true }).selectOption('Adelie');
  await tab('Take away');
  await page.getByLabel('Rows', { exact: true }).fill('500');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download rows' }).click();
  const csv = readFileSync(await (await download).path(), 'utf8').trim().split('\n');
  assert.equal(csv.length, 501);
  assert.ok(csv.slice(1).every((line) => line.startsWith('Adelie')));
  assert.ok((await page.locator('pre').first().innerText()).includes('--given species=Adelie'));
  await shot('take-away');
  const archive = page.waitForEvent('download');
  await page.getByRole('link', { name: 'The model' }).click();
  const model = await (await archive).path();
  await drop('copy.pmm.tar.gz', readFileSync(model));
  await page.getByRole('tab', { name: 'Ask' }).waitFor();
  told('rows and the model are taken away, and the model comes back');

  // A text.
  const words = 'the cat sat on the mat and the dog ran to the sea and the sun was low in the sky by the old red barn ';
  await drop('story.txt', words.repeat(60));
  await page.getByText('characters').waitFor();
  await fit('0.15');
  await page.locator('[data-part=unmasked]').waitFor();
  await state('finished');
  await page.getByRole('link', { name: 'Ask it' }).click();
  await page.getByRole('button', { name: 'Write', exact: true }).click();
  await page.waitForFunction(() => document.querySelector('[data-part=written]').textContent.length > 20);
  await page.locator('textarea').fill('the cat sat on the mat and the dog ran');
  await page.evaluate(() => { document.querySelector('textarea').setSelectionRange(19, 22); });
  await page.getByRole('button', { name: 'Rewrite the marked words' }).click();
  await page.locator('[data-part=completions] pre').nth(2).waitFor();
  for (const text of await page.locator('[data-part=completions] pre').allInnerTexts()) assert.match(text, /^the cat sat on the.*and the dog ran$/s);
  await shot('text', { fullPage: true });
  await tab('See inside');
  const unmasked = page.locator('[data-part=unmasked]');
  await unmasked.waitFor();
  assert.ok(!(await unmasked.innerText()).includes('·'));
  await stepTo('Home');
  assert.ok((await unmasked.innerText()).includes('·'));
  await tab('Take away');
  const text = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download a text' }).click();
  assert.ok(readFileSync(await (await text).path(), 'utf8').length > 50);
  told('a text is learned, written, rewritten, seen to come out of its masks, and taken away');

  // Digits.
  await drop('digits.npz', digits(800));
  await page.getByText('800 images').waitFor();
  await fit('0.3');
  await state('finished');
  await page.getByRole('link', { name: 'Ask it' }).click();
  await page.locator('label', { hasText: 'Class' }).locator('select').selectOption('7');
  await page.getByRole('button', { name: 'Draw', exact: true }).click();
  await page.locator('[data-part=drawn] canvas').nth(15).waitFor();
  await page.locator('[data-part=drawn] button').first().click();
  const canvas = page.locator('canvas.brush');
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + 30, box.y + box.height * 0.7);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 30, box.y + box.height * 0.8, { steps: 12 });
  await page.mouse.up();
  await page.getByRole('button', { name: 'Fill in', exact: true }).click();
  await page.locator('[data-part=filled] canvas').nth(5).waitFor();
  await shot('images', { fullPage: true });
  await tab('See inside');
  await page.locator('.strip canvas').nth(15).waitFor();
  const means = () => page.locator('.strip').first().locator('canvas').evaluateAll((all) => all.map((one) => [...one.getContext('2d').getImageData(0, 0, one.width, one.height).data].join()));
  const ends = await means();
  await shot('inside-images');
  await stepTo('Home');
  const begun = await means();
  assert.ok(begun.every((one, i) => one !== ends[i]), 'the way begins elsewhere');
  const middle = await stepTo('ArrowRight');
  assert.match(middle, /^information: [\d.e-]+$/);
  await stepTo('End');
  assert.deepEqual(await means(), ends);
  await tab('Take away');
  const images = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download images' }).click();
  assert.equal(readFileSync(await (await images).path()).subarray(1, 4).toString(), 'PNG');
  told('digits are learned, drawn, filled in, stepped through from the prior on, and taken away');

  // The same as pictures: a zip, and a folder of them; folders in it are classes.
  await drop('shapes.zip', digitZip(24));
  await page.getByText('24 images of').waitFor();
  await page.getByText('classes: 4: 0, 1, 4, 7').waitFor();
  const folderOfPictures = join(files, 'pictures');
  for (const [name, bytes] of digitPictures(16)) {
    mkdirSync(join(folderOfPictures, name, '..'), { recursive: true });
    writeFileSync(join(folderOfPictures, name), bytes);
  }
  await go('#/');
  await page.getByRole('heading', { name: 'Models of your data' }).waitFor();
  await page.locator('#pictures').setInputFiles(folderOfPictures);
  await page.getByText('16 images of').waitFor();
  assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'pictures.zip');
  await page.getByText('classes: 4: 0, 1, 4, 7').waitFor();
  told('a zip and a folder of pictures are images');

  // A hostile file: its name is shown, not run.
  await drop('<img src=x onerror=alert(1)>.csv', Buffer.from([0, 255, 1, 2, 3, 0, 10, 44, 44]));
  await page.locator('#problem').waitFor();
  assert.equal(await page.locator('main img').count(), 0);
  told('a hostile file is refused in words');

  // The same file again is the same; another of its name gets a number.
  await drop('penguins.csv', readFileSync(penguins));
  await page.getByRole('rowheader', { name: 'species' }).waitFor();
  assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'penguins.csv');
  await drop('penguins.csv', `${readFileSync(penguins)}Adelie,Dream,39.1,18.7,181,3750,MALE\n`);
  await page.getByText('345 rows').waitFor();
  assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'penguins-2.csv');
  told('nothing is replaced');

  // Stopped, gone on with, and killed with its server.
  await drop('long.csv', readFileSync(penguins));
  await page.getByRole('button', { name: 'Start', exact: true }).waitFor();
  await fit('3');
  await page.locator('path.s0').waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await state('stopped');
  await page.getByRole('button', { name: 'Go on', exact: true }).click();
  await state('running');
  told('a fit is stopped, and goes on');
  await page.waitForTimeout(1500);
  forgiven = true;
  const gone = ended(server.child);
  server.child.kill('SIGKILL');
  await gone;
  server = await serve(server.port);
  await page.goto(server.link);
  await page.getByRole('button', { name: 'Go on', exact: true }).waitFor();
  await shot('killed');
  await page.getByRole('button', { name: 'Go on', exact: true }).click();
  await state('running');
  forgiven = false;
  const step = async () => Number((await page.getByText(/^step \d+/).innerText()).match(/\d+/)[0]);
  assert.ok((await step()) > 0);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await state('stopped');
  told('a fit goes on after its server was killed');

  await go('#/method');
  await page.locator('path.thin').nth(100).waitFor({ state: 'attached' });
  await shot('method', { fullPage: true });
  const nameless = await page.evaluate(() => [...document.querySelectorAll('input, select, textarea, button, a')].filter((one) => !(one.labels?.length || one.getAttribute('aria-label') || one.textContent.trim())).length);
  assert.equal(nameless, 0, 'every control has a name');

  // Dark, and on a phone.
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 844 });
  await go('#/model/penguins');
  await card('species').locator('.stats', { hasText: '%' }).waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out on a phone');
  await shot('phone');
  await go('#/model/digits');
  await tab('See inside');
  await page.locator('.strip canvas').nth(15).waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nor do images in the making');
  await shot('phone-images');
  await go('#/');
  await page.getByText('Drop a file here').waitFor();
  await shot('phone-home');

  assert.deepEqual(strangers, [], 'nobody else is asked');
  assert.deepEqual(faults, [], 'no faults on the page');
  told('no faults, and nobody else is asked');
  server.child.kill('SIGINT');
  await ended(server.child);
} catch (error) {
  await shot('failed').catch(() => {});
  console.error(faults);
  console.error(error);
  process.exitCode = 1;
} finally {
  await browser.close();
  server.child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
  rmSync(files, { recursive: true, force: true });
}
