// Runs the hostile modules of a folder: each has to end with an answer or an error. `./dev web hostile` calls it with
// ../shared/attacks.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const [, , folder] = process.argv;
const ember = await import(join(process.env.EMBER_PACKAGE, 'ember.js'));
const { arrayOfType } = await import(join(process.env.EMBER_PACKAGE, 'tensor.js'));

async function outcomeOf(file) {
  const session = await ember.load(file, { maxSeconds: 3, memoryLimit: 2 ** 30 });
  const inputs = {};
  for (const { name, type, dims } of session.inputs) {
    const extents = dims.map((dim) => (typeof dim === 'number' ? dim : 1));
    inputs[name] = new ember.Tensor(type, new (arrayOfType(type))(extents.reduce((a, b) => a * b, 1)), extents);
  }
  const results = await session.run(inputs);
  return Object.values(results).map(({ dims }) => `answer of ${dims.join('x')}`).join(', ');
}

for (const name of readdirSync(folder).filter((name) => name.endsWith('.vmfb'))) {
  const begin = performance.now();
  let outcome;
  try {
    outcome = await outcomeOf(join(folder, name));
  } catch (error) {
    outcome = `${error.code}: ${error.message}`;
    if (!(error instanceof ember.EmberError) || /runtime: stopped/.test(error.message)) process.exitCode = 1;
  }
  const taken = performance.now() - begin;
  console.log(`${name}: ${outcome.slice(0, 140)} (${taken.toFixed(0)} ms)`);
  if (taken > 60000) process.exitCode = 1;
}
