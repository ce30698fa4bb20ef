// The classes of tensors and errors that ember.js exports, and the conversion of inputs to
// tensors.

export class EmberError extends Error {
  constructor(code, message) {
    super(message);
    this.name = 'EmberError';
    this.code = code;
  }
}

// The element types in the order of base/dtype.h, each with the array that holds its elements. An
// element of f16, bf16 and the 8-bit floats is its bit pattern.
const TYPES = [
  ['bool', Uint8Array], ['i8', Int8Array], ['i16', Int16Array], ['i32', Int32Array],
  ['i64', BigInt64Array], ['u8', Uint8Array], ['u16', Uint16Array], ['u32', Uint32Array],
  ['u64', BigUint64Array], ['f16', Uint16Array], ['bf16', Uint16Array], ['f32', Float32Array],
  ['f64', Float64Array], ['f8e4m3fn', Uint8Array], ['f8e5m2', Uint8Array],
];
export const typeNames = TYPES.map(([name]) => name);

export function arrayOfType(type) {
  const row = TYPES.find(([name]) => name === type);
  if (row !== undefined) return row[1];
  throw new EmberError('INVALID_ARGUMENT', `tensor: expected a type (${typeNames.join(', ')}), found ${type}`);
}

export class Tensor {
  constructor(type, data, dims) {
    const Kind = arrayOfType(type);
    this.type = type;
    this.data = data instanceof Kind ? data : Kind.from(data);
    this.dims = Array.from(dims, Number);
    const count = this.dims.reduce((product, dim) => product * dim, 1);
    if (count !== this.data.length) {
      throw new EmberError(
        'INVALID_ARGUMENT',
        `tensor: expected ${count} elements for ${this.dims.join('x') || 'a scalar'}, found ${this.data.length}`);
    }
  }
}

// Returns the dims of an input that is given as an array: those of the module, with the only open
// extent computed from the number of elements.
function dimsFor(info, count) {
  const open = info.dims.filter((dim) => typeof dim !== 'number');
  const known = info.dims.reduce((product, dim) => (typeof dim === 'number' ? product * dim : product), 1);
  const signature = `${info.dims.join('x') || 'a scalar'} of ${info.type}`;
  if (open.length > 1) {
    throw new EmberError(
      'INVALID_ARGUMENT',
      `input '${info.name}': expected a Tensor with dims, as ${open.join(' and ')} of ${signature} are open, ` +
        'found an array');
  }
  const extent = open.length === 0 ? 1 : count / known;
  if (!Number.isInteger(extent) || known * extent !== count) {
    throw new EmberError('INVALID_ARGUMENT', `input '${info.name}': expected ${signature}, found ${count} elements`);
  }
  return info.dims.map((dim) => (typeof dim === 'number' ? dim : extent));
}

// Returns the tensor for one input of a run. `all` are the descriptions of all inputs.
export function tensorFor(info, inputs, all) {
  const value = inputs?.[info.name];
  if (value === undefined) {
    const found = Object.keys(inputs ?? {}).join(', ') || 'none';
    throw new EmberError(
      'INVALID_ARGUMENT', `inputs: expected ${all.map(({ name }) => name).join(', ')}, found ${found}`);
  }
  const Kind = arrayOfType(info.type);
  if (value instanceof Tensor || (value !== null && Array.isArray(value.dims))) return value;
  if (!(value instanceof Kind)) {
    throw new EmberError(
      'INVALID_ARGUMENT',
      `input '${info.name}': expected a ${Kind.name} or a Tensor, found ${value?.constructor?.name ?? value}`);
  }
  return { type: info.type, data: value, dims: dimsFor(info, value.length) };
}
