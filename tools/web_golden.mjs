#!/usr/bin/env node
// Compares the runtime for WebAssembly with native tier 0 on the recorded inputs of ../shared/corpus; `./dev web
// golden` calls it.
//
//   web_golden.mjs --package=FOLDER --tools=FOLDER --corpus=FOLDER [--filter=TEXT] [--prejit] [--worker]
//
// Each model is compiled by vm-compile. vm-run runs it on tier 0 with EMBER_ISA=baseline: those kernels have vectors of
// 128 bits and no fused multiply-add, as WebAssembly, so the results have to be equal bit for bit. With --prejit the
// module gets kernels for WebAssembly from vm-prejit, whose sums have another order: they may differ by the tolerance
// of the model's record. A model that native tier 0 refuses has to be refused, too.
// Exit status: 0 all models are equal, 1 some are not.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// The element types of a TensorProto: for each number in onnx.proto, Ember's
// name of the type.
const PROTO_TYPES = {
  1: 'f32', 2: 'u8', 3: 'i8', 4: 'u16', 5: 'i16', 6: 'i32', 7: 'i64', 9: 'bool', 10: 'f16', 11: 'f64', 12: 'u32', 13: 'u64',
};

// Parses the fields of a protobuf message. Yields pairs [number, value], where
// a value is a BigInt or bytes.
function* fieldsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = Number(varint());
    if ((key & 7) === 0) yield [key >> 3, varint()];
    else if ((key & 7) === 5) yield [key >> 3, BigInt(view.getUint32((at += 4) - 4, true))];
    else if ((key & 7) === 1) yield [key >> 3, view.getBigUint64((at += 8) - 8, true)];
    else {
      const size = Number(varint());
      yield [key >> 3, bytes.subarray(at, (at += size))];
    }
  }
}

// Returns the tensor in a TensorProto. The corpus has only raw data; another
// message gives null.
export function readTensorProto(bytes, ember) {
  const dims = [];
  let type, raw, name = '';
  for (const [number, value] of fieldsOf(bytes)) {
    if (number === 1 && typeof value === 'bigint') dims.push(Number(value));
    else if (number === 1) for (const [, dim] of fieldsOf(prefixed(value))) dims.push(Number(dim));
    else if (number === 2 && typeof value === 'bigint') type = PROTO_TYPES[Number(value)];
    else if (number === 8) name = Buffer.from(value).toString();
    else if (number === 9) raw = value;
  }
  if (type === undefined || raw === undefined) return null;
  const kind = ember.Tensor.arrayOf(type);
  return { name, tensor: new ember.Tensor(type, new kind(Uint8Array.from(raw).buffer), dims) };
}

// Splits packed varints, and returns them as a message whose fields are the
// numbers.
function prefixed(packed) {
  const bytes = [];
  let isBegin = true;
  for (const byte of packed) {
    if (isBegin) bytes.push(8);
    bytes.push(byte);
    isBegin = byte < 128;
  }
  return Uint8Array.from(bytes);
}

const MODEL_FILES = ['model.onnx', 'model.tflite', 'model.pb', 'model.h5', 'model.pt', 'model.mlmodel', 'model.caffemodel',
  'model-symbol.json', 'model.mlpackage'];

function parseArguments() {
  const options = { filter: '' };
  for (const argument of process.argv.slice(2)) {
    const [, name, , value] = argument.match(/^--([a-z]+)(=(.*))?$/) ?? [];
    if (!['package', 'tools', 'corpus', 'filter', 'prejit', 'worker'].includes(name)) {
      console.error(`web_golden.mjs: expected --package, --tools, --corpus, --filter, --prejit or --worker, found ${argument}`);
      process.exit(2);
    }
    options[name] = value ?? true;
  }
  return options;
}

function run(program, args, env = {}) {
  return execFileSync(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 });
}

// Returns the last line of an error message, at most 150 characters.
const lineOf = (error) => String(error.stderr ?? error.message).trim().split('\n').pop().slice(0, 150);

// Compares two results. Returns '' if they are equal, otherwise a text about
// the difference.
function compare(name, got, want, tolerance) {
  if (got.byteLength !== want.byteLength) return `${name}: expected ${want.byteLength} bytes, found ${got.byteLength}`;
  if (Buffer.compare(Buffer.from(got.buffer, got.byteOffset, got.byteLength), Buffer.from(want.buffer)) === 0) return '';
  for (let i = 0; i < got.length; ++i) {
    const [a, b] = [Number(got[i]), Number(want[i])];
    if (Object.is(a, b) || (Number.isNaN(a) && Number.isNaN(b))) continue;
    if (tolerance === null || !(Math.abs(a - b) <= tolerance.atol + tolerance.rtol * Math.abs(b)))
      return `${name}[${i}]: expected ${want[i]}, found ${got[i]}`;
  }
  return tolerance === null ? `${name}: NaNs differ` : '';
}

