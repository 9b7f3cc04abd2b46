// How a run travels: see encode.go.

const byID = id => document.getElementById(id);

// resources are what the vocabulary of histories has of each, by name, in the order of
// their rows.
const resources = new Map(JSON.parse(byID('resources').textContent).map(r => [r.name, r]));

// el makes an element; text is text and never markup.
function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) e.setAttribute(name, value === true ? '' : value);
  }
  e.append(...children.filter(c => c !== undefined && c !== null && c !== ''));
  return e;
}

// clean shows what does not print, and what changes the writing direction, as
// its code.
const unprintable = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const clean = text => String(text).replace(unprintable, c => {
  const code = c.charCodeAt(0);
  return c === '\n' ? '\\n' : c === '\t' ? '\\t' : code < 256 ? '\\x' + code.toString(16).padStart(2, '0') : '\\u' + code.toString(16).padStart(4, '0');
});

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

async function unzip(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// section is a packed part of a run, or null if there is none.
async function section(name, index, revision) {
  if (document.body.dataset.live) {
    const answer = await fetch(`data/${name}?revision=${revision}`);
    if (answer.status === 204) return null;
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    return unzip(new Uint8Array(await answer.arrayBuffer()));
  }
  const holder = byID(`${name}-${index}`);
  if (!holder) return null;
  const text = holder.textContent;
  holder.remove();
  return unzip(fromBase64(text));
}

// Columns reads what packer wrote.
class Columns {
  constructor(bytes) { this.bytes = bytes; this.at = 0; this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength); }

  take() {
    const length = this.view.getUint32(this.at, true), from = this.at + 4;
    this.at = from + length;
    return this.bytes.subarray(from, this.at);
  }

  // numbers reads a column of n; signed undoes zigzag, sum adds up differences.
  numbers(out, signed, sum) {
    const bytes = this.take();
    let p = 0, last = 0;
    for (let i = 0; i < out.length; i++) {
      let b = bytes[p++], v = b & 127, m = 128;
      while (b > 127) { b = bytes[p++]; v += (b & 127) * m; m *= 128; }
      if (signed) v = v % 2 ? -(v + 1) / 2 : v / 2;
      out[i] = sum ? (last += v) : v;
    }
    return out;
  }

  // texts reads n texts, which are decoded when they are asked for.
  texts(n) {
    const lengths = this.numbers(new Uint32Array(n)), bytes = this.take(), ends = new Float64Array(n + 1);
    for (let i = 0; i < n; i++) ends[i + 1] = ends[i] + lengths[i];
    return new Texts(bytes, ends);
  }
}

const decoder = new TextDecoder();

class Texts {
  constructor(bytes, ends) { this.bytes = bytes; this.ends = ends; this.length = ends.length - 1; }

  get(i) { return decoder.decode(this.bytes.subarray(this.ends[i], this.ends[i + 1])); }

  // having marks the texts that contain a word in lower case. It looks through
  // large pieces at once: a decode of each text would take seconds.
  having(word) {
    const marks = new Uint8Array(this.length), piece = 1 << 20;
    const pattern = new RegExp(word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi');
    for (let from = 0; from < this.length;) {
      let to = from + 1;
      while (to < this.length && this.ends[to + 1] - this.ends[from] < piece) to++;
      const text = decoder.decode(this.bytes.subarray(this.ends[from], this.ends[to]));
      if (pattern.test(text)) {
        if (text.length === this.ends[to] - this.ends[from]) { // ASCII: places are bytes
          pattern.lastIndex = 0;
          for (let hit, i = from; (hit = pattern.exec(text));) {
            const place = this.ends[from] + hit.index;
            while (this.ends[i + 1] <= place) i++;
            if (place + hit[0].length <= this.ends[i + 1]) marks[i] = 1;
          }
        } else {
          for (let i = from; i < to; i++) { pattern.lastIndex = 0; if (pattern.test(this.get(i))) marks[i] = 1; }
        }
      }
      pattern.lastIndex = 0;
      from = to;
    }
    return marks;
  }
}
