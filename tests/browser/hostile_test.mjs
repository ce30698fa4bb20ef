// Gives the runtime damaged modules: each ends with an answer or an error, never with a stopped runtime.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const ember = await import(`${process.env.EMBER_PACKAGE}/ember.js`);

// A generator of numbers in [0, limit), the same in every run (Numerical Recipes' LCG).
let state = 20;
function draw(limit) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

async function runOnce(bytes) {
  const session = await ember.load(bytes, { maxSeconds: 5, memoryLimit: 1 << 26 });
  const inputs = {};
  for (const { name, type, dims } of session.inputs) {
    const extents = dims.map((dim) => (typeof dim === 'number' ? dim : 1));
    const count = extents.reduce((a, b) => a * b, 1);
    if (count > 1e6) return 'large';
    inputs[name] = new ember.Tensor(type, new Array(count).fill(type.endsWith('64') && type[0] !== 'f' ? 1n : 1), extents);
  }
  await session.run(inputs);
  return 'ran';
}

for (const name of ['digits', 'loop', 'static']) {
  test(`${name}, cut and changed`, async () => {
    const good = readFileSync(`vm/api/testdata/${name}.vmfb`);
    const counts = {};
    for (let round = 0; round < 40; ++round) {
      let bytes = Uint8Array.from(good);
      if (round % 4 === 0) bytes = bytes.subarray(0, draw(good.length));
      else for (let i = 0; i <= draw(3); ++i) bytes[draw(good.length)] = draw(256);
      let outcome;
      try {
        outcome = await runOnce(bytes);
      } catch (error) {
        assert.ok(error instanceof ember.EmberError, `round ${round}: ${error.stack}`);
        assert.doesNotMatch(error.message, /runtime: stopped|\n/, `round ${round}`);
        outcome = error.code;
      }
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    // Most of the damaged modules must be refused as damaged, and the undamaged
    // one must still run.
    assert.ok((counts.DATA_LOSS ?? 0) >= 10, JSON.stringify(counts));
    assert.equal(await runOnce(good), 'ran');
  });
}
