// Adds kernels for WebAssembly to a module with vm-prejit and compares them with the interpreter.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const ember = await import(`${process.env.EMBER_PACKAGE}/ember.js`);
const plain = 'vm/api/testdata/digits.vmfb';

// Returns the path of the module with kernels.
function prejit(...flags) {
  const path = join(process.env.TEST_TMPDIR, `digits${flags.length}.vmfb`);
  execFileSync('tools/vm-prejit', [plain, '--target=wasm32+simd128', ...flags, '-o', path]);
  return path;
}

async function probabilitiesOf(session, batch) {
  const data = Float32Array.from({ length: 784 * batch }, (_, i) => (i % 11) / 11);
  const results = await session.run({ image: new ember.Tensor('f32', data, [batch, 1, 28, 28]) });
  return results.probabilities.data;
}

for (const flags of [[], ['--packed-weights=none']]) {
  test(`kernels ${flags}`, async () => {
    const events = [];
    const path = prejit(...flags);
    const fast = await ember.load(path, { onProgress: ({ stage }) => events.push(stage) });
    assert.match(fast.describe().kernels, /native kernels for 5 of 5 dispatches \(wasm32-none\+simd128/);
    assert.deepEqual(fast.describe().refused, []);
    assert.ok(events.includes('kernels'));
    const slow = await ember.load(path, { kernels: false });
    assert.equal(slow.describe().kernels, 'kernels of the module are not used');
    for (const batch of [1, 3]) {
      const [got, want] = [await probabilitiesOf(fast, batch), await probabilitiesOf(slow, batch)];
      got.forEach((value, i) => assert.ok(Math.abs(value - want[i]) < 1e-6, `${i}: expected ${want[i]}, found ${value}`));
      assert.ok(Math.abs(got.subarray(0, 10).reduce((a, b) => a + b) - 1) < 1e-5);
    }
    // Each dispatch must have run as a kernel (tier 2) in all of its calls.
    for (const { name, tier, calls } of fast.describe().dispatches) assert.deepEqual([name, tier, calls], [name, 2, 2]);
  });
}

test('kernels in a worker, and for another machine', async () => {
  const remote = await ember.load(prejit(), { worker: true });
  assert.match((await remote.describe()).kernels, /5 of 5/);
  assert.equal((await probabilitiesOf(remote, 2)).length, 20);
  remote.dispose();
  // A module with kernels for x86-64 must run without them.
  const path = join(process.env.TEST_TMPDIR, 'x86.vmfb');
  execFileSync('tools/vm-prejit', [plain, '--target=x86-64-v2', '-o', path]);
  const foreign = await ember.load(path);
  assert.equal(foreign.describe().kernels, 'no native kernels for this machine');
  assert.equal((await probabilitiesOf(foreign, 1)).length, 10);
});
