// A small program that uses the npm package; `./dev web package` compiles it with tsc and runs it in Node.
import * as ember from 'ember-runtime';

const session: ember.Session = await ember.load('digits.vmfb', { onProgress: ({ stage, done }) => console.log(stage, done) });
const { probabilities } = await session.run({ image: new Float32Array(784) });
console.log(probabilities.dims.join('x'), probabilities.data[0]);
session.dispose();
