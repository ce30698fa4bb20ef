#!/usr/bin/env node
// Runs one process of ONNX Runtime from its start to its first result and
// further runs, for tools/start_times.py:
//   node ort_start.mjs MODEL.onnx FOLDER RUNS
// FOLDER/manifest.txt names the inputs, "idx name dtype ndim d0 d1 ...", whose
// elements are FOLDER/idx.bin. One thread. Prints {"import_ms", "load_ms",
// "run_ms", "first_ms"} at the first result: loading ONNX Runtime's library
// into node, making the session, the first run, and both of these; then
// {"median_ms"} of RUNS more runs. ORT_DIR is the folder of onnxruntime-node.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const now = () => Number(process.hrtime.bigint()) / 1e6;
const begin = now();
const require = createRequire(path.join(process.env.ORT_DIR || process.cwd(), 'x.js'));
const ort = require('onnxruntime-node');
const imported = now();

const [model, folder, runs] = process.argv.slice(2);
const ARRAYS = { f32: ['float32', Float32Array], i64: ['int64', BigInt64Array] };
const feeds = {};
for (const line of fs.readFileSync(path.join(folder, 'manifest.txt'), 'utf8').trim().split('\n')) {
  const [index, name, type, , ...dims] = line.split(' ');
  const [known, array] = ARRAYS[type];
  const bytes = fs.readFileSync(path.join(folder, `${index}.bin`));
  feeds[name] = new ort.Tensor(known, new array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)),
    dims.map(Number));
}
const start = now();
const session = await ort.InferenceSession.create(model, {
  intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all',
  logSeverityLevel: 3,
});
const loaded = now();
await session.run(feeds);
const first = now();
// The line is shorter than a pipe's buffer, so writing it does not block, and
// the time of the reader is not measured.
fs.writeSync(1, JSON.stringify({
  import_ms: imported - begin, load_ms: loaded - start, run_ms: first - loaded, first_ms: first - start,
}) + '\n');
const times = [];
for (let i = 0; i < Number(runs); ++i) {
  const from = now();
  await session.run(feeds);
  times.push(now() - from);
}
times.sort((a, b) => a - b);
fs.writeSync(1, JSON.stringify({ median_ms: times[Math.floor(times.length / 2)] }) + '\n');
