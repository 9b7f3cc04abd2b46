// Mouse, touch and keyboard.

let due = 0, stale = true;

// paint draws with the next frame; stale says that more than the pointer moved.
function paint(changed) {
  stale = stale || changed;
  if (!due) due = requestAnimationFrame(frame);
}

const WHOLE = 8000; // px; canvases have limits

const timings = []; // of the last frames, for measurements

function frame() {
  due = 0;
  if (!state.runs.length) return;
  const began = performance.now(), scroll = byID('scroll');
  const width = byID('stage').clientWidth;
  if (!width) return;
  state.width = width;
  state.left = width < 700 ? 110 : 210;
  // Two runs are as high as they are: the page scrolls, and nothing within it. Of a very high
  // picture only what is seen can be drawn.
  byID('stage').classList.toggle('whole', state.runs.length > 1 && state.height <= WHOLE);
  const height = Math.min(scroll.clientHeight || 10, state.height);
  byID('spacer').style.height = state.height + 'px';
  drawAxis(fit(byID('axis'), width, axisHeight()));
  const view = Math.min(state.height, Math.max(height, scroll.clientHeight));
  drawRows(fit(byID('lanes'), width, view), scroll.scrollTop, scroll.scrollTop + view);
  drawCurves(fit(byID('curves'), width, curvesHeight()));
  if (stale) { stale = false; windowChanged(); }
  timings.push(performance.now() - began);
  if (timings.length > 600) timings.shift();
}

// hit is what is at a place of the lanes: a row, and in it an event or a span.
function hit(x, y) {
  const row = rowAt(y + byID('scroll').scrollTop);
  if (!row) return null;
  if (row.type === 'heading' || row.type === 'run' || x < state.left) return { row };
  const run = row.run, list = eventsIn(row), t = timeAt(x), reach = 7 / scale();
  let best = -1, distance = reach;
  for (let n = lower(run.t, list, t - reach); n < list.length && run.t[list[n]] <= t + reach; n++) {
    const d = Math.abs(run.t[list[n]] - t) - (run.flags[list[n]] & (EVIDENCE | DECIDED) ? reach / 3 : 0);
    if (d <= distance) { distance = d; best = list[n]; }
  }
  if (row.type === 'points') {
    // The words after a point belong to it.
    if (best < 0) {
      const n = lower(run.t, list, t) - 1;
      if (n >= 0 && x - xOf(run.t[list[n]]) < 260 && list.length < 1e5) best = list[n];
    }
    return { row, event: best };
  }
  const within = spans => spans.find(s => s.from <= t && t <= Math.max(s.to, s.from + 2 / scale()));
  const inTaints = row.life.under.length && y + byID('scroll').scrollTop > row.y + LANE;
  const part = within(inTaints ? row.life.under : row.life.spans) || within(row.life.spans);
  return { row, event: best, part };
}

function tip(x, y) {
  const box = byID('tip'), found = state.hover && hit(x, y - axisHeight());
  let text = '';
  if (found && found.event >= 0) {
    const run = found.row.run, i = found.event, kind = run.kinds[run.kind[i]];
    text = `${clock(run.t[i])}  ${kind[ACTOR] || kind[SOURCE]}\n${what(run, i).slice(0, 300)}`;
  } else if (found && found.part) {
    const p = found.part;
    text = `${found.row.label}: ${p.label}\n${clock(p.from)} – ${clock(p.to)} (${span(p.to - p.from)})`;
  } else if (found && x < state.left && found.row.life) text = found.row.label;
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  const stage = byID('stage');
  box.style.left = Math.max(4, Math.min(x + 14, stage.clientWidth - box.offsetWidth - 6)) + 'px';
  box.style.top = Math.max(4, Math.min(y + 16, stage.clientHeight - box.offsetHeight - 6)) + 'px';
}

function pressed(found) {
  if (!found) return;
  const { row } = found;
  if (row.type === 'heading') {
    if (row.toggle) { state.open.set(row.toggle, !row.open); arrange(); paint(true); }
    return;
  }
  if (row.type === 'run') return;
  const key = keyRow(row);
  if (found.event >= 0) return select(row.run, { event: found.event, row: key });
  if (found.part) return select(row.run, { event: found.part.event, row: key });
  if (row.life && row.life.object) select(row.run, { object: row.life.object, row: key });
}

