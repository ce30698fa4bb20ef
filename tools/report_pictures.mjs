// Opens pages of vm-report in headless Chromium, checks them and takes pictures. ./dev report-pictures calls it.
//
//   node report_pictures.mjs FOLDER PAGE.html...
//
// It fails if a page takes something from elsewhere, logs an error, opens a dialog, is larger than 5 MB, shows boxes
// that overlap or texts that are cut off, or if search, selection, keys or the comparison do not work. The pictures
// are FOLDER/NAME.light.png, NAME.dark.png and NAME.whole.png (the graph as a whole). They are to be looked at.
import {statSync} from "node:fs";
import {createRequire} from "node:module";
import {basename, resolve} from "node:path";

// puppeteer-core is loaded from the folder in which it was installed, where
// node does not look by itself.
const puppeteer = createRequire(resolve(process.env.PUPPETEER_FOLDER, "package.json"))("puppeteer-core");
const kMostBytes = 5e6;

let problems = 0;
function expect(isRight, what) {
  if (isRight) return;
  ++problems;
  console.log(`  WRONG: ${what}`);
}

// Returns facts about what the page shows. This function runs inside of the
// page.
function facts() {
  const boxes = [...document.querySelectorAll("g.node")].map((node) => {
    const [x, y] = node.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
    return {x, y};
  });
  let overlaps = 0;
  const sorted = boxes.sort((a, b) => a.y - b.y);
  for (let i = 0; i < sorted.length; ++i) {
    for (let j = i + 1; j < sorted.length && sorted[j].y - sorted[i].y < 42; ++j) {
      if (Math.abs(sorted[j].x - sorted[i].x) < 196) ++overlaps;
    }
  }
  const texts = [...document.querySelectorAll("g.node text")].filter((text) => text.getBBox().width > 190).length;
  const empty = [...document.querySelectorAll("main > section")].filter((s) => !s.hidden && s.offsetHeight < 60).map((s) => s.id);
  const outside = [...document.querySelectorAll(".plot text")].filter((text) => {
    const box = text.getBoundingClientRect(), plot = text.closest("svg").getBoundingClientRect();
    return text.textContent && !text.closest("[clip-path]") && (box.left < plot.left - 1 || box.right > plot.right + 1 || box.bottom > plot.bottom + 1);
  }).map((text) => text.textContent);
  return {boxes: boxes.length, overlaps, texts, empty, outside, wide: document.documentElement.scrollWidth > innerWidth,
    foreign: document.querySelectorAll("img, iframe, object, embed, script[src], link").length,
    rows: document.querySelectorAll("#dispatch-table tbody tr").length};
}

async function openPage(browser, file, theme) {
  const page = await browser.newPage();
  await page.setViewport({width: 1400, height: 900});
  await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: theme}]);
  page.on("console", (message) => expect(message.type() !== "error", `the console says ${message.text()}`));
  page.on("pageerror", (error) => expect(false, `an error: ${error.stack ?? error}`));
  page.on("dialog", (dialog) => { expect(false, "a dialog opens"); dialog.dismiss(); });
  page.on("request", (request) => expect(/^(file|blob|data):/.test(request.url()), `it asks for ${request.url()}`));
  const begin = Date.now();
  await page.goto(`file://${resolve(file)}`, {timeout: 180_000});
  await page.waitForFunction(() => document.documentElement.dataset.layout === "done", {timeout: 180_000});
  return {page, ms: Date.now() - begin};
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function checkUse(page) {
  await page.keyboard.press("/");
  expect(await page.evaluate(() => document.activeElement.id) === "search", "/ does not lead to the search");
  const name = await page.$eval("#dispatch-table tbody tr td.wide", (cell) => cell.textContent);
  await page.keyboard.type(name.slice(0, 12));
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("#details h3"), {timeout: 20_000});
  expect(/^\d+ of \d+$/.test(await page.$eval("#matches", (place) => place.textContent)), "the search counts no matches");
  expect(await page.$$eval("#dispatch-table tr.selected, g.node.selected", (all) => all.length) >= 1, "nothing is selected");
  await page.evaluate(() => document.getElementById("graph-svg").focus());
  const before = await page.$eval("#details h3", (head) => head.textContent);
  await page.keyboard.press("ArrowDown");
  await pause(400);
  const after = await page.$eval("#details h3", (head) => head.textContent);
  expect(after !== before, `the arrow keys do not move the selection from ${before}`);
  await page.click("#dispatch-table tbody tr");
  await page.waitForFunction(() => document.querySelector("#details pre")?.textContent.length > 0, {timeout: 20_000});
  const buttons = await page.$$eval("#details .texts button", (all) => all.map((button) => button.textContent));
  console.log(`  texts of the longest dispatch: ${buttons.join(", ")}`);
}

async function checkFile(browser, folder, file) {
  const name = basename(file, ".html"), {size} = statSync(file);
  const {page, ms} = await openPage(browser, file, "light");
  const shown = await page.evaluate(facts);
  console.log(`${name}: ${(size / 1e6).toFixed(2)} MB, ${shown.boxes} boxes, ${shown.rows} dispatches, laid out after ${ms} ms`);
  expect(size <= kMostBytes || shown.rows > 2000, `it has ${size} bytes`);
  expect(shown.boxes > 0, "the graph has no boxes");
  expect(shown.overlaps === 0, `${shown.overlaps} pairs of boxes overlap`);
  expect(shown.texts === 0, `${shown.texts} texts are wider than their boxes`);
  expect(shown.empty.length === 0, `empty sections: ${shown.empty}`);
  expect(shown.outside.length === 0, `texts outside of their plots: ${shown.outside.slice(0, 5)}`);
  expect(!shown.wide, "the page is wider than the window");
  expect(shown.foreign === 0, `${shown.foreign} elements take something from elsewhere`);
  await checkUse(page);
  await page.evaluate(() => scrollTo(0, 0));
  await pause(500);
  await page.screenshot({path: `${folder}/${name}.light.png`, fullPage: true});
  await page.click("#zoom-fit");
  await pause(800);
  await (await page.$("#graph")).screenshot({path: `${folder}/${name}.whole.png`});
  await page.close();
  const dark = await openPage(browser, file, "dark");
  await dark.page.screenshot({path: `${folder}/${name}.dark.png`, fullPage: true});
  await dark.page.close();
}

const [folder, ...files] = process.argv.slice(2);
const browser = await puppeteer.launch({executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"]});
try {
  for (const file of files) await checkFile(browser, folder, file);
} finally {
  await browser.close();
}
console.log(problems === 0 ? "all pages are right; look at the pictures" : `${problems} problems`);
process.exitCode = problems === 0 ? 0 : 1;
