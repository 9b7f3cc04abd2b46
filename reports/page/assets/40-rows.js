// What is on the picture, and where.

const state = {
  runs: [], from: 0, to: 1, moved: false, hover: null,
  selected: null, // {run, event} or {run, object}
  filter: { hidden: new Set(), noise: false, words: [] },
  open: new Map(), // group → whether a person has opened or closed it
  rows: [], height: 0, width: 800, left: 200, look: 'light',
};

const MANY = 40; // lives of a group that is closed at first
const LANE = 22, TAINTS = 15, HEADING = 24, TITLE = 34;

// arrange makes the rows for what is visible.
function arrange() {
  const rows = state.rows = [];
  let y = 0;
  const add = (row, height) => { rows.push({ ...row, y, height }); y += height; };
  for (const run of state.runs) {
    if (state.runs.length > 1) add({ type: 'run', run, label: `${run.run.target} — ${run.run.verdict || 'no verdict'}` }, TITLE);
    const keys = new Set();
    for (const i of run.shown) for (const key of cached(run, run.kind[i])) keys.add(key);
    const actors = prefix => [...keys].filter(k => k.startsWith(prefix)).sort((a, b) => run.listOf(b).length - run.listOf(a).length || (a < b ? -1 : 1));
    const points = (group, list) => {
      if (!list.length) return;
      add({ type: 'heading', run, label: group }, HEADING);
      for (const { key, label } of list) add({ type: 'points', run, key, label, group }, LANE);
    };
    const lives = group => {
      const all = run.lives.filter(l => l.group === group && concerns(run, l));
      if (!all.length) return;
      const many = all.length > MANY, name = run.index + group;
      const open = state.open.get(name) ?? !many;
      add({ type: 'heading', run, label: group, count: all.length, toggle: name, open }, HEADING);
      if (!open) { add({ type: 'points', run, key: group === 'Faults' ? 'fault' : 'group ' + group, label: `${number(all.length)} of them`, group, crowd: all }, LANE + 8); return; }
      for (const life of all) add({ type: 'life', run, life, label: life.label, group }, LANE + (life.under.length ? TAINTS : 0));
    };
    lives('Steps');
    lives('Faults');
    lives('Interruptions');
    const decisions = run.listOf('decisions').length ? [{ key: 'decisions', label: 'decisions' }] : [];
    points('Autoscaler', [...decisions, ...actors('log ').map(key => ({ key, label: key.slice(4) + ' log' }))]);
    for (const { group, calls } of resources.values()) {
      if (group) lives(group);
      if (calls) points(calls, actors('cloud ').map(key => ({ key, label: key.slice(6) })));
    }
    points('API calls', actors('api ').map(key => ({ key, label: key.slice(4) || 'unknown' })));
    points('Other', actors('other ').map(key => ({ key, label: key.slice(6) })));
  }
  state.height = y + 6;
}

function cached(run, kind) {
  run.keys ||= run.kinds.map(keyOf);
  return run.keys[kind];
}

// concerns reports whether a life has to do with what is searched for.
function concerns(run, life) {
  const words = state.filter.words;
  if (!words.length) return true;
  const text = [life.label, ...life.spans.slice(0, 50).map(s => s.label), ...life.under.slice(0, 50).map(s => s.label)].join(' ').toLowerCase();
  if (words.every(word => text.includes(word))) return true;
  return life.object > 0 && run.eventsOf(life.object).some(i => run.visible[i]);
}

// eventsIn are the visible events that a row shows.
function eventsIn(row) {
  if (row.type === 'points') return row.run.listOf(row.key);
  if (row.type !== 'life') return new Uint32Array(0);
  if (!row.life.object) return row.run.listOf('step');
  if (beside.has(row.group)) return Uint32Array.from(row.life.spans, s => s.event).filter(i => row.run.visible[i]);
  const life = row.life, run = row.run;
  if (life.version !== run.shown) { life.version = run.shown; life.events = run.eventsOf(life.object).filter(i => run.visible[i]); }
  return life.events;
}

// rowAt is the row at a height of the picture.
function rowAt(y) {
  let from = 0, to = state.rows.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (state.rows[middle].y + state.rows[middle].height <= y) from = middle + 1; else to = middle;
  }
  return state.rows[from];
}

const scale = () => (state.width - state.left) / (state.to - state.from);
const xOf = t => state.left + (t - state.from) * scale();
const timeAt = x => state.from + (x - state.left) / scale();

function bounds() {
  let begin = Infinity, end = -Infinity;
  for (const run of state.runs) { begin = Math.min(begin, run.begin); end = Math.max(end, run.end); }
  return begin < end ? [begin, end] : [begin === Infinity ? 0 : begin - 1e6, (end === -Infinity ? 0 : end) + 1e6];
}

// look shows a window of time, not much beyond the run and no less than 20 µs.
function look(from, to) {
  const [begin, end] = bounds(), most = (end - begin) * 1.1 + 2;
  let width = Math.min(Math.max(to - from, 20), most);
  if (!Number.isFinite(width)) width = most;
  const middle = (from + to) / 2, reach = width / 2;
  const slack = Math.min((end - begin) * 0.05, reach);
  const centre = Math.min(Math.max(middle, begin + reach - slack - 1), Math.max(end - reach + slack + 1, begin + reach - slack - 1));
  state.from = centre - reach;
  state.to = centre + reach;
  paint(true);
}

const pan = part => { state.moved = true; const by = (state.to - state.from) * part; look(state.from + by, state.to + by); };
const zoom = (factor, at = (state.from + state.to) / 2) => { state.moved = true; look(at - (at - state.from) * factor, at + (state.to - at) * factor); };

function story() {
  let from = Infinity, to = -Infinity;
  for (const run of state.runs) { from = Math.min(from, run.focus[0]); to = Math.max(to, run.focus[1]); }
  look(from, to);
}

// dayTime is the virtual time of day, as the lines of logs have it; empty where it is not known.
const dayTime = (run, t) => (run.run.epoch ? new Date(Date.parse(run.run.epoch) + (t - run.shift) / 1000).toISOString().slice(11, 23) : '');

// symptom is when the documented symptom was there: the last of the evidence.
const symptom = run => run.run.verdict === 'reproduced' && run.evidence.length ? run.t[run.evidence[run.evidence.length - 1]] : null;