function listen() {
  const scroll = byID('scroll'), stage = byID('stage'), pointers = new Map();
  let drag = null;
  const place = e => { const box = stage.getBoundingClientRect(); return { x: e.clientX - box.left, y: e.clientY - box.top }; };
  const target = e => e.target.closest('#axis, #scroll, #curves');

  stage.addEventListener('pointerdown', e => {
    const part = target(e);
    if (!part || e.button) return;
    const p = place(e);
    pointers.set(e.pointerId, p);
    if (pointers.size === 1) drag = { from: state.from, to: state.to, x: p.x, y: p.y, moved: false, overview: part.id === 'axis' && p.y < OVERVIEW, axis: part.id === 'axis' };
    if (pointers.size === 2) drag = { pinch: [...pointers.values()], from: state.from, to: state.to, moved: true };
  });
  stage.addEventListener('pointermove', e => {
    const p = place(e);
    if (pointers.has(e.pointerId)) pointers.set(e.pointerId, p);
    if (drag && drag.pinch && pointers.size === 2) {
      const [a, b] = drag.pinch, [c, d] = [...pointers.values()], width = state.width - state.left;
      const per = (drag.to - drag.from) / width, spread = Math.max(Math.abs(c.x - d.x), 20) / Math.max(Math.abs(a.x - b.x), 20);
      const anchor = drag.from + ((a.x + b.x) / 2 - state.left) * per, next = per / spread;
      const from = anchor - ((c.x + d.x) / 2 - state.left) * next;
      state.moved = true;
      look(from, from + next * width);
      return;
    }
    if (drag && pointers.has(e.pointerId)) {
      if (!drag.moved && Math.abs(p.x - drag.x) < 4) return;
      if (!drag.moved) { drag.moved = true; try { stage.setPointerCapture(e.pointerId); } catch { /* the pointer has gone */ } }
      state.moved = true;
      if (drag.overview) {
        const [begin, end] = bounds(), per = (end - begin) / (state.width - state.left), a = begin + (drag.x - state.left) * per, b = begin + (p.x - state.left) * per;
        look(Math.min(a, b), Math.max(a, b));
      } else {
        const by = (drag.x - p.x) * (drag.to - drag.from) / (state.width - state.left);
        look(drag.from + by, drag.to + by);
      }
      byID('tip').hidden = true;
      return;
    }
    if (!target(e)) return;
    state.hover = p;
    tip(p.x, p.y);
    paint(false);
  });
  const up = e => {
    const p = place(e), was = drag;
    pointers.delete(e.pointerId);
    if (!pointers.size) drag = null;
    if (!was || was.moved || e.type === 'pointercancel') return;
    if (was.overview) {
      const [begin, end] = bounds(), t = begin + (p.x - state.left) / (state.width - state.left) * (end - begin), half = (state.to - state.from) / 2;
      state.moved = true;
      return look(t - half, t + half);
    }
    if (was.axis) {
      if (p.y > OVERVIEW + AXIS && state.runs.length === 1) {
        const run = state.runs[0], near = run.evidence.map(i => [Math.abs(xOf(run.t[i]) - p.x), i]).sort((a, b) => a[0] - b[0])[0];
        if (near && near[0] < 40) select(run, { event: near[1] });
      }
      return;
    }
    if (target(e) && target(e).id === 'scroll') pressed(hit(p.x, p.y - axisHeight()));
  };
  stage.addEventListener('pointerup', up);
  stage.addEventListener('pointercancel', up);
  stage.addEventListener('pointerleave', () => { state.hover = null; byID('tip').hidden = true; paint(false); });
  stage.addEventListener('dblclick', e => { const p = place(e); if (p.x > state.left) zoom(e.shiftKey ? 2 : 0.4, timeAt(p.x)); });
  stage.addEventListener('wheel', e => {
    const p = place(e);
    if (e.ctrlKey || e.metaKey) {
      e.preventDefault();
      zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) * 0.006), p.x > state.left ? timeAt(p.x) : undefined);
    } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      e.preventDefault();
      pan((e.deltaX || e.deltaY) / (state.width - state.left));
    }
  }, { passive: false });
  scroll.addEventListener('scroll', () => paint(false));
  new ResizeObserver(() => paint(true)).observe(stage);

  document.addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const typing = e.target.closest('input[type="search"], input[type="text"], select, textarea');
    if (e.key === 'Escape') {
      if (!byID('record').hidden) return void close();
      if (typing) { byID('search').value = ''; search(); scroll.focus(); }
      return;
    }
    if (typing) { if (e.key === 'Enter' && e.target.id === 'search') { e.preventDefault(); step(e.shiftKey ? -1 : 1); } return; }
    if (e.key === '/') { e.preventDefault(); return byID('search').focus(); }
    if (e.key === 'j' || e.key === 'J') return step(1);
    if (e.key === 'k' || e.key === 'K') return step(-1);
    if (e.key === 'm' || e.key === 'M') return state.selected && state.selected.event >= 0 ? marks.toggle(state.selected.run, state.selected.event) : say('Choose an event first, with J or K.');
    if (!e.target.closest('#scroll')) return;
    const act = {
      ArrowLeft: () => pan(-.1), ArrowRight: () => pan(.1), '+': () => zoom(.7), '=': () => zoom(.7), '-': () => zoom(1 / .7), 0: story, 9: () => look(...bounds()),
      ArrowDown: () => row(1), ArrowUp: () => row(-1), Home: () => look(bounds()[0], bounds()[0] + state.to - state.from), End: () => look(bounds()[1] - state.to + state.from, bounds()[1]),
      Enter: () => open(), s: toSymptom,
    }[e.key];
    if (act) { e.preventDefault(); act(); }
  });
}

