#!/usr/bin/env node
// Times ONNX Runtime on recorded inputs, for tools/golden_ort.py. Reads lines
// {"model": FILE, "set": FOLDER, "seconds": S} and answers each with one line,
// {"ms": median} or {"error": text}. ORT_DIR is the folder of onnxruntime-node.
// A model is loaded once; the last one stays loaded between lines.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { createRequire } from 'node:module';

const require = createRequire(path.join(process.env.ORT_DIR || process.cwd(), 'x.js'));
const ort = require('onnxruntime-node');

// For each number of TensorProto.DataType: the type's name, its JavaScript
// array type, and the number of the field that holds the elements if raw_data
// does not (float_data 4, int32_data 5, string_data 6 …).
const TYPES = {
  1: ['float32', Float32Array], 2: ['uint8', Uint8Array], 3: ['int8', Int8Array],
  4: ['uint16', Uint16Array], 5: ['int16', Int16Array], 6: ['int32', Int32Array],
  7: ['int64', BigInt64Array], 8: ['string', null], 9: ['bool', Uint8Array],
  10: ['float16', Uint16Array], 11: ['float64', Float64Array],
  12: ['uint32', Uint32Array], 13: ['uint64', BigUint64Array],
};

function* fields(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0n, shift = 0n, byte;
    do { byte = bytes[at++]; value |= BigInt(byte & 127) << shift; shift += 7n; } while (byte & 128);
    return BigInt.asIntN(64, value);
  };
  while (at < bytes.length) {
    const key = Number(varint()), number = key >> 3, wire = key & 7;
    if (wire === 0) { yield [number, varint()]; continue; }
    const length = wire === 1 ? 8 : wire === 5 ? 4 : Number(varint());
    yield [number, bytes.subarray(at, at + length)];
    at += length;
  }
}

function varints(bytes) {
  const numbers = [];
  let value = 0n, shift = 0n;
  for (const byte of bytes) {
    value |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte & 128) continue;
    numbers.push(BigInt.asIntN(64, value));
    value = shift = 0n;
  }
  return numbers;
}

function readTensor(file) {
  const dims = [], strings = [], numbers = [];
  let type = 0, name = '', raw = null, packed = null;
  for (const [number, value] of fields(fs.readFileSync(file))) {
    if (number === 1) typeof value === 'bigint' ? dims.push(Number(value)) : dims.push(...varints(value).map(Number));
    if (number === 2) type = Number(value);
    if (number === 4 || number === 10) packed = value;
    if (number === 5 || number === 7 || number === 11) typeof value === 'bigint' ? numbers.push(value) : numbers.push(...varints(value));
    if (number === 6) strings.push(Buffer.from(value).toString());
    if (number === 8) name = Buffer.from(value).toString();
    if (number === 9) raw = value;
  }
  if (!TYPES[type]) throw new Error(`element type ${type} is not one of onnxruntime-node's`);
  const [typeName, ArrayType] = TYPES[type];
  if (!ArrayType) return [name, new ort.Tensor('string', strings, dims)];
  const bytes = raw ?? packed;
  let data;
  if (bytes) {
    const copy = new Uint8Array(bytes);
    data = new ArrayType(copy.buffer);
  } else {
    const wide = ArrayType === BigInt64Array || ArrayType === BigUint64Array;
    data = ArrayType.from(numbers, (x) => (wide ? x : Number(x)));
  }
  return [name, new ort.Tensor(typeName, data, dims)];
}

function readInputs(folder, session) {
  const feeds = {};
  for (let i = 0; ; ++i) {
    const file = path.join(folder, `input_${i}.pb`);
    if (!fs.existsSync(file)) return feeds;
    const [name, tensor] = readTensor(file);
    feeds[session.inputNames.includes(name) ? name : session.inputNames[i]] = tensor;
  }
}

const now = () => Number(process.hrtime.bigint()) / 1e6;
let loaded = { model: null, session: null };

async function measure({ model, set, seconds }) {
  if (loaded.model !== model) {
    await loaded.session?.release();
    loaded = { model: null, session: null };
    const session = await ort.InferenceSession.create(model, {
      intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential',
      graphOptimizationLevel: 'all', logSeverityLevel: 4,
    });
    loaded = { model, session };
  }
  const feeds = readInputs(set, loaded.session);
  for (let i = 0; i < 3; ++i) await loaded.session.run(feeds);
  const times = [], stop = now() + seconds * 1000;
  while (times.length < 3 || (times.length < 200 && now() < stop)) {
    const start = now();
    await loaded.session.run(feeds);
    times.push(now() - start);
  }
  times.sort((a, b) => a - b);
  return { ms: times[times.length >> 1] };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = await measure(JSON.parse(line));
  } catch (error) {
    answer = { error: String(error.message).split('\n')[0].slice(0, 300) };
  }
  console.log(JSON.stringify(answer));
}
