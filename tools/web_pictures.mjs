#!/usr/bin/env node
// Opens the demo page in headless Chromium, gives it a module and pictures, and takes screenshots; `./dev web pictures`
// calls it.
//
//   web_pictures.mjs --demo=FOLDER --node-modules=FOLDER --out=FOLDER --module=FILE.vmfb PICTURE...
//
// It fails if the page says an error, or if the results do not change with the picture. It prints how long the main thread
// was blocked at most.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { readFileSync, existsSync, mkdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { createRequire } from 'node:module';

const options = {};
const pictures = [];
for (const text of process.argv.slice(2)) {
  const [, name, value] = text.match(/^--([a-z-]+)=(.*)$/) ?? [];
  if (name === undefined) pictures.push(text);
  else options[name] = value;
}
const { chromium } = createRequire(join(options['node-modules'], 'x.js'))('playwright-core');
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };

const server = createServer((request, response) => {
  const name = request.url === '/' ? 'index.html' : decodeURIComponent(request.url.split('?')[0]).slice(1);
  const file = join(options.demo, name);
  if (name.includes('..') || !existsSync(file)) {
    response.statusCode = 404;
    return response.end();
  }
  response.setHeader('content-type', TYPES[extname(name)] ?? 'application/octet-stream');
  response.end(readFileSync(file));
}).listen(0);
await new Promise((resolve) => server.once('listening', resolve));
mkdirSync(options.out, { recursive: true });

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1000, height: 760 } });
  page.setDefaultTimeout(300000);
  page.on('pageerror', (error) => {
    throw error;
  });
  await page.addInitScript(() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
    }).observe({ type: 'longtask' });
  });
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  const input = page.locator('#files');
  if (options.scale) await page.selectOption('#scale', options.scale);
  await input.setInputFiles(options.module);
  await page.waitForFunction(() => /ready in|expected|stopped/.test(document.getElementById('status').textContent));
  const seen = [];
  for (const [i, picture] of pictures.entries()) {
    const rows = await page.locator('#times tr').count();
    await input.setInputFiles(picture);
    await page.waitForFunction((n) => document.querySelectorAll('#times tr').length > n, rows);
    seen.push(await page.locator('#results').innerText());
    await page.screenshot({ path: join(options.out, `picture_${i}.png`) });
  }
  for (const kernels of [true, false]) {
    if (!kernels) await page.uncheck('#kernels');
    await page.waitForFunction(() => !document.getElementById('again').disabled);
    const rows = await page.locator('#times tr').count();
    await page.click('#again');
    await page.waitForFunction((n) => document.querySelectorAll('#times tr').length > n, rows);
    await page.screenshot({ path: join(options.out, kernels ? 'kernels.png' : 'interpreted.png') });
    console.log((await page.locator('#times').innerText()).split('\n').pop());
  }
  // A file that is no module must make the page show an error of one line, in
  // red.
  assert.equal(await page.getAttribute('#status', 'class') ?? '', '', await page.innerText('#status'));
  await input.setInputFiles({ name: 'wrong.vmfb', mimeType: '', buffer: Buffer.alloc(100) });
  await page.waitForFunction(() => document.getElementById('status').className === 'error');
  await page.screenshot({ path: join(options.out, 'error.png') });
  console.log(await page.innerText('#status'));
  if (pictures.length > 1) assert.notEqual(seen[0], seen[1], 'the results do not depend on the picture');
  const longest = await page.evaluate(() => window.longest);
  console.log(`longest task of the main thread: ${longest.toFixed(0)} ms`);
} finally {
  await browser.close();
  server.close();
}
