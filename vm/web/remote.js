// Sessions that run in a worker, so that the page stays responsive and a run can be stopped.
//
// The page sends {call, id, ...} and the worker answers {id, value} or {id, error}. Progress comes as
// {progress}. A run that is cancelled ends its worker; the next run starts another one and loads the
// module again.
import { EmberError, Tensor, tensorFor } from './tensor.js';

const isNode = typeof process === 'object' && process.versions?.node !== undefined;

async function startWorker() {
  const url = new URL('./worker.js', import.meta.url);
  if (!isNode) return new Worker(url, { type: 'module' });
  const { Worker: NodeWorker } = await import(/* @vite-ignore */ 'node:worker_threads');
  const worker = new NodeWorker(url);
  worker.unref();
  return worker;
}

// A worker with one session. Calls are answered in order.
class Connection {
  #worker;
  #calls = new Map();
  #next = 0;

  static async open(onProgress) {
    const connection = new Connection();
    const worker = connection.#worker = await startWorker();
    const receive = (message) => connection.#receive(message, onProgress);
    const fail = (error) => connection.#fail(new EmberError('INTERNAL', `worker: ${error.message ?? 'could not start'}`));
    if (isNode) worker.on('message', receive).on('error', fail);
    else {
      worker.onmessage = ({ data }) => receive(data);
      worker.onerror = fail;
    }
    return connection;
  }

  #receive({ id, value, error, progress }, onProgress) {
    if (progress !== undefined) return onProgress?.(progress);
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(new EmberError(error.code, error.message));
  }
  #fail(error) {
    for (const { reject } of this.#calls.values()) reject(error);
    this.#calls.clear();
  }

  // Sends a call. If the signal aborts it, the worker is ended.
  call(name, args, signal) {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      const stop = () => this.end(signal.reason);
      const settle = (next) => (value) => {
        signal?.removeEventListener('abort', stop);
        next(value);
      };
      this.#calls.set(id, { resolve: settle(resolve), reject: settle(reject) });
      signal?.addEventListener('abort', stop);
      this.#worker?.ref?.();
      this.#worker.postMessage({ call: name, id, ...args });
    }).finally(() => this.#worker?.unref?.());
  }

  end(reason) {
    this.isEnded = true;
    this.#worker.terminate();
    this.#fail(reason ?? new EmberError('CANCELLED', 'session: disposed'));
  }
}

class RemoteSession {
  #connection = null;
  #source;
  #options;

  static async create(source, { signal, onProgress, worker, ...options }) {
    const session = new RemoteSession();
    session.#source = source instanceof URL || typeof source === 'string'
      ? (isNode ? String(source) : String(new URL(source, globalThis.location?.href))) : source;
    session.#options = options;
    Object.assign(session, await session.#connect(signal, onProgress));
    return session;
  }

  async #connect(signal, onProgress) {
    this.#connection = await Connection.open(onProgress);
    return this.#connection.call('load', { source: this.#source, options: this.#options }, signal);
  }

  async run(inputs, { signal } = {}) {
    if (this.#options === null) {
      throw new EmberError('FAILED_PRECONDITION', 'session: expected one that is in use, found one after dispose()');
    }
    const tensors = Object.fromEntries(this.inputs.map((info) => {
      const { type, data, dims } = tensorFor(info, inputs, this.inputs);
      return [info.name, { type, data, dims }];
    }));
    if (this.#connection.isEnded) await this.#connect(signal);
    const results = await this.#connection.call('run', { inputs: tensors }, signal);
    return Object.fromEntries(
      Object.entries(results).map(([name, { type, data, dims }]) => [name, new Tensor(type, data, dims)]));
  }

  describe() {
    return this.#connection.call('describe', {});
  }

  dispose() {
    this.#options = null;
    this.#connection.end();
  }
}

export function loadInWorker(source, options) {
  return RemoteSession.create(source, options);
}
