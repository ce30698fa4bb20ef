// Runs Ember's modules in a page, a worker or Node 18 and later.
//
//   import * as ember from 'ember-runtime';
//   const session = await ember.load('digits.vmfb');
//   const { probabilities } = await session.run({ image: pixels });   // a Float32Array
//   console.log(probabilities.data, probabilities.dims);
//   session.dispose();
//
// ember.d.ts documents the interface. Each session has an instance of the runtime (ember.wasm) with
// a memory of its own, so that disposing of it frees everything.
import { fetchModule, fetchRuntime } from './download.js';
import { EmberError, Tensor, arrayOfType, tensorFor, typeNames } from './tensor.js';
import { loadInWorker } from './remote.js';

export { EmberError, Tensor };

// The smallest module with an instruction of SIMD128: a function that returns i8x16.splat(0).
const SIMD_PROBE = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15, 11);

const decoder = new TextDecoder();

// Returns the EmberError for a failure of the browser's engine to compile or instantiate
// WebAssembly.
function compileError(error, what) {
  if (error instanceof EmberError || error.name === 'AbortError') return error;
  const text = String(error.message ?? error);
  if (/unsafe-eval|Content.Security.Policy/i.test(text)) {
    return new EmberError(
      'FAILED_PRECONDITION',
      `${what}: expected a page that allows WebAssembly, found a Content-Security-Policy against it; ` +
        "add 'wasm-unsafe-eval' to its script-src");
  }
  return new EmberError('INTERNAL', `${what}: ${text}`);
}

function checkEngine() {
  if (typeof WebAssembly !== 'object') {
    throw new EmberError('UNIMPLEMENTED', 'runtime: expected WebAssembly, found a browser without it');
  }
  if (!WebAssembly.validate(SIMD_PROBE)) {
    throw new EmberError(
      'UNIMPLEMENTED',
      'runtime: expected WebAssembly with SIMD (Chrome 91, Firefox 89, Safari 16.4, Node 16.4), ' +
        'found a browser without it');
  }
}

