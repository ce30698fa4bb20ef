#!/usr/bin/env node
// Runs a TensorFlow Lite model with TensorFlow Lite's build for browsers, for
// tools/tflite_twins.py. usage: tflite_wasm.mjs MODEL.tflite COUNT. stdin has
// the inputs of COUNT calls as raw elements, one after the other in the model's
// order; stdout gets the results of each call in the same way. TFLITE_DIR is the
// folder where `npm install @tensorflow/tfjs-tflite` was run.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const [model, count] = process.argv.slice(2);
const root = process.env.TFLITE_DIR || process.cwd();
const folder = path.join(root, 'node_modules/@tensorflow/tfjs-tflite/wasm');
const require = createRequire(path.join(root, 'x.js'));
// The WebAssembly module would load its files from a web page's folder. There
// is none here, so it is given their contents.
const name = path.join(folder, 'tflite_web_api_cc_simd');
const tflite = await require(name + '.js')({
  wasmBinary: fs.readFileSync(name + '.wasm'),
  print: (line) => console.error(line),
});

const bytes = fs.readFileSync(model);
const place = tflite._malloc(bytes.length);
tflite.HEAPU8.set(bytes, place);
const made = tflite.TFLiteWebModelRunner.CreateFromBufferAndOptions(
    place, bytes.length,
    { numThreads: 1, enableProfiling: false, maxProfilingBufferEntries: 1 });
if (!made.ok()) throw new Error(made.errorMessage());
const runner = made.value();

function* each(tensors) {
  for (let i = 0; i < tensors.size(); ++i) yield tensors.get(i);
}

const given = fs.readFileSync(0);
let at = 0;
for (let call = 0; call < Number(count); ++call) {
  for (const input of each(runner.GetInputs())) {
    const data = input.data();
    const end = at + data.byteLength;
    if (end > given.length) throw new Error('expected more bytes on stdin');
    new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
        .set(given.subarray(at, end));
    at = end;
  }
  if (!runner.Infer()) throw new Error(`call ${call} failed`);
  for (const output of each(runner.GetOutputs())) {
    const data = output.data();
    fs.writeSync(1, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }
}
