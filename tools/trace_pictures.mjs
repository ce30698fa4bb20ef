// Opens traces of vm-run in speedscope in headless Chromium and takes pictures. ./dev trace-pictures calls it.
//
//   node trace_pictures.mjs FOLDER TRACE.json...
//
// It fails if speedscope does not import a trace, or if a thread of the trace with slices has no profile there. The
// pictures are FOLDER/NAME.THREAD.png, one for each thread. They are to be looked at.
import {readFileSync} from "node:fs";
import {createServer} from "node:http";
import {createRequire} from "node:module";
import {basename, extname, join, resolve} from "node:path";

const modules = resolve(process.env.VIEWER_FOLDER, "node_modules");
const puppeteer = createRequire(join(modules, "x.js"))("puppeteer-core");
const viewer = join(modules, "speedscope/dist/release");
const kTypes = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm"};

// Serves the viewer, and the trace as /trace.json.
function serve(trace) {
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    try {
      const file = path === "/trace.json" ? trace : join(viewer, basename(path) || "index.html");
      response.setHeader("Content-Type", kTypes[extname(file)] ?? "application/octet-stream");
      response.end(readFileSync(file));
    } catch {
      response.statusCode = 404;
      response.end();
    }
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

// Returns the names of the threads of a trace that have slices.
function threadsOf(trace) {
  const names = new Map(), used = new Set();
  for (const event of JSON.parse(readFileSync(trace, "utf8")).traceEvents) {
    const key = `${event.pid}:${event.tid}`;
    if (event.ph === "M" && event.name === "thread_name") names.set(key, event.args.name);
    if (event.ph === "X") used.add(key);
  }
  return [...used].map((key) => names.get(key) ?? key);
}

// Takes a picture for each thread. Returns the problems.
async function picture(browser, folder, trace) {
  const threads = threadsOf(trace);
  const server = await serve(trace);
  const page = await browser.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(`${basename(trace)}: ${error}`));
  await page.setViewport({width: 1500, height: 700});
  const address = `http://127.0.0.1:${server.address().port}`;
  const name = basename(trace, ".json");
  for (const [index, thread] of threads.entries()) {
    await page.goto("about:blank");
    await page.goto(`${address}/index.html#profileURL=${encodeURIComponent(`${address}/trace.json`)}`);
    await page.waitForFunction(() => document.title.includes("trace"), {timeout: 60_000}).catch(() => {});
    await new Promise((done) => setTimeout(done, 1500));
    // The key n shows the next profile.
    for (let i = 0; i < index; ++i) await page.keyboard.press("n");
    await new Promise((done) => setTimeout(done, 500));
    const text = await page.evaluate(() => document.body.innerText);
    if (!text.includes(`(${index + 1}/${threads.length})`) && threads.length > 1)
      problems.push(`${basename(trace)}: thread ${thread}: no profile ${index + 1} of ${threads.length}: ${text.slice(0, 200)}`);
    await page.screenshot({path: `${folder}/${name}.${index}.png`});
    console.log(`${folder}/${name}.${index}.png: ${thread}`);
  }
  await page.close();
  server.close();
  return problems;
}

const [folder, ...traces] = process.argv.slice(2);
const browser = await puppeteer.launch({executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"]});
const problems = [];
try {
  for (const trace of traces) problems.push(...await picture(browser, folder, trace));
} finally {
  await browser.close();
}
for (const problem of problems) console.log(`WRONG: ${problem}`);
console.log(problems.length === 0 ? "all threads are shown; look at the pictures" : `${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
