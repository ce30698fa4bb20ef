// The demo page: a dropped module runs on a dropped picture, in a worker.
import * as ember from './ember/ember.js';

const element = (id) => document.getElementById(id);
const SCALES = {
  imagenet: { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225], unit: 255 },
  unit: { mean: [0, 0, 0], deviation: [1, 1, 1], unit: 255 },
  signed: { mean: [0.5, 0.5, 0.5], deviation: [0.5, 0.5, 0.5], unit: 255 },
  raw: { mean: [0, 0, 0], deviation: [1, 1, 1], unit: 1 },
};
let session = null, model = null, picture = null;

function say(text, isError = false) {
  element('status').textContent = text;
  element('status').className = isError ? 'error' : '';
}

// Returns where an input of a picture has its channels, rows and columns; null if it is no picture.
function pictureLayout({ dims, type }) {
  if (dims.length !== 4 || type !== 'f32') return null;
  const [, a, b, c] = dims.map((dim) => (typeof dim === 'number' ? dim : 224));
  if (a === 3 || a === 1) return { channels: a, height: b, width: c, isFirst: true };
  if (c === 3 || c === 1) return { channels: c, height: a, width: b, isFirst: false };
  return null;
}

// Draws the picture in the size of the input and returns the input.
function tensorOf(info, bitmap) {
  const layout = pictureLayout(info);
  if (layout === null) {
    throw new Error(`input ${info.name}: expected a picture (1x3xHxW or 1xHxWx3 of f32), found ${info.dims.join('x')} of ${info.type}`);
  }
  const { channels, height, width, isFirst } = layout;
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  const scale = Math.max(width / bitmap.width, height / bitmap.height);
  context.drawImage(bitmap, (width - bitmap.width * scale) / 2, (height - bitmap.height * scale) / 2,
    bitmap.width * scale, bitmap.height * scale);
  const pixels = context.getImageData(0, 0, width, height).data;
  const { mean, deviation, unit } = SCALES[element('scale').value];
  const data = new Float32Array(channels * height * width);
  for (let c = 0; c < channels; ++c) {
    for (let i = 0; i < height * width; ++i) {
      const value = channels === 1
        ? (pixels[4 * i] * 0.299 + pixels[4 * i + 1] * 0.587 + pixels[4 * i + 2] * 0.114) : pixels[4 * i + c];
      data[isFirst ? c * height * width + i : i * channels + c] = (value / unit - mean[c]) / deviation[c];
    }
  }
  return new ember.Tensor('f32', data, isFirst ? [1, channels, height, width] : [1, height, width, channels]);
}

function row(table, ...cells) {
  const line = element(table).insertRow();
  for (const cell of cells) {
    const added = line.insertCell();
    if (cell instanceof Element) added.append(cell);
    else added.textContent = cell;
    if (typeof cell === 'number' || /^[\d.]+( ms)?$/.test(cell)) added.className = 'number';
  }
}

function showResults(results) {
  element('results').replaceChildren();
  const labels = (session.metadata['labels'] ?? '').split('\n');
  for (const [name, { data, dims }] of Object.entries(results)) {
    row('results', `${name}: ${dims.join('x')}`);
    let scores = Array.from(data, Number);
    const sum = scores.reduce((a, b) => a + b, 0);
    const isDistribution = scores.every((x) => x >= 0) && Math.abs(sum - 1) < 1e-3;
    if (!isDistribution && dims.length === 2 && scores.length <= 100000) {
      const most = Math.max(...scores);
      const total = scores.reduce((a, x) => a + Math.exp(x - most), 0);
      scores = scores.map((x) => Math.exp(x - most) / total);
    }
    const best = scores.map((score, index) => [score, index]).sort(([a], [b]) => b - a).slice(0, 5);
    for (const [score, index] of best) {
      const bar = document.createElement('div');
      bar.className = 'bar';
      bar.style.width = `${Math.min(100, 100 * score)}%`;
      row('results', labels[index] || `class ${index}`, score.toFixed(4), bar);
    }
  }
}

async function runOnce(times) {
  const inputs = Object.fromEntries(session.inputs.map((info) => [info.name, tensorOf(info, picture)]));
  let results, least = Infinity, total = 0;
  for (let i = 0; i < times; ++i) {
    const begin = performance.now();
    results = await session.run(inputs);
    const taken = performance.now() - begin;
    least = Math.min(least, taken);
    total += taken;
  }
  showResults(results);
  row('times', new Date().toLocaleTimeString(), String(times), `${(total / times).toFixed(1)} ms`, `${least.toFixed(1)} ms`,
    (await session.describe()).kernels);
}

async function load() {
  session?.dispose();
  session = null;
  element('times').replaceChildren();
  row('times', 'at', 'runs', 'mean', 'shortest', 'kernels');
  const begin = performance.now();
  const bar = element('progress');
  bar.hidden = false;
  session = await ember.load(model, {
    worker: true,
    kernels: element('kernels').checked,
    onProgress: ({ stage, done, total }) => {
      say(`${stage} …`);
      if (total > 0) bar.value = done / total;
      else bar.removeAttribute('value');
    },
  });
  bar.hidden = true;
  const { kernels, heapBytes } = await session.describe();
  say(`${model.name ?? model}: ready in ${(performance.now() - begin).toFixed(0)} ms; ${kernels}; ${(heapBytes / 1e6).toFixed(1)} MB`);
}

// Runs `change`, which changes the page's model or picture, then the model.
// Shows the error if either fails.
async function work(change, times = 1) {
  try {
    await change();
    if (session !== null && picture !== null) await runOnce(times);
    element('again').disabled = session === null || picture === null;
  } catch (error) {
    element('progress').hidden = true;
    say(error.message, true);
  }
}

async function take(files) {
  await work(async () => {
    for (const file of files) {
      if (file.name.endsWith('.vmfb')) {
        model = file;
        await load();
      } else if (file.type.startsWith('image/')) {
        picture = await createImageBitmap(file);
        element('picture').src = URL.createObjectURL(file);
        element('picture').hidden = false;
      } else {
        throw new Error(`${file.name}: expected a .vmfb or a picture`);
      }
    }
  });
}

const drop = element('drop');
for (const name of ['dragenter', 'dragover']) {
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.add('over');
  });
}
drop.addEventListener('dragleave', () => drop.classList.remove('over'));
drop.addEventListener('drop', (event) => {
  event.preventDefault();
  drop.classList.remove('over');
  take([...event.dataTransfer.files]);
});
element('files').addEventListener('change', ({ target }) => take([...target.files]));
element('scale').addEventListener('change', () => work(async () => {}));
element('kernels').addEventListener('change', () => work(async () => model !== null && load()));
element('again').addEventListener('click', () => work(async () => {}, 20));