// row chooses the next row with something in it, for those without a mouse.
function row(by) {
  const rows = state.rows.filter(r => r.type === 'life' || r.type === 'points');
  if (!rows.length) return;
  const at = rows.findIndex(r => state.selected && keyRow(r) === state.selected.row);
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by))];
  const list = eventsIn(next), run = next.run;
  let event = list.length ? list[Math.min(lower(run.t, list, state.from), list.length - 1)] : next.life.spans[0].event;
  if (event === undefined) event = 0;
  state.selected = { run, event, row: keyRow(next) };
  state.chain = chainOf(run, next.life ? next.life.object : run.object[event]);
  reveal(next);
  say(`${next.group}: ${next.label}, ${list.length} events. ${sentence(run, event)}`);
  paint(true);
}

// step chooses the next visible event, of the chosen row if there is one.
function step(by) {
  const chosen = state.selected, run = chosen ? chosen.run : state.runs[0];
  const line = chosen && chosen.row && state.rows.find(r => keyRow(r) === chosen.row && (r.life || r.key));
  const list = state.filter.words.length || !line ? run.shown : eventsIn(line);
  if (!list.length) return say('Nothing is found.');
  let n;
  if (chosen && chosen.event !== undefined) {
    n = lower(run.t, list, run.t[chosen.event]);
    while (n < list.length && list[n] < chosen.event) n++;
    if (by < 0 || list[n] === chosen.event) n += by;
  } else n = lower(run.t, list, state.from);
  n = Math.max(0, Math.min(list.length - 1, n));
  const i = list[n];
  if (run.t[i] < state.from || run.t[i] > state.to) { const half = (state.to - state.from) / 2; look(run.t[i] - half, run.t[i] + half); }
  select(run, { event: i, row: line ? chosen.row : undefined, quiet: byID('record').hidden });
}

function open() { if (state.selected) { select(state.selected.run, { ...state.selected, quiet: false }); byID('record').focus(); } }

function toSymptom() {
  const run = state.runs.find(r => symptom(r) !== null);
  if (!run) return;
  const width = Math.min(state.to - state.from, 20e6), at = symptom(run);
  state.moved = true;
  look(at - width / 2, at + width / 2);
  select(run, { event: run.evidence[run.evidence.length - 1], quiet: true });
}

function reveal(row) {
  const scroll = byID('scroll');
  if (row.y < scroll.scrollTop) scroll.scrollTop = row.y - HEADING;
  else if (row.y + row.height > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = row.y + row.height - scroll.clientHeight + HEADING;
}

const say = text => { byID('say').textContent = text; };
