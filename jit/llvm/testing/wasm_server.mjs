// Runs kernels for WebAssembly in node. jit/llvm/testing/foreign.cc starts this server for tests; foreign_server.cc
// describes the protocol.
//
// Each buffer lies between two guards, which are bytes of a known value. If a kernel changes a guard, the server ends.
// (The server for other processors ends at such an access, because the page is not mapped.)
import { readSync, writeSync } from 'node:fs';

const PAGE = 4096;
const GUARD = 0xa5;
const STACK = 1 << 20;

function read(size) {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size;) {
    const count = readSync(0, bytes, at, size - at, null);
    if (count === 0) process.exit(0);
    at += count;
  }
  return bytes;
}
function write(bytes) {
  for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at, bytes.length - at);
}
const readNumber = () => Number(new DataView(read(8).buffer).getBigInt64(0, true));

function fail(what) {
  console.error(`wasm_server: ${what}`);
  process.exit(1);
}

// The memory of the WebAssembly module. place() allocates parts of it, each
// between two guards: bytes whose changes are noticed by check().
class Memory {
  memory = new WebAssembly.Memory({ initial: STACK / 65536 });
  #end = STACK;
  #guards = [];

  place(offset, size) {
    const begin = this.#end + PAGE + offset;
    this.#guard(this.#end, begin);
    this.#end = Math.ceil((begin + size) / PAGE) * PAGE + PAGE;
    this.#grow();
    this.#guard(begin + size, this.#end);
    return begin;
  }
  #grow() {
    const missing = this.#end + PAGE - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / 65536) + 16);
  }
  #guard(begin, end) {
    if (end > this.memory.buffer.byteLength) this.#grow();
    this.bytes(begin, end - begin).fill(GUARD);
    this.#guards.push([begin, end]);
  }
  check() {
    for (const [begin, end] of this.#guards) {
      if (!this.bytes(begin, end - begin).every((byte) => byte === GUARD)) fail('a kernel wrote outside of its buffers');
    }
  }
  bytes(begin, size) {
    return new Uint8Array(this.memory.buffer, begin, size);
  }
}

function serve() {
  // Reads the alignment of the code, which WebAssembly does not need.
  readNumber();
  const code = new WebAssembly.Module(read(readNumber()));
  const memory = new Memory();
  const parameters = read(8 * readNumber());
  const parametersAt = memory.place(0, parameters.length);
  memory.bytes(parametersAt, parameters.length).set(parameters);
  const buffers = Array.from({ length: readNumber() });
  for (let i = 0; i < buffers.length; ++i) {
    const size = readNumber();
    if (size < 0) {
      buffers[i] = { at: buffers[-1 - size].at, size: 0 };
      continue;
    }
    const at = memory.place(readNumber(), size);
    memory.bytes(at, size).set(read(size));
    buffers[i] = { at, size };
  }
  const pointersAt = memory.place(0, 4 * buffers.length);
  const failureAt = memory.place(0, 24);
  const [section] = WebAssembly.Module.customSections(code, 'ember.data');
  const dataAt = memory.place(0, section === undefined ? 0 : new DataView(section).getUint32(0, true));
  const pointers = new DataView(memory.memory.buffer);
  buffers.forEach(({ at }, i) => pointers.setUint32(pointersAt + 4 * i, at, true));
  const { exports } = new WebAssembly.Instance(code, {
    ember: {
      memory: memory.memory,
      stack: new WebAssembly.Global({ value: 'i32', mutable: true }, STACK),
      data: new WebAssembly.Global({ value: 'i32', mutable: false }, dataAt),
    },
  });
  const phases = Array.from({ length: readNumber() }, () => [readNumber(), BigInt(readNumber())]);
  let failed = 0;
  for (const [entry, tasks] of phases) {
    for (const [begin, end] of [[0n, tasks / 2n], [tasks / 2n, tasks]]) {
      if (failed === 0) failed = exports[`f${entry}`](parametersAt, pointersAt, begin, end, failureAt);
    }
  }
  memory.check();
  write(new Uint8Array(BigInt64Array.of(BigInt(failed)).buffer));
  write(memory.bytes(failureAt, 24));
  for (const { at, size } of buffers) write(memory.bytes(at, size));
}

for (;;) serve();
