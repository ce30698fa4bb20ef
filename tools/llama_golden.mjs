#!/usr/bin/env node
// Computes what llama.cpp makes of GGUF files, for tools/compare_llama.py. Reads
// lines {"model": FILE, "prompt": [ids], "count": N, "forced": [ids]} and answers each
// with one line: {"steps": [[[id, probability], …], …]} with all tokens of each
// step, the likeliest first, {"embedding": [numbers]} for {"embed": true}, or
// {"error": text}. The tokens of `forced` follow the prompt one by one; without
// them the likeliest tokens do. Keys and values are kept as f32. LLAMA_DIR is the folder in which
// `npm install --ignore-scripts node-llama-cpp @node-llama-cpp/linux-x64` was run.
import path from 'node:path';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';

const folder = process.env.LLAMA_DIR || process.cwd();
const entry = path.join(folder, 'node_modules/node-llama-cpp/dist/index.js');
const { getLlama, LlamaLogLevel } = await import(pathToFileURL(entry));
const llama = await getLlama({ gpu: false, build: 'never', maxThreads: 1, logLevel: LlamaLogLevel.fatal });

async function steps(model, request) {
  const context = await model.createContext({
    contextSize: 512, threads: 1, batchSize: 256, flashAttention: false,
    experimentalKvCacheKeyType: 'F32', experimentalKvCacheValueType: 'F32',
  });
  const sequence = context.getSequence();
  const found = [];
  let tokens = request.prompt;
  for (let i = 0; i < request.count; ++i) {
    const options = { temperature: 0, yieldEogToken: true };
    let next;
    for await (const output of sequence.evaluateWithMetadata(tokens, { probabilities: true }, options)) {
      found.push([...output.probabilities.entries()].map(([id, p]) => [id, p]));
      next = output.token;
      break;
    }
    tokens = [request.forced ? request.forced[i] : next];
    // The sampled token is already in the sequence but not evaluated. It is
    // removed, so that the state ends with the tokens that were given.
    await sequence.eraseContextTokenRanges([{ start: request.prompt.length + i, end: sequence.nextTokenIndex }]);
  }
  await context.dispose();
  return { steps: found };
}

async function embedding(model, request) {
  const context = await model.createEmbeddingContext({ contextSize: 512, threads: 1 });
  const result = await context.getEmbeddingFor(request.prompt);
  await context.dispose();
  return { embedding: [...result.vector] };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let answer;
  try {
    const model = await llama.loadModel({ modelPath: request.model });
    answer = await (request.embed ? embedding : steps)(model, request);
    await model.dispose();
  } catch (error) {
    answer = { error: String(error) };
  }
  console.log(JSON.stringify(answer));
}
process.exit(0);
