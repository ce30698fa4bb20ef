// The worker of remote.js: it holds one session and answers calls in order.
import { load } from './ember.js';

const isNode = typeof process === 'object' && process.versions?.node !== undefined;
const port = isNode ? (await import(/* @vite-ignore */ 'node:worker_threads')).parentPort : globalThis;
let session = null;

const calls = {
  async load({ source, options }) {
    const onProgress = (progress) => port.postMessage({ progress });
    session = await load(source, { ...options, onProgress });
    const { inputs, results, metadata, natives, dispatches, constants } = session;
    return [{ inputs, results, metadata, natives, dispatches, constants }];
  },
  async run({ inputs }) {
    const results = session.runNow(inputs);
    return [results, Object.values(results).map(({ data }) => data.buffer)];
  },
  async describe() {
    return [session.describe()];
  },
};

async function answer({ call, id, ...args }) {
  try {
    const [value, transfer] = await calls[call](args);
    port.postMessage({ id, value }, transfer ?? []);
  } catch (error) {
    port.postMessage({ id, error: { code: error.code ?? 'INTERNAL', message: error.message } });
  }
}

// Each message is answered only after the previous one, so that a run waits for
// the load that it needs.
let last = Promise.resolve();
const receive = (message) => (last = last.then(() => answer(message)));
if (isNode) port.on('message', receive);
else port.onmessage = ({ data }) => receive(data);