// One instance of ember.wasm: its exports, and the functions that it imports.
class Runtime {
  static async create(module) {
    const runtime = new Runtime();
    try {
      const instance = await WebAssembly.instantiate(module, runtime.#imports());
      runtime.exports = instance.exports;
    } catch (error) {
      throw compileError(error, 'runtime');
    }
    runtime.memory = runtime.exports.memory;
    runtime.exports._initialize();
    return runtime;
  }

  #codes = new Map();    // the compiled instance of each kernel's code, by the code's address
  #pending = [];         // [address, size] of codes that load_code requested and that are not compiled yet
  #freeSlots = [];       // [first, count] of ranges of the function table that are free for other kernels
  #messages = '';        // text that the runtime has written to its standard error
  #broken = null;        // the error of a trap, after which the instance cannot be used

  #imports() {
    const notSupported = 52;  // ENOSYS of WASI
    return {
      ember_host: {
        load_code: (address, size, count) => this.#loadCode(address >>> 0, size, count),
        free_code: (first, count) => {
          for (let i = 0; i < count; ++i) this.exports.__indirect_function_table.set(first + i, null);
          this.#freeSlots.push([first, count]);
        },
      },
      wasi_snapshot_preview1: {
        clock_time_get: (id, precision, out) => {
          const now = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6));
          new DataView(this.memory.buffer).setBigUint64(out >>> 0, now, true);
          return 0;
        },
        fd_write: (file, vectors, count, out) => {
          const view = new DataView(this.memory.buffer);
          let total = 0;
          for (let i = 0; i < count; ++i) {
            const at = (vectors >>> 0) + 8 * i;
            const size = view.getUint32(at + 4, true);
            this.#messages += decoder.decode(this.bytes(view.getUint32(at, true), size));
            total += size;
          }
          view.setUint32(out >>> 0, total, true);
          return 0;
        },
        fd_close: () => notSupported,
        fd_seek: () => notSupported,
      },
    };
  }

  // Calls an export. After a trap (a runtime error of WebAssembly) the instance cannot be used,
  // because its memory may be in any state.
  call(name, ...args) {
    if (this.#broken !== null) throw this.#broken;
    try {
      return this.exports[name](...args);
    } catch (error) {
      const said = this.#messages.trim().split('\n').pop();
      this.#broken = new EmberError(
        'INTERNAL', `runtime: stopped (${said || error.message}); load the module again`);
      throw this.#broken;
    }
  }
  // Calls an export that returns 0 if it fails. Throws the runtime's error in this case.
  require(name, ...args) {
    const result = this.call(name, ...args) >>> 0;
    if (result !== 0) return result;
    const [, code, message] = this.text(this.call('ember_error')).match(/^([A-Z_]+): (.*)$/s) ?? [];
    // Messages of the runtime name limits by the flags of its tools, which are replaced by the
    // options of load().
    const text = message?.replace(/--max-memory/g, 'memoryLimit').replace(/--max-seconds/g, 'maxSeconds');
    throw new EmberError(code ?? 'INTERNAL', text ?? 'runtime: failed without a message');
  }

  bytes(address, size) {
    return new Uint8Array(this.memory.buffer, address >>> 0, size);
  }
  text(address) {
    const all = new Uint8Array(this.memory.buffer);
    return decoder.decode(all.subarray(address >>> 0, all.indexOf(0, address >>> 0)));
  }
  allocate(size) {
    const address = this.call('ember_allocate', size) >>> 0;
    if (address !== 0) return address;
    throw new EmberError(
      'RESOURCE_EXHAUSTED',
      `memory: expected ${size} more bytes, found none; a page has at most 4 GiB for a model`);
  }

  #loadCode(address, size, count) {
    const instance = this.#codes.get(address);
    if (instance === undefined) {
      this.#pending.push([address, size]);
      return 0;
    }
    const table = this.exports.__indirect_function_table;
    const found = this.#freeSlots.findIndex(([, room]) => room === count);
    const first = found >= 0 ? this.#freeSlots.splice(found, 1)[0][0] : table.grow(count);
    for (let i = 0; i < count; ++i) table.set(first + i, instance.exports[`f${i}`]);
    return first;
  }

  // Compiles the codes of a module's kernels, outside of the main thread if the engine supports it.
  async compileKernels(module, signal) {
    this.call('ember_module_find_kernels', module);
    const codes = this.#pending.splice(0);
    await Promise.all(codes.map(async ([address, size]) => {
      const compiled = await WebAssembly.compile(this.bytes(address, size).slice());
      signal?.throwIfAborted();
      this.#codes.set(address, await this.#instantiate(compiled));
    }));
  }
  async #instantiate(compiled) {
    const [section] = WebAssembly.Module.customSections(compiled, 'ember.data');
    const size = section === undefined ? 0 : new DataView(section).getUint32(0, true);
    const base = size === 0 ? 0 : this.allocate(size);
    return WebAssembly.instantiate(compiled, {
      ember: {
        memory: this.memory,
        stack: this.exports.__stack_pointer,
        data: new WebAssembly.Global({ value: 'i32', mutable: false }, base | 0),
      },
    });
  }
}

let runtimeModule = null;  // a promise of the compiled ember.wasm, which all sessions share

function compileRuntime(source) {
  checkEngine();
  if (runtimeModule === null || source !== undefined) {
    runtimeModule = fetchRuntime(source).catch((error) => {
      runtimeModule = null;
      throw compileError(error, 'runtime');
    });
  }
  return runtimeModule;
}

class Session {
  #runtime;
  #module;
  #session;
  #options;

