#!/usr/bin/env node
// Measures the runtime for browsers beside onnxruntime-web in one Chromium; `./dev web bench` calls it.
//
//   web_bench.mjs --package=FOLDER --node-modules=FOLDER --models=FOLDER [--only=NAME] [--rounds=N]
//
// FOLDER of models: NAME.onnx, NAME.vmfb (with kernels for WebAssembly) and NAME.in/ of gen_models.py. Both engines have one
// thread. Each has a page of its own, in a process of its own, and is measured in alternation with the other. For each
// model it prints the bytes that the server sent, the time from the begin of the page's script to the first result, the
// median and the shortest time of a run, and the memory (RSS) of the page's process.
import { createServer } from 'node:http';
import { readFileSync, existsSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { extname, join } from 'node:path';
import { createRequire } from 'node:module';

const options = Object.fromEntries(process.argv.slice(2).map((text) => text.match(/^--([a-z-]+)=(.*)$/)?.slice(1) ?? []));
const require = createRequire(join(options['node-modules'], 'x.js'));
const { chromium } = require('playwright-core');
const rounds = Number(options.rounds ?? 5);

const ROOTS = { pkg: options.package, ort: join(options['node-modules'], 'onnxruntime-web/dist'), models: options.models };
const TYPES = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };
const PAGE = `<!doctype html><meta charset=utf-8><title>bench</title><script type=module>
window.inputs = async (name) => {
  const lines = (await (await fetch('/models/' + name + '.in/manifest.txt')).text()).trim().split('\\n');
  return Promise.all(lines.map(async (line) => {
    const [index, input, type, , ...dims] = line.split(' ');
    const bytes = await (await fetch('/models/' + name + '.in/' + index + '.bin')).arrayBuffer();
    return { name: input, type, dims: dims.map(Number), data: type === 'i64' ? new BigInt64Array(bytes) : new Float32Array(bytes) };
  }));
};
window.begin = {
  async ember(name, kernels) {
    const inputs = await window.inputs(name);
    const start = performance.now();
    const ember = await import('/pkg/ember.js');
    const session = await ember.load('/models/' + name + (kernels ? '.vmfb' : '.plain.vmfb'), { kernels });
    const fed = Object.fromEntries(inputs.map(({ name, type, data, dims }) => [name, new ember.Tensor(type, data, dims)]));
    window.once = async () => Object.values(await session.run(fed))[0].data;
    const first = await window.once();
    return { ms: performance.now() - start, head: [...first.slice(0, 4)], kernels: session.describe().kernels, heap: session.describe().heapBytes };
  },
  async ort(name) {
    const inputs = await window.inputs(name);
    const start = performance.now();
    const ort = await import('/ort/ort.wasm.min.mjs');
    ort.env.wasm.numThreads = 1;
    ort.env.wasm.wasmPaths = '/ort/';
    const session = await ort.InferenceSession.create('/models/' + name + '.onnx', { executionProviders: ['wasm'] });
    const fed = Object.fromEntries(inputs.map(({ name, type, data, dims }) => [name, new ort.Tensor(type === 'i64' ? 'int64' : 'float32', data, dims)]));
    window.once = async () => Object.values(await session.run(fed))[0].data;
    const first = await window.once();
    return { ms: performance.now() - start, head: [...first.slice(0, 4)] };
  },
};
window.measure = async (times) => {
  const all = [];
  for (let i = 0; i < times; ++i) {
    const start = performance.now();
    await window.once();
    all.push(performance.now() - start);
  }
  return all;
};
window.ready = true;
</script>`;

