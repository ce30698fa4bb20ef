// Runs compute shaders of WebGPU for tests: a line of JSON comes in for each dispatch, and a line of text goes out.
//
//     node runner.mjs FOLDER [ICD]
//
// FOLDER has the npm package `webgpu`, which is Dawn for Node, in node_modules. ICD is the description of a Vulkan driver.
//
// The first line out is "target TEXT", the target string of the adapter (jit/wgsl/target.h), or "error TEXT".
//
// A request: {"module": "…WGSL…", "entry": "phase0", "groups": [8, 1], "parameters": "HEX", "bindings": ["HEX", …]}
// "module" may be left out if it is the one of the request before. The answer: "ok 1:HEX 2:HEX …", the number and the bytes
// of each binding that the entry point may write, or "error TEXT" in one line.
//
// The head of a module says how each entry point uses its bindings (jit/wgsl/source.h), and jit/wgsl/declarations.h says
// where bindings and parameters are. Each binding gets a buffer of its own, with guard bytes behind it that must not change.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { join } from 'node:path';

const GUARD = 16;
const GUARD_BYTE = 0xa5;

const say = (text) => process.stdout.write(text.replaceAll('\n', ' | ') + '\n');
const fromHex = (text) => Uint8Array.from(Buffer.from(text, 'hex'));
const toHex = (bytes) => Buffer.from(bytes).toString('hex');

async function loadPackage(folder) {
  const require = createRequire(join(folder, 'package.json'));
  const { create, globals } = await import(require.resolve('webgpu'));
  Object.assign(globalThis, globals);
  return create([]);
}

function targetOf(adapter) {
  const { limits } = adapter;
  const invocations = Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX);
  const features = [['shader-f16', 'f16'], ['subgroups', 'subgroups']];
  return ['webgpu', ...features.filter(([name]) => adapter.features.has(name)).map(([, text]) => text),
    `shared${limits.maxComputeWorkgroupStorageSize}`, `invocations${invocations}`,
    `buffers${limits.maxStorageBuffersPerShaderStage}`].join('+');
}

async function openDevice(adapter) {
  const { limits } = adapter;
  const requiredLimits = {};
  for (const name of ['maxComputeWorkgroupStorageSize', 'maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupSizeX',
    'maxStorageBuffersPerShaderStage']) requiredLimits[name] = limits[name];
  return adapter.requestDevice({ requiredLimits });
}

// Pipelines of the module that came last.
class Programs {
  constructor(device) {
    this.device = device;
    this.pipelines = new Map();
  }

  async use(text) {
    this.pipelines.clear();
    this.uses = new Map([...text.matchAll(/^\/\/ (\w+):(.*)$/gm)].map(([, entry, uses]) => [entry, uses.trim().split(' ')]));
    this.module = this.device.createShaderModule({ code: text });
    const { messages } = await this.module.getCompilationInfo();
    const errors = messages.filter(({ type }) => type === 'error').map((m) => `${m.lineNum}:${m.linePos} ${m.message}`);
    if (errors.length > 0) throw new Error(errors.join('; '));
  }

  // Returns the pipeline of an entry point, the layouts of its two groups of bindings, and the use of each binding.
  async pipelineOf(entry) {
    if (!this.pipelines.has(entry)) {
      const visibility = GPUShaderStage.COMPUTE;
      const uses = this.uses.get(entry);
      if (uses === undefined) throw new Error(`expected a line about ${entry} at the head of the module, found none`);
      const memory = this.device.createBindGroupLayout({
        entries: uses.filter((use) => use !== 'record').map((use, binding) =>
          ({ binding, visibility, buffer: { type: use === 'write' ? 'storage' : 'read-only-storage' } })),
      });
      const hasRecord = uses.includes('record');
      const rest = this.device.createBindGroupLayout({
        entries: [{ binding: 0, visibility, buffer: { type: 'uniform' } },
          ...(hasRecord ? [{ binding: 1, visibility, buffer: { type: 'storage' } }] : [])],
      });
      const pipeline = await this.device.createComputePipelineAsync({
        layout: this.device.createPipelineLayout({ bindGroupLayouts: [memory, rest] }),
        compute: { module: this.module, entryPoint: entry },
      });
      this.pipelines.set(entry, { pipeline, memory, rest, uses });
    }
    return this.pipelines.get(entry);
  }
}

function makeBuffer(device, bytes, usage) {
  const size = Math.ceil((bytes.length + GUARD) / 16) * 16;
  const buffer = device.createBuffer({ size, usage, mappedAtCreation: true });
  const memory = new Uint8Array(buffer.getMappedRange());
  memory.fill(GUARD_BYTE);
  memory.set(bytes);
  buffer.unmap();
  return { buffer, size, length: bytes.length };
}

async function readBuffer(device, { buffer, size, length }) {
  const copy = device.createBuffer({ size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, copy, 0, size);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(GPUMapMode.READ);
  const bytes = new Uint8Array(copy.getMappedRange()).slice();
  copy.destroy();
  if (bytes.subarray(length).some((byte) => byte !== GUARD_BYTE)) throw new Error('a byte behind a buffer changed');
  return bytes.subarray(0, length);
}

async function dispatch(device, programs, request) {
  if (request.module !== undefined) await programs.use(request.module);
  const { pipeline, memory, rest, uses } = await programs.pipelineOf(request.entry);
  if (uses.length !== request.bindings.length)
    throw new Error(`${request.entry}: expected ${uses.length} bindings, found ${request.bindings.length}`);
  const storage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
  const bound = request.bindings.map((bytes) => makeBuffer(device, fromHex(bytes), storage));
  const uniform = makeBuffer(device, fromHex(request.parameters), GPUBufferUsage.UNIFORM);
  const records = bound.filter((_, i) => uses[i] === 'record');
  const entryOf = ({ buffer }, binding) => ({ binding, resource: { buffer } });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout: memory, entries: bound.filter((_, i) => uses[i] !== 'record').map(entryOf) }));
  pass.setBindGroup(1, device.createBindGroup({ layout: rest, entries: [uniform, ...records].map(entryOf) }));
  pass.dispatchWorkgroups(...request.groups);
  pass.end();
  device.queue.submit([encoder.finish()]);
  const texts = [];
  for (const [i, buffer] of bound.entries()) {
    if (uses[i] !== 'read') texts.push(`${i}:${toHex(await readBuffer(device, buffer))}`);
  }
  for (const { buffer } of [...bound, uniform]) buffer.destroy();
  return texts;
}

async function answer(device, programs, line) {
  device.pushErrorScope('validation');
  let result;
  let thrown;
  try {
    result = await dispatch(device, programs, JSON.parse(line));
  } catch (error) {
    thrown = error;
  }
  const invalid = await device.popErrorScope();
  if (thrown || invalid) throw thrown ?? new Error(invalid.message);
  return ['ok', ...result].join(' ');
}

async function main() {
  let adapter;
  let device;
  try {
    const [folder, driver] = process.argv.slice(2);
    if (driver) process.env.VK_ICD_FILENAMES = driver;
    const gpu = await loadPackage(folder);
    adapter = await gpu.requestAdapter();
    if (!adapter) throw new Error('expected a WebGPU adapter, found none');
    device = await openDevice(adapter);
  } catch (error) {
    say(`error ${error.message}`);
    process.exit(1);
  }
  say(`target ${targetOf(adapter)}`);
  const programs = new Programs(device);
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    try {
      say(await answer(device, programs, line));
    } catch (error) {
      say(`error ${error.message}`);
    }
  }
  process.exit(0);
}

await main();
