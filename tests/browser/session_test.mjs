// Loads, runs and refuses modules through the JavaScript of vm/web.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { test } from 'node:test';

const ember = await import(`${process.env.EMBER_PACKAGE}/ember.js`);
const data = (name) => `vm/api/testdata/${name}.vmfb`;
const image = () => Float32Array.from({ length: 784 }, (_, i) => (i % 7) / 7);
// The results of vm-run --tier=0 with EMBER_ISA=baseline for image(), as bits.
const EXPECTED = [0.7629369497299194, 1.421400686041352e-8, 0.027209464460611343];

// Runs `body` with the address of a server for one module. The function `answer` makes the
// server's response.
async function withServer(answer, body) {
  const server = createServer(answer).listen(0);
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    await body(`http://127.0.0.1:${server.address().port}/digits.vmfb`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('the runtime stays small', () => {
  const { size } = statSync(`${process.env.EMBER_PACKAGE}/ember.wasm`);
  assert.ok(size <= 480 * 1024, `expected at most 480 KiB, found ${size} bytes`);
});

test('a module runs', async () => {
  const session = await ember.load(data('digits'));
  assert.deepEqual(session.inputs, [{ name: 'image', type: 'f32', logical: '', dims: ['N', 1, 28, 28] }]);
  assert.deepEqual(session.results, [{ name: 'probabilities', type: 'f32', logical: '', dims: ['N', 10] }]);
  const { probabilities } = await session.run({ image: image() });
  assert.deepEqual(probabilities.dims, [1, 10]);
  assert.deepEqual([...probabilities.data].slice(0, 3), EXPECTED);
  // The model accepts any number of pictures: two of them, as a tensor with dims, give twice
  // the results of one.
  const two = new ember.Tensor('f32', [...image(), ...image()], [2, 1, 28, 28]);
  const { probabilities: both } = await session.run({ image: two });
  assert.deepEqual([...both.data], [...probabilities.data, ...probabilities.data]);
  assert.ok(session.describe().memory.peak > 0);
  session.dispose();
  await assert.rejects(session.run({ image: image() }), /after dispose/);
});

test('a module runs in a worker, and a run can be stopped', async () => {
  const session = await ember.load(data('digits'), { worker: true });
  const { probabilities } = await session.run({ image: image() });
  assert.deepEqual([...probabilities.data].slice(0, 3), EXPECTED);
  const stopper = new AbortController();
  const many = new ember.Tensor('f32', new Float32Array(784 * 512), [512, 1, 28, 28]);
  const run = session.run({ image: many }, { signal: stopper.signal });
  stopper.abort();
  await assert.rejects(run, { name: 'AbortError' });
  const again = await session.run({ image: image() });
  assert.deepEqual(again.probabilities.data, probabilities.data);
  session.dispose();
});

test('bytes, responses and URLs are loaded, with progress', async () => {
  const bytes = readFileSync(data('digits'));
  (await ember.load(bytes)).dispose();
  (await ember.load(new Response(bytes))).dispose();
  await withServer((request, response) => {
    response.setHeader('content-length', bytes.length);
    response.write(bytes.subarray(0, 1000));
    setTimeout(() => response.end(bytes.subarray(1000)), 50);
  }, async (url) => {
    const events = [];
    (await ember.load(url, { onProgress: (event) => events.push(event) })).dispose();
    assert.ok(events.filter(({ stage }) => stage === 'download').length >= 2);
    assert.deepEqual(events.filter(({ stage }) => stage === 'download').pop(),
      { stage: 'download', done: bytes.length, total: bytes.length });
    assert.equal(events.pop().stage, 'verify');
  });
});

test('a broken download is one line', async () => {
  await withServer((request, response) => {
    response.setHeader('content-length', 5000);
    response.write(Buffer.alloc(100));
    setTimeout(() => response.destroy(), 50);
  }, async (url) => {
    await assert.rejects(ember.load(url), { code: 'DATA_LOSS', message: /broke off: expected 5000 bytes, found 100/ });
  });
  await withServer((request, response) => {
    response.statusCode = 404;
    response.end();
  }, async (url) => {
    await assert.rejects(ember.load(url), { code: 'NOT_FOUND', message: /expected status 200, found 404/ });
  });
});

test('a download can be stopped', async () => {
  await withServer((request, response) => {
    response.setHeader('content-length', 5000);
    response.write(Buffer.alloc(100));
  }, async (url) => {
    const stopper = new AbortController();
    const onProgress = () => stopper.abort();
    await assert.rejects(ember.load(url, { signal: stopper.signal, onProgress }), { name: 'AbortError' });
  });
});

test('wrong inputs are one line', async () => {
  const session = await ember.load(data('digits'));
  const refused = (inputs, message) => assert.rejects(session.run(inputs), { code: 'INVALID_ARGUMENT', message });
  await refused({}, 'inputs: expected image, found none');
  await refused({ picture: image() }, 'inputs: expected image, found picture');
  await refused({ image: new Float32Array(785) }, "input 'image': expected Nx1x28x28 of f32, found 785 elements");
  await refused({ image: [1, 2] }, "input 'image': expected a Float32Array or a Tensor, found Array");
  await refused({ image: new ember.Tensor('i32', new Int32Array(784), [1, 1, 28, 28]) }, /expected .*f32.*found .*i32/);
  await refused({ image: new ember.Tensor('f32', new Float32Array(783), [1, 1, 27, 29]) }, /28/);
  assert.throws(() => new ember.Tensor('f32', [1, 2], [3]), /expected 3 elements for 3, found 2/);
  session.dispose();
});

test('limits and missing parts are one line', async () => {
  await assert.rejects(ember.load(data('missing')), { code: 'NOT_FOUND', message: /^cannot read .*missing.vmfb/ });
  await assert.rejects(ember.load(new Uint8Array(100)), { code: 'DATA_LOSS' });
  await assert.rejects(ember.load(data('strings')), { code: 'UNIMPLEMENTED', message: /strings/ });
  await assert.rejects(ember.load(data('digits'), { device: 'webgpu' }), /device 'webgpu': expected 'wasm'/);
  const small = await ember.load(data('digits'), { memoryLimit: 1000 });
  await assert.rejects(small.run({ image: image() }), { code: 'RESOURCE_EXHAUSTED', message: /memoryLimit/ });
});

test('a time limit ends a run', async () => {
  const session = await ember.load(data('digits'), { maxSeconds: 1e-6 });
  await assert.rejects(session.run({ image: image() }), { code: 'RESOURCE_EXHAUSTED', message: /within.*maxSeconds/ });
});