// Compiles a model. Dims that the model leaves open, or that the recorded
// inputs have differently, are fixed to the recorded ones.
function compileFor({ inputs, outputs }, model, module, options) {
  const compile = (...args) => run(join(options.tools, 'vm-compile'), [model, '-o', module, ...args]);
  const dimsOf = (i) => inputs[i][2].join('x');
  if (/graphdef/.test(model)) {
    // The recorded inputs and outputs may be nodes in the middle of the graph,
    // so their names are given as the entry.
    const names = (list) => list.map(([name]) => name).join(',');
    return compile(`--entry=${names(inputs)}->${names(outputs)}`, ...inputs.map(([name], i) => `--shape=${name}=${dimsOf(i)}`));
  }
  const pins = [];
  for (;;) {
    try {
      return compile(...pins);
    } catch (error) {
      const name = lineOf(error).match(/input '([^']*)': the model does not say/)?.[1];
      if (name === undefined || pins.length === inputs.length) throw error;
      pins.push(`--shape=${name}=${dimsOf(pins.length)}`);
    }
  }
}

// Compiles and runs one model. Returns its row of the table: a status and a
// note.
async function check(item, options, ember, folder) {
  // A TensorFlow SavedModel is a folder, not a file.
  const model = join(options.corpus, item.path, MODEL_FILES.find((name) => existsSync(join(options.corpus, item.path, name))) ?? '');
  const module = join(folder, 'model.vmfb');
  if (item.sets === undefined || item.sets.length === 0) return ['no record', ''];
  try {
    compileFor(item.sets[0], model, module, options);
  } catch (error) {
    return ['not compiled', lineOf(error)];
  }
  const set = join(options.corpus, item.path, item.sets[0].dir);
  const files = readdirSync(set).filter((name) => name.startsWith('input_'));
  files.sort((a, b) => parseInt(a.slice(6), 10) - parseInt(b.slice(6), 10));
  // vm-run writes its results as files of raw elements, in the order of this
  // list of names.
  const names = JSON.parse(run('node', ['-e', `import(${JSON.stringify(join(options.package, 'ember.js'))}).then(async (e) => {
    const s = await e.load(${JSON.stringify(module)}, {kernels: false}).catch((x) => ({results: [], error: x.message}));
    console.log(JSON.stringify([s.results.map((r) => r.name), s.error ?? '']));
  })`]).toString());
  const outputs = names[0].map((_, i) => join(folder, `output_${i}.bin`));
  let refusal = '';
  try {
    run(join(options.tools, 'vm-run'), [module, '--tier=0', '--threads=1', '--print=none',
      ...files.map((file) => `--input=@${join(set, file)}`),
      ...outputs.map((file, i) => `--output=${names[0][i]}=@${file}`)], { EMBER_ISA: 'baseline' });
  } catch (error) {
    refusal = lineOf(error);
  }
  if (options.prejit) {
    try {
      run(join(options.tools, 'vm-prejit'), [module, '--target=wasm32+simd128', '-o', module]);
    } catch (error) {
      return ['error', lineOf(error)];
    }
  }
  let session;
  try {
    session = await ember.load(module, { worker: Boolean(options.worker) });
  } catch (error) {
    if (/strings/.test(error.message)) return ['strings', error.message];
    return [refusal === '' ? 'error' : 'both refuse', error.message];
  }
  try {
    const tensors = files.map((file) => readTensorProto(readFileSync(join(set, file)), ember));
    if (tensors.includes(null)) return ['not read', 'an input of the record is no plain tensor'];
    const inputs = {};
    session.inputs.forEach(({ name }, i) => {
      inputs[name] = (tensors.find((found) => found.name === name) ?? tensors[i])?.tensor;
    });
    // Inputs that are state have no recorded values, because they are zeros in
    // the first run.
    for (const info of session.inputs) {
      if (inputs[info.name] !== undefined) continue;
      const dims = info.dims.map((dim) => (typeof dim === 'number' ? dim : 1));
      inputs[info.name] = new ember.Tensor(info.type, new (ember.Tensor.arrayOf(info.type))(dims.reduce((a, b) => a * b, 1)), dims);
    }
    const results = await session.run(inputs);
    if (refusal !== '') return ['differs', `native tier 0 refuses: ${refusal}`];
    const tolerance = options.prejit ? { rtol: 1e-3, atol: 1e-4, ...item.tolerance } : null;
    for (const [i, name] of names[0].entries()) {
      const got = results[name].data;
      const bytes = readFileSync(outputs[i]);
      const want = new got.constructor(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
      const difference = compare(name, got, want, tolerance);
      if (difference !== '') return ['differs', difference];
    }
    return ['equal', options.prejit ? (await session.describe()).kernels : ''];
  } catch (error) {
    return [refusal === '' ? 'error' : 'both refuse', error.message];
  } finally {
    session.dispose();
  }
}

const options = parseArguments();
const ember = await import(join(options.package, 'ember.js'));
const { arrayOfType } = await import(join(options.package, 'tensor.js'));
ember.Tensor.arrayOf = arrayOfType;
const { items } = JSON.parse(readFileSync(join(options.corpus, 'manifest.json')));
const wanted = items.filter(({ path, id }) => path.startsWith('models/') && id.includes(options.filter));
const folder = mkdtempSync(join(tmpdir(), 'ember-golden-'));
const counts = {};
try {
  for (const item of wanted) {
    const [status, note] = await check(item, options, ember, folder);
    counts[status] = (counts[status] ?? 0) + 1;
    console.log(`${item.id}: ${status}${note === '' ? '' : `: ${note}`}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`${wanted.length} models: ${Object.entries(counts).map(([status, count]) => `${count} ${status}`).join(', ')}.`);
process.exitCode = (counts.differs ?? 0) + (counts.error ?? 0) > 0 ? 1 : 0;
