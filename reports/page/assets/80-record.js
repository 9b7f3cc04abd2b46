// The panel of an event and what it is linked to.

const rank = (run, object) => resources.get(run.objects[object][0])?.stage;

// chainOf is the way from a pod to its machine that an object is part of: at each
// stage those that are linked, the object itself alone at its own.
function chainOf(run, object) {
  if (!object || !run.linked.has(object)) return [];
  const near = new Map([[object, 0]]), queue = [object];
  const own = rank(run, object);
  while (queue.length && near.size < 60) {
    const at = queue.shift(), place = rank(run, at);
    for (const { to } of run.linked.get(at) || []) {
      const next = rank(run, to);
      // Go on away from where it began: a Node's other pods are none of its chain.
      if (near.has(to) || next === own || Math.abs(next - own) < Math.abs(place - own)) continue;
      if (place !== own && Math.sign(next - own) !== Math.sign(place - own)) continue;
      near.set(to, near.get(at) + 1);
      queue.push(to);
    }
  }
  return [...near.keys()].sort((a, b) => rank(run, a) - rank(run, b) || a - b).map(o => ({ run, object: o }));
}

function chainObjects() {
  return new Set((state.chain || []).map(({ run, object }) => run.index + ':' + object));
}

function sentence(run, i) {
  const kind = run.kinds[run.kind[i]];
  return `${clock(run.t[i])} ${kind[ACTOR] || kind[SOURCE]}: ${what(run, i)}`;
}

// select chooses an event or an object, and shows it unless quiet.
function select(run, { event, object, row, quiet }) {
  const about = object || (event >= 0 ? run.object[event] || mentioned(run, event) : 0);
  const line = state.rows.find(r => r.run === run && r.life && r.life.object === about && !beside.has(r.group)) ||
    (event >= 0 && state.rows.find(r => r.run === run && r.key && cached(run, run.kind[event]).includes(r.key)));
  state.selected = { run, event, object, row: row || (line ? keyRow(line) : undefined) };
  state.chain = chainOf(run, about);
  const chosen = state.rows.find(r => keyRow(r) === state.selected.row && r.type !== 'heading' && r.type !== 'run');
  if (chosen) reveal(chosen);
  if (event >= 0) {
    const t = run.t[event];
    if (t < state.from || t > state.to) { const half = (state.to - state.from) / 2; look(t - half, t + half); }
    say(sentence(run, event));
  }
  if (!quiet) show(run, event, about);
  grid.mark();
  paint(true);
}

// mentioned is the first object that an event mentions in addition to its own.
function mentioned(run, event) {
  const list = run.mentions || [];
  for (let i = 0; i < list.length; i += 2) if (list[i] === event) return list[i + 1];
  return 0;
}

function close() {
  byID('record').hidden = true;
  document.body.classList.remove('reading');
  byID('scroll').focus({ preventScroll: true });
}

function show(run, event, object) {
  const box = byID('record'), parts = [el('button', { class: 'close', 'aria-label': 'Close', onclick: close }, '×')];
  if (event >= 0) {
    const kind = run.kinds[run.kind[event]], facts = run.facts(event), n = run.evidence.indexOf(event) + 1;
    parts.push(el('h3', {}, brief(run, event) || kind[VERB]));
    parts.push(el('button', { class: 'tick', 'aria-pressed': String(marks.has(run, event)), onclick: () => marks.toggle(run, event) }, 'Mark it for a symptom'));
    if (n) parts.push(el('p', { class: 'outcome' }, `No. ${n} of what shows the verdict`));
    const fields = [['virtual time', clock(run.t[event] - run.shift, 6)], ['time of day', dayTime(run, run.t[event])], ['recorded', run.real ? clock(run.real[event], 3) + ' of real time' : ''], ['record', 'No. ' + run.seq[event]],
      ['source', kind[SOURCE]], ['actor', kind[ACTOR]], ['verb', kind[VERB]], ['object', run.nameOf(run.object[event])], ['subresource', kind[SUBRESOURCE]], ['status', kind[CODE] || '']];
    parts.push(el('dl', {}, ...fields.filter(f => f[1] !== '').flatMap(([name, text]) => [el('dt', {}, name), el('dd', {}, text)])));
    if (Object.keys(facts).length) parts.push(el('pre', {}, clean(JSON.stringify(facts, null, 1)).replaceAll('\\n', '\n')));
    else if (!run.details) parts.push(el('p', { class: 'outcome' }, 'The details are still being read.'));
  } else if (object) parts.push(el('h3', {}, run.nameOf(object)));
  if (state.chain.length > 1) {
    parts.push(el('h4', {}, 'Linked to'), el('ol', { class: 'chain' }, ...state.chain.map(link => {
      const o = run.objects[link.object], life = run.lifeOf.get(link.object), last = life && life.spans[life.spans.length - 1];
      const whys = (run.linked.get(link.object) || []).filter(l => state.chain.some(c => c.object === l.to)).map(l => `${l.why}: ${run.objects[l.to][2]}`);
      return el('li', link.object === object ? { class: 'here' } : {},
        el('button', { onclick: () => toObject(run, link.object), 'data-object': run.nameOf(link.object) }, `${resources.get(o[0])?.word || o[0]} ${o[2]}`), el('small', {}, [last && last.label, ...whys.slice(0, 2)].filter(Boolean).join(' · ')));
    })));
  }
  if (object) {
    const all = run.eventsOf(object), list = all.length > 80 ? [...all].filter(i => !(run.flags[i] & NOISE)).slice(0, 80) : [...all];
    parts.push(el('h4', {}, `Events of ${run.objects[object][2]}` + (list.length < all.length ? ` (${list.length} of ${number(all.length)})` : '')),
      el('ul', { class: 'list' }, ...list.map(i => el('li', {}, el('button', { onclick: () => select(run, { event: i }) }, el('time', {}, clock(run.t[i])), ' ', `${run.kinds[run.kind[i]][ACTOR]} ${brief(run, i)}`)))));
  }
  box.replaceChildren(...parts);
  box.hidden = false;
  document.body.classList.add('reading');
  box.scrollTop = 0;
}

// toObject shows an object where its life begins, which may be out of the window.
function toObject(run, object) {
  const life = run.lifeOf.get(object), events = run.eventsOf(object);
  const event = life ? life.spans[0].event : events[0];
  if (life) {
    const group = run.index + life.group;
    if (!state.rows.some(r => r.life === life)) { state.open.set(group, true); arrange(); }
    const from = life.spans[0].from, to = life.spans[life.spans.length - 1].to;
    if (to < state.from || from > state.to) { const half = (state.to - state.from) / 2; look(from - half * .3, from + half * 1.7); }
  }
  select(run, { event, object });
}
