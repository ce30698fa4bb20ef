#!/usr/bin/env node
// Runs batches of models on ONNX Runtime for tests/random_models/ort_process.h,
// which describes the files. A line "REQUEST RESULT LEVEL" on stdin asks for a
// batch. Each model's result is written before the next one runs, so that after
// a crash the results show which model it was. "done" on descriptor 3 ends a
// batch: ONNX Runtime prints on stdout.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { createRequire } from 'node:module';
const require = createRequire(path.join(process.env.ORT_DIR || process.cwd(), 'x.js'));
const ort = require('onnxruntime-node');
ort.env.logLevel = 'error';

// Maps ONNX's number of an element type to [the type's name in ONNX Runtime,
// the class of its arrays].
const TYPES = { 1: ['float32', Float32Array], 2: ['uint8', Uint8Array], 3: ['int8', Int8Array], 4: ['uint16', Uint16Array],
  5: ['int16', Int16Array], 6: ['int32', Int32Array], 7: ['int64', BigInt64Array], 8: ['string', null], 9: ['bool', Uint8Array],
  10: ['float16', Uint16Array], 11: ['float64', Float64Array], 12: ['uint32', Uint32Array], 13: ['uint64', BigUint64Array] };
const NUMBERS = Object.fromEntries(Object.entries(TYPES).map(([number, [name]]) => [name, Number(number)]));

class Reader {
  constructor(buffer) { this.buffer = buffer; this.at = 0; }
  u64() { const value = Number(this.buffer.readBigInt64LE(this.at)); this.at += 8; return value; }
  bytes() { const size = this.u64(); const value = this.buffer.subarray(this.at, this.at + size); this.at += size; return value; }
  text() { return this.bytes().toString('utf8'); }
  tensor() {
    const [name, Array] = TYPES[this.u64()];
    const dims = [];
    for (let rank = this.u64(); rank > 0; --rank) dims.push(this.u64());
    if (name === 'string') {
      const strings = [];
      for (let count = this.u64(); count > 0; --count) strings.push(this.text());
      return new ort.Tensor('string', strings, dims);
    }
    const raw = this.bytes();
    return new ort.Tensor(name, new Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length)), dims);
  }
}

function u64(value) { const buffer = Buffer.alloc(8); buffer.writeBigInt64LE(BigInt(value)); return buffer; }
function bytes(buffer) { return [u64(buffer.length), buffer]; }
function tensor(value) {
  const parts = [u64(NUMBERS[value.type]), u64(value.dims.length), ...value.dims.map(u64)];
  if (value.type === 'string') return [...parts, u64(value.data.length), ...value.data.flatMap((text) => bytes(Buffer.from(text, 'utf8')))];
  const data = value.data;
  return [...parts, ...bytes(Buffer.from(data.buffer, data.byteOffset, data.byteLength))];
}

async function runModel(reader, level) {
  const model = reader.bytes(), feeds = {};
  for (let count = reader.u64(); count > 0; --count) { const name = reader.text(); feeds[name] = reader.tensor(); }
  let session;
  try {
    session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential',
      graphOptimizationLevel: level, logSeverityLevel: 4 });
    const names = new Set(session.inputNames);
    const results = await session.run(Object.fromEntries(Object.entries(feeds).filter(([name]) => names.has(name))));
    const parts = [u64(0), u64(session.outputNames.length)];
    for (const name of session.outputNames) parts.push(...bytes(Buffer.from(name, 'utf8')), ...tensor(results[name]));
    return Buffer.concat(parts);
  } catch (error) {
    return Buffer.concat([u64(session === undefined ? 1 : 2), ...bytes(Buffer.from(String(error.message ?? error), 'utf8'))]);
  } finally {
    if (session !== undefined) await session.release();
  }
}

fs.writeSync(3, 'ready\n');
for await (const line of readline.createInterface({ input: process.stdin })) {
  const [request, result, level] = line.split(' ');
  const reader = new Reader(fs.readFileSync(request)), file = fs.openSync(result, 'w');
  for (let count = reader.u64(); count > 0; --count) fs.writeSync(file, await runModel(reader, level));
  fs.closeSync(file);
  fs.writeSync(3, 'done\n');
}
