// What-if latency in a real browser: node whatif.mjs PMM FOLDER-OF-PLAYWRIGHT FOLDER, where FOLDER holds the model adult.pmm.
// A slider is moved; the time is that from the hand's event until the laws of all other columns are on the page, and until the
// browser has painted them.

import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [program, modules, folder] = process.argv.slice(2).map((path) => resolve(path));
const { chromium } = createRequire(join(modules, 'x.js'))('playwright-core');
const MOVES = Number(process.env.MOVES ?? 200);

const server = spawn(program, ['serve', folder, '--no-open', '--port', '0'], { stdio: ['ignore', 'ignore', 'pipe'] });
const link = await new Promise((done, fail) => {
  let said = '';
  server.stderr.on('data', (chunk) => { said += chunk; const found = said.match(/page: (\S+)/)?.[1]; if (found) done(found); });
  server.on('exit', () => fail(new Error(`pmm serve ended: ${said}`)));
});
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'] });
const page = await browser.newPage({ viewport: { width: 1180, height: 1400 } });

/** Moves the slider of a column; milliseconds until the laws are there, and until they are painted. */
const move = (column) => page.evaluate(async ([name, moves]) => {
  const panel = document.querySelector('[role=tabpanel]');
  const slider = document.querySelector(`[data-column="${name}"] input[type=range]`);
  const [there, painted] = [[], []];
  for (let i = 0; i < moves + 10; i += 1) {
    const answered = new Promise((done) => { panel.addEventListener('laws', done, { once: true }); });
    slider.value = (Number(slider.value) + 1) % (Number(slider.max) + 1);
    const begun = performance.now();
    slider.dispatchEvent(new Event('input'));
    await answered;
    const found = performance.now() - begun;
    await new Promise((done) => { requestAnimationFrame(() => { setTimeout(done); }); });
    // The first ten warm up.
    if (i >= 10) { there.push(found); painted.push(performance.now() - begun); }
  }
  return [there, painted];
}, [column, MOVES]);

/** Milliseconds of processor time of a process and of those that it started; a tick is 10 ms. */
function used(pid) {
  const stat = (id) => { try { const text = readFileSync(`/proc/${id}/stat`, 'utf8'); return text.slice(text.lastIndexOf(')') + 2).split(' '); } catch { return null; } };
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((id) => [Number(id), stat(id)]).filter(([, fields]) => fields);
  const of = (id) => all.filter(([one]) => one === id).reduce((sum, [, fields]) => sum + 10 * (Number(fields[11]) + Number(fields[12])), 0)
    + all.filter(([, fields]) => Number(fields[1]) === id).reduce((sum, [child]) => sum + of(child), 0);
  return of(pid);
}

const card = (column) => page.locator(`[data-column="${column}"]`);
const press = (button) => button.evaluate((element) => element.click());
const mode = (column, name) => press(card(column).getByRole('button', { name, exact: true }));
const settled = () => page.locator('[role=tabpanel][aria-busy=false]').waitFor();
const cases = [
  ['one value', async () => { await mode('age', 'is'); }],
  ['five values', async () => { for (const column of ['sex', 'education', 'occupation', 'race']) await mode(column, 'is'); }],
  ['a value and a range', async () => { await press(page.getByRole('button', { name: 'Free all' })); await mode('hours_per_week', 'from–to'); await mode('age', 'is'); }],
  ['a value, two ranges and a list', async () => { await mode('fnlwgt', 'from–to'); await mode('workclass', 'any of'); }],
];
const quantile = (values, share) => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))].toFixed(1);
try {
  await page.goto(link);
  await page.evaluate(() => { location.hash = '#/model/adult'; });
  await card('sex').locator('.stats', { hasText: '%' }).waitFor();
  const columns = await page.locator('[data-column]').count();
  console.log(`| given, of ${columns} columns | on the page, p50 | p99, ms | painted, p50 | p99, ms | processor time of the server | of the browser, ms |\n|---|---|---|---|---|---|---|`);
  for (const [name, given] of cases) {
    await given();
    await settled();
    const [ours, both] = [used(server.pid), used(process.pid)];
    const [there, painted] = await move('age');
    const [own, all] = [used(server.pid) - ours, used(process.pid) - both].map((spent) => spent / (MOVES + 10));
    console.log(`| ${name} | ${quantile(there, 0.5)} | ${quantile(there, 0.99)} | ${quantile(painted, 0.5)} | ${quantile(painted, 0.99)} | ${own.toFixed(1)} | ${(all - own).toFixed(1)} |`);
  }
} finally {
  await browser.close();
  server.kill();
}
