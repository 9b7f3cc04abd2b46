// Reading the runs, the controls, and beginning.

function search() {
  state.filter.words = byID('search').value.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 8);
  refilter();
  const n = state.runs.reduce((sum, run) => sum + run.shown.length, 0);
  byID('found').textContent = state.filter.words.length ? `${number(n)} found` + (state.runs.some(r => !r.details) ? ' (details are still being read)' : '') : '';
}

function refilter() {
  for (const run of state.runs) run.show(state.filter);
  arrange();
  paint(true);
}

const SOURCES = ['step', 'fault', 'log', 'cloud', 'node', 'api', 'harness', 'clock'];

function chips() {
  const counts = new Map();
  for (const run of state.runs) {
    const of = new Float64Array(run.kinds.length);
    for (let i = 0; i < run.n; i++) if (!(run.flags[i] & NOISE)) of[run.kind[i]]++;
    run.kinds.forEach((k, n) => { if (of[n]) counts.set(k[SOURCE], (counts.get(k[SOURCE]) || 0) + of[n]); });
  }
  const names = [...counts.keys()].sort((a, b) => (SOURCES.indexOf(a) + 99) % 99 - (SOURCES.indexOf(b) + 99) % 99);
  byID('chips').replaceChildren(...names.slice(0, 12).map(name => {
    const box = el('input', { type: 'checkbox', checked: !state.filter.hidden.has(name), 'data-source': name, onchange: e => { state.filter.hidden[e.target.checked ? 'delete' : 'add'](name); refilter(); } });
    return el('label', { class: 'chip' }, box, `${name} ${number(counts.get(name))}`);
  }));
}

function setLook(look) {
  state.look = look;
  document.documentElement.dataset.look = look;
  readColors();
  paint(true);
}

// kept is what a person chose before, where a browser remembers it.
const kept = { get() { try { return localStorage.getItem('nodestorm-look'); } catch { return null; } }, set(look) { try { localStorage.setItem('nodestorm-look', look); } catch { /* it does not */ } } };

function forPaper() {
  const look = state.look;
  document.documentElement.dataset.look = 'light';
  readColors();
  const drawn = picture(1100, 2400);
  document.documentElement.dataset.look = look;
  readColors();
  return drawn;
}