  static async create(source, options) {
    const { signal, onProgress } = options;
    const session = new Session();
    session.#options = options;
    const runtime = session.#runtime = await Runtime.create(await compileRuntime(options.runtime));
    const [address, size] = await fetchModule(source, runtime, { signal, onProgress, cache: options.cache });
    signal?.throwIfAborted();
    onProgress?.({ stage: 'verify', done: 0, total: 0 });
    session.#module = runtime.require('ember_module_load', address, size);
    Object.assign(session, JSON.parse(runtime.text(runtime.call('ember_module_text', session.#module))));
    const usesKernels = (options.kernels ?? true) && session.natives.length > 0;
    if (usesKernels) {
      onProgress?.({ stage: 'kernels', done: 0, total: 0 });
      try {
        await runtime.compileKernels(session.#module, signal);
      } catch (error) {
        throw compileError(error, 'kernels');
      }
    }
    session.#open(usesKernels);
    return session;
  }

  #open(usesKernels) {
    const runtime = this.#runtime;
    const { memoryLimit = 0, maxSeconds = 0, profile = false } = this.#options;
    const at = runtime.allocate(24);
    const view = new DataView(runtime.memory.buffer, at, 24);
    view.setFloat64(0, memoryLimit, true);
    view.setFloat64(8, maxSeconds, true);
    view.setUint32(16, Number(usesKernels), true);
    view.setUint32(20, Number(profile), true);
    try {
      this.#session = runtime.require('ember_session_create', this.#module, at);
    } finally {
      runtime.call('ember_free', at);
    }
  }

  async run(inputs, { signal } = {}) {
    signal?.throwIfAborted();
    return this.runNow(inputs);
  }

  // Runs the module and returns the results at once, without a promise.
  runNow(inputs) {
    if (this.#runtime === null) {
      throw new EmberError('FAILED_PRECONDITION', 'session: expected one that is in use, found one after dispose()');
    }
    const tensors = this.inputs.map((info) => tensorFor(info, inputs, this.inputs));
    const taken = [];
    try {
      tensors.forEach((tensor, index) => this.#setInput(index, tensor, taken));
      this.#runtime.require('ember_session_run', this.#session);
      return this.#results();
    } finally {
      for (const address of taken) this.#runtime.exports.ember_free(address);
    }
  }

  // Copies a tensor into the memory of the runtime as the data of an input. Adds the addresses of
  // allocated memory to `taken`, for the caller to free.
  #setInput(index, tensor, taken) {
    const runtime = this.#runtime;
    const { data, dims } = tensor;
    const address = runtime.allocate(data.byteLength);
    taken.push(address);
    runtime.bytes(address, data.byteLength).set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    const info = runtime.allocate(24 + 8 * dims.length);
    taken.push(info);
    const view = new DataView(runtime.memory.buffer);
    [typeNames.indexOf(tensor.type), dims.length, info + 24, address, data.byteLength].forEach(
      (value, i) => view.setUint32(info + 4 * i, value, true));
    dims.forEach((dim, i) => view.setBigInt64(info + 24 + 8 * i, BigInt(dim), true));
    runtime.require('ember_session_set_input', this.#session, index, info);
  }

  #results() {
    const runtime = this.#runtime;
    const info = runtime.allocate(24);
    const results = {};
    try {
      this.results.forEach(({ name }, index) => {
        runtime.require('ember_session_result', this.#session, index, info);
        const view = new DataView(runtime.memory.buffer);
        const [type, rank, dimsAt, dataAt, size] = [0, 1, 2, 3, 4].map((i) => view.getUint32(info + 4 * i, true));
        const dims = Array.from({ length: rank }, (_, i) => Number(view.getBigInt64(dimsAt + 8 * i, true)));
        const data = new (arrayOfType(typeNames[type]))(runtime.bytes(dataAt, size).slice().buffer);
        results[name] = new Tensor(typeNames[type], data, dims);
      });
    } finally {
      runtime.call('ember_free', info);
    }
    return results;
  }

  describe() {
    const runtime = this.#runtime;
    const text = runtime.text(runtime.call('ember_session_text', this.#session));
    const described = { ...JSON.parse(text), heapBytes: runtime.memory.buffer.byteLength };
    if (this.natives.length > 0 && this.#options.kernels === false) described.kernels = 'kernels of the module are not used';
    return described;
  }

  dispose() {
    this.#runtime = null;
  }
}

export async function load(source, options = {}) {
  const device = options.device ?? 'wasm';
  if (device !== 'wasm' && device !== 'cpu') {
    throw new EmberError('NOT_FOUND', `device '${device}': expected 'wasm', as this version has no others`);
  }
  options.signal?.throwIfAborted();
  return options.worker ? loadInWorker(source, options) : Session.create(source, options);
}
