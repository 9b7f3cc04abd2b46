// A run in memory, with the indices that drawing needs.

const NOISE = 1, EVIDENCE = 2, DECIDED = 4, BAD = 8;
const SOURCE = 0, VERB = 1, ACTOR = 2, RESOURCE = 3, SUBRESOURCE = 4, CODE = 5, CALL = 6; // of a kind
const beside = new Set(['Faults', 'Interruptions']); // groups of lives that have a part of what another life has whole
const TONES = ['neutral', 'waiting', 'good', 'wrong', 'ending'];

// lower is the first index of list in [from, to) whose time is not before t.
function lower(times, list, t, from = 0, to = list.length) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (times[list[middle]] < t) from = middle + 1; else to = middle;
  }
  return from;
}

class Run {
  constructor(index, head, core, align) {
    Object.assign(this, head);
    this.index = index;
    const n = this.n = head.events, columns = new Columns(core);
    // Two runs are shown from their first When on.
    this.shift = align ? -head.origin : 0;
    this.t = columns.numbers(new Float64Array(n), true, true);
    this.kind = columns.numbers(new Uint32Array(n));
    this.object = columns.numbers(new Uint32Array(n));
    this.flags = columns.numbers(new Uint8Array(n));
    this.seq = columns.numbers(new Float64Array(n), true, true);
    if (this.shift) for (let i = 0; i < n; i++) this.t[i] += this.shift;
    this.begin += this.shift; this.end += this.shift;
    this.focus = head.focus.map(t => t + this.shift);
    this.lives = head.lives.map(l => this.life(l));
    this.lifeOf = new Map(this.lives.filter(l => l.object && !beside.has(l.group)).map(l => [l.object, l]));
    this.curves = (head.curves || []).map(c => this.curve(c));
    this.decisions = (head.decisions || []).map(d => ({ ...d, t: d.t + this.shift }));
    this.evidence = (head.run.evidence || []).map(seq => this.bySeq(seq)).filter(i => i >= 0);
    this.join();
  }

  life(l) {
    const spans = numbers => {
      const list = [];
      for (let i = 0; i < (numbers || []).length; i += 5) {
        list.push({ from: numbers[i] + this.shift, to: numbers[i + 1] + this.shift, tone: TONES[numbers[i + 2]], label: this.labels[numbers[i + 3]], event: numbers[i + 4] });
      }
      return list;
    };
    return { group: l.g, label: l.l, object: l.o || 0, spans: spans(l.s), under: spans(l.u) };
  }

  curve(c) {
    const at = new Float64Array(c.t.length);
    for (let i = 0, sum = this.shift; i < at.length; i++) at[i] = sum += c.t[i];
    return { name: c.name, unit: c.unit || '', straight: c.straight, at, value: Float64Array.from(c.v) };
  }

  bySeq(seq) {
    for (let i = 0; i < this.n; i++) if (this.seq[i] === seq) return i;
    return -1;
  }

  // join makes lists of the events of each object, and of what is linked to it.
  join() {
    const mentions = this.mentions || [], objects = this.objects.length;
    const start = this.start = new Uint32Array(objects + 2);
    for (let i = 0; i < this.n; i++) start[this.object[i] + 2]++;
    for (let i = 1; i < mentions.length; i += 2) start[mentions[i] + 2]++;
    for (let i = 2; i < start.length; i++) start[i] += start[i - 1];
    const list = this.about = new Uint32Array(this.n + mentions.length / 2);
    for (let i = 0; i < this.n; i++) list[start[this.object[i] + 1]++] = i;
    const late = new Set();
    for (let i = 0; i < mentions.length; i += 2) { list[start[mentions[i + 1] + 1]++] = mentions[i]; late.add(mentions[i + 1]); }
    for (const o of late) list.subarray(start[o], start[o + 1]).sort();
    this.linked = new Map();
    for (let i = 0; i < (this.links || []).length; i += 4) {
      const [a, b, why, event] = [this.links[i], this.links[i + 1], this.labels[this.links[i + 2]], this.links[i + 3]];
      for (const [from, to] of [[a, b], [b, a]]) {
        if (!this.linked.has(from)) this.linked.set(from, []);
        this.linked.get(from).push({ to, why, event });
      }
    }
  }

  eventsOf(object) { return this.about.subarray(this.start[object], this.start[object + 1]); }