// Serves the files of one engine and counts the bytes sent. Each engine has an
// origin (port) of its own, so that Chromium runs it in a process of its own.
function serve() {
  const sent = { bytes: 0, compressed: 0 };
  const server = createServer((request, response) => {
    // These headers isolate the page, which gives it a clock with a resolution
    // of 5 us instead of 100 us.
    response.setHeader('cross-origin-opener-policy', 'same-origin');
    response.setHeader('cross-origin-embedder-policy', 'require-corp');
    const [, root, ...rest] = decodeURIComponent(request.url.split('?')[0]).split('/');
    if (root === '') {
      response.setHeader('content-type', 'text/html');
      return response.end(PAGE);
    }
    const file = join(ROOTS[root] ?? '/nowhere', rest.join('/'));
    if (rest.includes('..') || !existsSync(file)) {
      response.statusCode = 404;
      return response.end();
    }
    const contents = readFileSync(file);
    if (!rest.join('/').includes('.in/')) {
      sent.bytes += contents.length;
      sent.compressed += gzipSync(contents, { level: 6 }).length;
    }
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
    response.setHeader('content-length', contents.length);
    response.end(contents);
  }).listen(0);
  return new Promise((resolve) => server.once('listening', () => resolve({ server, sent, port: server.address().port })));
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const mega = (bytes) => (bytes / 1e6).toFixed(2);

// Returns the memory of each page's process, by process id, in bytes.
async function residentBytes(cdp) {
  const { processInfo } = await cdp.send('SystemInfo.getProcessInfo');
  const found = new Map();
  for (const { id, type } of processInfo) {
    if (type !== 'renderer' || !existsSync(`/proc/${id}/status`)) continue;
    found.set(id, Number(readFileSync(`/proc/${id}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)?.[1] ?? 0) * 1024);
  }
  return found;
}

// Closes a page. Returns the memory that its process had just before.
async function closePage({ context, server }, cdp) {
  const before = await residentBytes(cdp);
  await context.close();
  server.close();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const after = await residentBytes(cdp);
  return Math.max(0, ...[...before].filter(([id]) => !after.has(id)).map(([, bytes]) => bytes));
}

async function openPage(browser) {
  const { server, sent, port } = await serve();
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(600000);
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.waitForFunction('window.ready');
  return { page, context, server, sent };
}

async function measureModel(browser, cdp, name) {
  const engines = [['ember', (page) => page.evaluate((n) => window.begin.ember(n, true), name)],
    ['tier 0', (page) => page.evaluate((n) => window.begin.ember(n, false), name)],
    ['ort', (page) => page.evaluate((n) => window.begin.ort(n), name)]];
  const open = [];
  // The time to the first result is measured in each of the first three rounds, because the
  // machine's load changes.
  const firsts = engines.map(() => []);
  for (let round = 0; round < Math.min(3, rounds); ++round) {
    for (const [i, [, start]] of engines.entries()) {
      const opened = await openPage(browser);
      const first = await start(opened.page);
      firsts[i].push(first.ms);
      if (round === Math.min(3, rounds) - 1) open[i] = { ...opened, first, times: [] };
      else await closePage(opened, cdp);
    }
  }
  for (let round = 0; round < rounds; ++round) {
    for (const engine of open) {
      const probe = await engine.page.evaluate(() => window.measure(1));
      const times = Math.max(1, Math.min(50, Math.round(300 / probe[0])));
      engine.times.push(...await engine.page.evaluate((n) => window.measure(n), times));
    }
  }
  for (const [i, engine] of open.entries()) {
    const memory = await closePage(engine, cdp);
    console.log(`| ${name} | ${engines[i][0]} | ${mega(engine.sent.bytes)} | ${mega(engine.sent.compressed)} | ${median(firsts[i]).toFixed(0)} | ` +
      `${median(engine.times).toFixed(2)} | ${Math.min(...engine.times).toFixed(2)} | ${mega(memory)} | ${engine.first.kernels ?? ''} ${engine.first.head.map((x) => Number(x).toPrecision(5))} |`);
  }
}

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--site-per-process'],
});
try {
  const cdp = await browser.newBrowserCDPSession();
  console.log('| model | engine | MB | MB gzip | first ms | median ms | least ms | RSS MB | notes |');
  console.log('| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |');
  const names = (options.only ?? 'squeezenet,mobilenetv2,resnet18,bert_small,dtln_1').split(',');
  for (const name of names.filter((name) => existsSync(join(options.models, `${name}.onnx`)))) await measureModel(browser, cdp, name);
} finally {
  await browser.close();
}