function controls() {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  setLook(kept.get() || (dark.matches ? 'dark' : 'light'));
  dark.addEventListener('change', e => { if (!kept.get()) setLook(e.matches ? 'dark' : 'light'); });
  byID('look').addEventListener('click', () => { setLook(state.look === 'dark' ? 'light' : 'dark'); kept.set(state.look); });
  let typing = 0;
  byID('search').addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(search, 120); });
  byID('noise').addEventListener('change', e => { state.filter.noise = e.target.checked; refilter(); });
  const moved = act => () => { state.moved = true; act(); };
  byID('in').addEventListener('click', () => zoom(.5));
  byID('out').addEventListener('click', () => zoom(2));
  byID('story').addEventListener('click', moved(story));
  byID('all').addEventListener('click', moved(() => look(...bounds())));
  byID('symptom').addEventListener('click', toSymptom);
  byID('save').addEventListener('click', () => {
    const file = new Blob([new XMLSerializer().serializeToString(forPaper())], { type: 'image/svg+xml' });
    const link = el('a', { href: URL.createObjectURL(file), download: `${state.runs[0].run.id || 'nodestorm'}.svg` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  byID('overview').addEventListener('click', e => {
    const button = e.target.closest('.event'), run = button && state.runs[Number(button.dataset.run)];
    const i = run ? run.bySeq(Number(button.dataset.seq)) : -1;
    if (i >= 0) select(run, { event: i });
  });
  window.addEventListener('beforeprint', () => { byID('print').replaceChildren(forPaper()); for (const d of document.querySelectorAll('details')) { d.dataset.was = d.open ? '1' : ''; d.open = true; } });
  window.addEventListener('afterprint', () => { byID('print').replaceChildren(); for (const d of document.querySelectorAll('details')) d.open = d.dataset.was === '1'; });
}

async function read(revision) {
  const live = Boolean(document.body.dataset.live), decode = new TextDecoder(), found = [];
  for (let index = 0; index < 2; index++) {
    const head = await section('head', index, revision);
    if (!head) break;
    found.push({ head: JSON.parse(decode.decode(head)), core: await section('core', index, revision) });
    if (live) break;
  }
  return found.map((f, index) => new Run(index, f.head, f.core, found.length > 1));
}

async function readRest(runs, revision) {
  for (const run of runs) run.read(await section('details', run.index, revision), await section('logs', run.index, revision));
}

function begin(runs) {
  const first = !state.runs.length;
  state.runs = runs;
  state.selected = first ? null : again(state.selected);
  state.chain = state.selected ? chainOf(state.selected.run, state.selected.run.object[state.selected.event] || 0) : [];
  chips();
  byID('which').replaceChildren(...runs.map((r, n) => el('option', { value: n }, r.run.target || r.run.id)));
  byID('which').hidden = runs.length < 2;
  byID('symptom').hidden = !runs.some(r => symptom(r) !== null);
  byID('loading').hidden = true;
  search();
  if (first || !state.moved) story();
}

// again finds what was chosen in a run that has grown since.
function again(chosen) {
  if (!chosen || !(chosen.event >= 0)) return null;
  const run = state.runs[0], event = run.bySeq(chosen.run.seq[chosen.event]);
  return event < 0 ? null : { run, event, row: chosen.row };
}

// renew replaces what a part of the page says, if it says anything new. What is
// open stays open, and the focus where it is.
function renew(part, now) {
  const open = new Set([...part.querySelectorAll('details[open] > summary')].map(e => e.textContent));
  for (const e of now.querySelectorAll('details > summary')) e.parentNode.open = open.has(e.textContent);
  if (part.isEqualNode(now)) return;
  const focused = part.contains(document.activeElement) ? document.activeElement.textContent : null;
  part.replaceChildren(...now.childNodes);
  if (focused !== null) [...part.querySelectorAll('button, summary, a')].find(e => e.textContent === focused)?.focus();
}

// textOf is the page without a picture, as nodestorm writes it of a state of the run.
// A request for a document, other than a parser of text, makes no script of it.
const textOf = revision => new Promise((done, fail) => {
  const request = new XMLHttpRequest();
  request.open('GET', `./?revision=${revision}`);
  request.responseType = 'document';
  request.addEventListener('load', () => request.response ? done(request.response) : fail(new Error(`the page: ${request.status}`)));
  request.addEventListener('error', () => fail(new Error('the page cannot be read')));
  request.send();
});

async function follow() {
  byID('live').hidden = false;
  let reading = false, wanted = null;
  const next = async () => {
    if (reading || wanted === null) return;
    reading = true;
    const revision = wanted;
    wanted = null;
    try {
      const page = await textOf(revision), runs = await read(revision);
      await readRest(runs, revision);
      for (const part of ['#overview', '.tables', '.crumb']) renew(document.querySelector(part), page.querySelector(part));
      document.title = page.title;
      if (runs.length) { begin(runs); grid.components(); grid.update(); }
      if (runs.length && !runs[0].run.live) byID('live').hidden = true;
      document.body.dataset.revision = revision;
    } catch (error) { byID('loading').textContent = String(error); }
    reading = false;
    next();
  };
  const source = new EventSource('events'); // it connects again by itself
  source.addEventListener('open', () => { byID('live').textContent = 'live'; byID('live').classList.remove('lost'); });
  source.addEventListener('message', e => { wanted = e.data; next(); });
  source.addEventListener('ended', () => { source.close(); byID('live').hidden = true; });
  source.addEventListener('error', () => { byID('live').textContent = 'nodestorm does not answer; this is its last state'; byID('live').classList.add('lost'); });
}

async function main() {
  controls();
  listen();
  grid.listen();
  marks.listen();
  if (document.body.dataset.live) return follow();
  const runs = await read();
  begin(runs);
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  document.body.dataset.drawn = String(Math.round(performance.now()));
  await readRest(runs);
  grid.choose(false);
  search();
  document.body.dataset.ready = String(Math.round(performance.now()));
}

window.nodestorm = { state, timings, zoom, pan, look, story, select, hit, xOf, picture };
main().catch(error => { byID('loading').hidden = false; byID('loading').textContent = 'The events cannot be shown: ' + error.message; throw error; });