  nameOf(object) { return this.objects[object].filter(Boolean).join('/'); }

  // read takes what only a click or a search asks for.
  read(details, logs) {
    if (details) {
      const columns = new Columns(details);
      this.detail = columns.numbers(new Uint32Array(this.n));
      this.real = columns.numbers(new Float64Array(this.n), true, true);
      let most = 0;
      for (let i = 0; i < this.n; i++) if (this.detail[i] > most) most = this.detail[i];
      this.details = columns.texts(most + 1);
      this.parsed = new Map();
    }
    if (logs) {
      const columns = new Columns(logs);
      this.components = (this.logs || []).map(table => {
        const t = columns.numbers(new Float64Array(table.lines), true, true);
        for (let i = 0, most = -Infinity; i < t.length; i++) { // a line of an instant before stays where it is
          most = t[i] = Math.max(most, t[i] + this.shift);
        }
        return { name: table.name, note: table.note, timeless: table.timeless, t, text: columns.texts(table.lines) };
      });
    }
  }

  // facts are an event's details; none before read.
  facts(i) {
    const id = this.detail ? this.detail[i] : 0;
    if (!id) return {};
    let facts = this.parsed.get(id);
    if (!facts) {
      try { facts = JSON.parse(this.details.get(id)); } catch { facts = {}; }
      if (this.parsed.size > 20000) this.parsed.clear();
      this.parsed.set(id, facts);
    }
    return facts;
  }

  // show decides which events are visible. The order of a run's events is that
  // of their times, so a list of all visible ones is sorted.
  show(filter) {
    const kinds = this.kinds.map(k => !filter.hidden.has(k[SOURCE]));
    let match = null;
    for (const word of filter.words) {
      const has = text => String(text).toLowerCase().includes(word);
      const kind = this.kinds.map(k => k.some(has)), object = this.objects.map(o => o.some(has));
      const detail = this.details ? this.details.having(word) : null;
      const next = new Uint8Array(this.n);
      for (let i = 0; i < this.n; i++) {
        if ((!match || match[i]) && (kind[this.kind[i]] || object[this.object[i]] || detail && detail[this.detail[i]])) next[i] = 1;
      }
      match = next;
    }
    this.visible = new Uint8Array(this.n);
    let count = 0;
    for (let i = 0; i < this.n; i++) {
      if (kinds[this.kind[i]] && (filter.noise || !(this.flags[i] & NOISE)) && (!match || match[i])) { this.visible[i] = 1; count++; }
    }
    this.shown = new Uint32Array(count);
    for (let i = 0, at = 0; i < this.n; i++) if (this.visible[i]) this.shown[at++] = i;
    this.lists = null;
  }

  // listOf are the visible events of a kind of row, by the row's key.
  listOf(key) {
    if (!this.lists) {
      const keys = this.kinds.map(keyOf), counts = new Map(), lists = this.lists = new Map();
      const add = (key, i) => {
        const list = lists.get(key);
        list[counts.get(key)] = i;
        counts.set(key, counts.get(key) + 1);
      };
      for (const i of this.shown) {
        for (const key of keys[this.kind[i]]) counts.set(key, (counts.get(key) || 0) + 1);
        if (this.flags[i] & DECIDED) counts.set('decisions', (counts.get('decisions') || 0) + 1);
      }
      for (const [key, n] of counts) { lists.set(key, new Uint32Array(n)); counts.set(key, 0); }
      for (const i of this.shown) {
        for (const key of keys[this.kind[i]]) add(key, i);
        if (this.flags[i] & DECIDED) add('decisions', i);
      }
    }
    return this.lists.get(key) || new Uint32Array(0);
  }
}

// keyOf are the rows that a kind of event is drawn in, in addition to its object's own.
function keyOf(kind) {
  const group = resources.get(kind[RESOURCE])?.group, keys = group ? ['group ' + group] : [];
  switch (kind[SOURCE]) {
    case 'api': keys.push('api ' + kind[ACTOR]); break;
    case 'cloud': if (kind[CALL]) keys.push('cloud ' + (kind[ACTOR] || kind[VERB])); break;
    case 'log': keys.push('log ' + kind[ACTOR]); break;
    case 'step': keys.push('step'); break;
    case 'fault': keys.push('fault'); break;
    case 'node': if (!keys.length) keys.push('other node'); break;
    default: keys.push('other ' + kind[SOURCE]);
  }
  return keys;
}
