// Measures a model in ONNX Runtime, for vm-bench --peer=onnxruntime:
//   node --input-type=module -e "$(cat peer_ort.mjs)" -- JSON
// The JSON has the fields model (the file), inputs (a list of name, type, dims,
// and the file, offset and size in bytes of the elements), threads, warmup,
// runs, seconds and folders (where the package onnxruntime-node may be). Prints one JSON line: version, load_ms,
// first_ms (loading and the first run), runs_ms, rss_mb; or error.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const print = (object) => fs.writeSync(1, JSON.stringify(object) + '\n');
const now = () => Number(process.hrtime.bigint()) / 1e6;

// For each element type: ONNX Runtime's name of it, and the JavaScript array
// class for its elements.
const TYPES = {
  f32: ['float32', Float32Array], f64: ['float64', Float64Array], f16: ['float16', Uint16Array],
  i8: ['int8', Int8Array], i16: ['int16', Int16Array], i32: ['int32', Int32Array], i64: ['int64', BigInt64Array],
  u8: ['uint8', Uint8Array], u16: ['uint16', Uint16Array], u32: ['uint32', Uint32Array],
  u64: ['uint64', BigUint64Array], bool: ['bool', Uint8Array],
};

function load(folders) {
  for (const folder of folders) {
    const require = createRequire(path.join(folder, 'x.js'));
    let found;
    try {
      found = require.resolve('onnxruntime-node');
    } catch {
      continue;
    }
    return [require(found), require('onnxruntime-node/package.json').version];
  }
  return null;
}

async function measure(options, ort, version) {
  const feeds = {};
  for (const { name, type, dims, file, offset, size } of options.inputs) {
    if (!(type in TYPES)) throw new Error(`input ${name}: expected a type that ONNX Runtime takes here, found ${type}`);
    const [known, array] = TYPES[type];
    const bytes = new Uint8Array(size);
    const opened = fs.openSync(file, 'r');
    fs.readSync(opened, bytes, 0, size, offset);
    fs.closeSync(opened);
    const elements = new array(bytes.buffer);
    feeds[name] = new ort.Tensor(known, elements, dims);
  }
  const start = now();
  const session = await ort.InferenceSession.create(options.model, {
    intraOpNumThreads: options.threads, interOpNumThreads: 1, executionMode: 'sequential',
    graphOptimizationLevel: 'all', logSeverityLevel: 3,
  });
  const loaded = now();
  await session.run(feeds);
  const first = now();
  for (let i = 0; i < options.warmup; ++i) await session.run(feeds);
  const times = [];
  const end = now() + 1000 * options.seconds;
  // At least three runs are measured, even if they take longer than `seconds`,
  // as vm-bench does it.
  while (times.length < Math.max(3, options.runs) && (times.length < 3 || now() < end)) {
    const begin = now();
    await session.run(feeds);
    times.push(now() - begin);
  }
  print({
    version, load_ms: loaded - start, first_ms: first - start, runs_ms: times,
    rss_mb: process.memoryUsage().rss / 1e6,
  });
}

const options = JSON.parse(process.argv[process.argv.length - 1]);
const found = load(options.folders);
if (found === null) {
  print({ error: 'not installed' });
} else {
  try {
    await measure(options, ...found);
  } catch (error) {
    print({ error: String(error.message ?? error).split('\n')[0] });
  }
}
