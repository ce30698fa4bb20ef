// Downloads for ember.js: that of the runtime itself (ember.wasm), and those of modules, with
// progress.
import { EmberError } from './tensor.js';

const isNode = typeof process === 'object' && process.versions?.node !== undefined;

// Returns the contents of a local file, whose URL Node's fetch does not support.
async function readLocal(url) {
  const { readFile } = await import(/* @vite-ignore */ 'node:fs/promises');
  return new Uint8Array(await readFile(url));
}

// Returns a promise of the compiled runtime. `source` is a URL, bytes or a WebAssembly.Module.
export async function fetchRuntime(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  const url = source === undefined ? new URL('./ember.wasm', import.meta.url) : new URL(source, import.meta.url);
  if (isNode && url.protocol === 'file:') return WebAssembly.compile(await readLocal(url));
  const response = await fetchOk(url, {});
  if (response.headers.get('content-type')?.startsWith('application/wasm'))
    return WebAssembly.compileStreaming(response);
  // The server does not say that the file is WebAssembly, so it cannot be compiled while it is
  // downloaded.
  return WebAssembly.compile(await response.arrayBuffer());
}

async function fetchOk(url, { signal }) {
  let response;
  try {
    response = await fetch(url, { signal });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new EmberError('NOT_FOUND', `cannot download ${url}: ${error.cause?.message ?? error.message}`);
  }
  if (!response.ok) throw new EmberError('NOT_FOUND', `cannot download ${url}: expected status 200, found ${response.status}`);
  return response;
}

// Returns the response of a URL, from the browser's cache with this name if the cache has it.
async function fetchCached(url, name, signal) {
  if (!name || typeof caches !== 'object') return fetchOk(url, { signal });
  const cache = await caches.open(name);
  const found = await cache.match(url);
  if (found !== undefined) return found;
  const response = await fetchOk(url, { signal });
  // If the disk is full, put() fails, and the module is loaded without being cached.
  cache.put(url, response.clone()).catch(() => {});
  return response;
}

// Copies bytes into the memory of the runtime. Returns their address and size.
function copyIn(bytes, runtime) {
  const address = runtime.allocate(bytes.byteLength);
  runtime.bytes(address, bytes.byteLength).set(bytes);
  return [address, bytes.byteLength];
}

// Reads a response into the memory of the runtime, directly if its size is known. Returns its
// address and size.
async function streamIn(response, url, runtime, { onProgress }) {
  const encoded = response.headers.get('content-encoding');
  const declared = encoded ? 0 : Number(response.headers.get('content-length') ?? 0);
  const reader = response.body.getReader();
  const address = declared > 0 ? runtime.allocate(declared) : 0;
  const chunks = [];
  let done = 0;
  const broken = (why) =>
    new EmberError('DATA_LOSS', `download of ${url} broke off: expected ${declared || 'more'} bytes, found ${done}${why}`);
  for (;;) {
    let part;
    try {
      part = await reader.read();
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      throw broken(` (${error.cause?.message ?? error.message}); load it again`);
    }
    if (part.done) break;
    const { value } = part;
    if (declared > 0 && done + value.byteLength > declared) throw broken(' and more; load it again');
    if (declared > 0) runtime.bytes(address + done, value.byteLength).set(value);
    else chunks.push(value);
    done += value.byteLength;
    onProgress?.({ stage: 'download', done, total: declared });
  }
  if (declared > 0) {
    if (done < declared) throw broken('; load it again');
    return [address, done];
  }
  const at = runtime.allocate(done);
  let offset = at;
  for (const chunk of chunks) {
    runtime.bytes(offset, chunk.byteLength).set(chunk);
    offset += chunk.byteLength;
  }
  return [at, done];
}

// Loads a module from a URL, a file, bytes or a response into the memory of the runtime.
// Returns its address and size.
export async function fetchModule(source, runtime, options) {
  if (source instanceof ArrayBuffer) return copyIn(new Uint8Array(source), runtime);
  if (ArrayBuffer.isView(source))
    return copyIn(new Uint8Array(source.buffer, source.byteOffset, source.byteLength), runtime);
  if (typeof Blob === 'function' && source instanceof Blob)
    return copyIn(new Uint8Array(await source.arrayBuffer()), runtime);
  if (typeof Response === 'function' && source instanceof Response)
    return streamIn(source, source.url || 'a response', runtime, options);
  if (typeof source !== 'string' && !(source instanceof URL)) {
    throw new EmberError('INVALID_ARGUMENT', `module: expected a URL, bytes, a Blob or a Response, found ${source}`);
  }
  const isRemote = /^(https?|blob|data):/.test(String(source));
  if (isNode && !isRemote) {
    try {
      const path = String(source).startsWith('file:') ? new URL(source) : source;
      return copyIn(await readLocal(path), runtime);
    } catch (error) {
      if (error instanceof EmberError) throw error;
      throw new EmberError('NOT_FOUND', `cannot read ${source}: ${error.message}`);
    }
  }
  const url = isNode ? String(source) : String(new URL(source, globalThis.location?.href));
  return streamIn(await fetchCached(url, options.cache, options.signal), url, runtime, options);
}
