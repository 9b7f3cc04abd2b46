// Drawing. All of it goes through a pen, which is a canvas or, for paper and for
// files, an SVG: see pen.

const colors = {};

function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['paper', 'panel', 'ink', 'soft', 'faint', 'line', 'wash', 'accent', 'mark', ...TONES, ...TONES.map(t => t + '-fill')]) colors[name] = style.getPropertyValue('--' + name).trim();
}

const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", Arial, sans-serif';
const MONO = 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';

// fit makes a canvas as large as it is shown, and returns its context.
function fit(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
  }
  const pen = canvas.getContext('2d', { alpha: false });
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = colors.panel;
  pen.fillRect(0, 0, width, height);
  pen.textBaseline = 'middle';
  return pen;
}

// widths of characters, per font: measuring each text each time is slow.
const widths = new Map();

function clip(pen, text, room) {
  if (room < 14 || !text) return '';
  let per = widths.get(pen.font);
  if (!per) { per = pen.measureText('abcdefghijklmnopqrstuvwxyz0123456789-').width / 37; widths.set(pen.font, per); }
  if (text.length * per * 0.6 > room || pen.measureText(text).width > room) {
    let keep = Math.min(text.length, Math.ceil(room / per));
    while (keep > 0 && pen.measureText(text.slice(0, keep) + '…').width > room) keep--;
    return keep > 1 ? text.slice(0, keep) + '…' : '';
  }
  return text;
}

function write(pen, text, x, y, color, font, room = Infinity) {
  pen.font = font;
  const part = room === Infinity ? text : clip(pen, text, room);
  if (!part) return 0;
  pen.fillStyle = color;
  pen.fillText(part, x, y);
  return pen.measureText(part).width;
}

function line(pen, x1, y1, x2, y2, color, width = 1, dash = []) {
  pen.strokeStyle = color;
  pen.lineWidth = width;
  pen.setLineDash(dash);
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
  pen.setLineDash([]);
}

function dot(pen, x, y, r, color, hollow) {
  pen.beginPath();
  pen.arc(x, y, r, 0, 7);
  if (hollow) { pen.strokeStyle = color; pen.lineWidth = 1.5; pen.stroke(); } else { pen.fillStyle = color; pen.fill(); }
}

function badge(pen, x, y, n) {
  dot(pen, x, y, 8, colors.wrong);
  pen.font = `600 10.5px ${SANS}`;
  pen.fillStyle = colors.panel;
  pen.textAlign = 'center';
  pen.fillText(String(n), x, y + 0.5);
  pen.textAlign = 'left';
}

// ticks are the times to name, about one in 110 px.
function ticks() {
  const room = (state.to - state.from) / Math.max((state.width - state.left) / 110, 1);
  const steps = [];
  for (let p = 1; p < 1e6; p *= 10) steps.push(p, 2 * p, 5 * p);
  for (const s of [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400]) steps.push(s * 1e6);
  let step = steps.find(s => s >= room);
  if (!step) step = Math.ceil(room / 86400e6) * 86400e6;
  const decimals = step >= 1e6 ? 0 : Math.min(6, 6 - Math.floor(Math.log10(step)));
  const list = [];
  for (let t = Math.ceil(state.from / step) * step; t <= state.to && list.length < 200; t += step) list.push(t);
  return { list, decimals };
}

const OVERVIEW = 26, AXIS = 26, STRIP = 24;
const axisHeight = () => OVERVIEW + AXIS + STRIP;

function drawAxis(pen) {
  const { width, left } = state, [begin, end] = bounds();
  const full = t => left + (t - begin) / (end - begin) * (width - left);
  const columns = Math.max(Math.floor((width - left) / 2), 1), counts = density(columns, begin, end);
  const most = Math.log1p(Math.max(...counts, 1));
  pen.fillStyle = colors.wash;
  pen.fillRect(left, 0, width - left, OVERVIEW);
  pen.fillStyle = colors.faint;
  counts.forEach((n, i) => { if (n) { const h = 3 + Math.log1p(n) / most * (OVERVIEW - 7); pen.fillRect(left + i * 2, OVERVIEW - 2 - h, 1.5, h); } });
  const x1 = Math.max(full(state.from), left), x2 = Math.min(Math.max(full(state.to), x1 + 3), width);
  pen.globalAlpha = 0.16; pen.fillStyle = colors.accent; pen.fillRect(x1, 0, x2 - x1, OVERVIEW); pen.globalAlpha = 1;
  line(pen, x1 + .5, 0, x1 + .5, OVERVIEW, colors.accent); line(pen, x2 - .5, 0, x2 - .5, OVERVIEW, colors.accent);
  write(pen, 'all ' + span(end - begin), 10, OVERVIEW / 2 + 1, colors.soft, `11.5px ${SANS}`, left - 20);

  const { list, decimals } = ticks(), base = OVERVIEW + AXIS / 2 + 1;
  write(pen, `window ${span(state.to - state.from)}`, 10, base, colors.soft, `11.5px ${SANS}`, left - 20);
  for (const t of list) {
    const x = Math.round(xOf(t)) + .5;
    line(pen, x, OVERVIEW + AXIS - 5, x, OVERVIEW + AXIS, colors.faint);
    pen.textAlign = 'center';
    const label = (state.runs.length > 1 && t > 0 ? '+' : '') + clock(t, decimals);
    if (x > left + 24 && x < width - 24) write(pen, label, x, base, colors.soft, `11.5px ${MONO}`);
    pen.textAlign = 'left';
  }
  line(pen, 0, OVERVIEW + AXIS + .5, width, OVERVIEW + AXIS + .5, colors.line);
  drawMarks(pen, OVERVIEW + AXIS, STRIP);
}

// density are how many visible events there are in each column. The one of all
// the time is kept.
function density(columns, begin, end) {
  const key = state.runs.map(r => r.shown);
  if (state.density && state.density.columns === columns && state.density.begin === begin && state.density.end === end && key.every((k, i) => k === state.density.key[i])) return state.density.counts;
  const counts = new Array(columns).fill(0);
  for (const run of state.runs) {
    for (let i = 0, at = 0; i < columns; i++) {
      const next = lower(run.t, run.shown, begin + (i + 1) * (end - begin) / columns, at);
      counts[i] += (i === columns - 1 ? run.shown.length : next) - at;
      at = next;
    }
  }
  state.density = { key, columns, begin, end, counts };
  return counts;
}

// drawMarks shows the evidence as numbers, and the symptom's moment.
function drawMarks(pen, y, height) {
  pen.fillStyle = colors.panel;
  line(pen, 0, y + height - .5, state.width, y + height - .5, colors.line);
  for (const run of state.runs) {
    const at = symptom(run);
    if (at !== null && at >= state.from && at <= state.to) {
      const x = xOf(at), text = 'symptom ' + clock(at - run.shift);
      pen.font = `600 11.5px ${SANS}`;
      const w = pen.measureText(text).width + 12, from = x - w > state.left ? x - w : x;
      pen.fillStyle = colors['wrong-fill'];
      pen.fillRect(from, y + 3, w, height - 6);
      write(pen, text, from + 6, y + height / 2 + .5, colors.wrong, `600 11.5px ${SANS}`);
      line(pen, x, y + 3, x, y + height, colors.wrong, 1.5);
      pen.symptomFrom = from;
    }
    const differs = run.decisions[run.firstDifference];
    if (differs) {
      const x = xOf(differs.t);
      if (x > state.left && x < state.width) { line(pen, x, y, x, y + height, colors.accent, 1.5); write(pen, '≠', x + 3, y + height / 2, colors.accent, `700 13px ${SANS}`); }
    }
  }
  let right = -Infinity;
  const run = state.runs[0], last = state.runs.length === 1 ? symptom(run) : null;
  const list = state.runs.length === 1 ? run.evidence : [];
  write(pen, list.length ? 'what shows it' : '', 10, y + height / 2, colors.soft, `11.5px ${SANS}`);
  list.forEach((i, n) => {
    const x = xOf(run.t[i]);
    if (x < state.left || x > state.width || run.t[i] === last) return;
    const place = Math.max(x, right + 17);
    if (pen.symptomFrom !== undefined && place > pen.symptomFrom - 10) return;
    if (place !== x) line(pen, x, y + height - 1, place, y + height / 2 + 7, colors.wrong, .75); else line(pen, x, y + height / 2 + 8, x, y + height, colors.wrong, .75);
    badge(pen, place, y + height / 2, n + 1);
    right = place;
  });
  pen.symptomFrom = undefined;
}

// drawRows draws the rows between two heights, the first at offset.
function drawRows(pen, from, to) {
  const { width, left } = state, { list } = ticks();
  for (const t of list) { const x = Math.round(xOf(t)) + .5; if (x > left) line(pen, x, 0, x, to - from, colors.wash); }
  pen.textBaseline = 'middle';
  const wanted = chainObjects();
  const first = rowAt(from);
  for (let n = first ? state.rows.indexOf(first) : state.rows.length; n < state.rows.length; n++) {
    const row = state.rows[n];
    if (row.y >= to) break;
    drawRow(pen, row, row.y - from, wanted);
  }
  line(pen, left - .5, 0, left - .5, to - from, colors.line);
  for (const run of state.runs) {
    const own = state.rows.filter(r => r.run === run);
    if (!own.length) continue; // nothing is found
    const last = own[own.length - 1], at = symptom(run), differs = run.decisions[run.firstDifference];
    const mark = (x, color, dash) => { if (x >= left && x <= width) line(pen, x, own[0].y - from, x, last.y + last.height - from, color, 1, dash); };
    if (at !== null) mark(xOf(at), colors.wrong);
    if (differs) mark(xOf(differs.t), colors.accent, [4, 3]);
  }
  drawLinks(pen, from, to);
  if (state.hover && state.hover.x > left) line(pen, state.hover.x, 0, state.hover.x, to - from, colors.faint, 1, [2, 3]);
}

function drawRow(pen, row, y, wanted) {
  const { width, left } = state, middle = y + LANE / 2;
  switch (row.type) {
    case 'run':
      pen.fillStyle = colors.wash;
      pen.fillRect(0, y, width, row.height);
      write(pen, row.label, 10, y + row.height / 2 + 1, colors.ink, `650 13.5px ${SANS}`, width - 20);
      return;
    case 'heading':
      line(pen, 0, y + .5, width, y + .5, colors.line);
      write(pen, (row.toggle ? (row.open ? '▾ ' : '▸ ') : '') + row.label + (row.count > 1 ? '  ' + number(row.count) : ''), 10, y + row.height / 2 + 1, colors.soft, `600 11.5px ${SANS}`, left - 20);
      return;
  }
  const chosen = state.selected && state.selected.row === keyRow(row), linked = row.life && row.life.object && wanted.has(row.run.index + ':' + row.life.object);
  if (chosen || linked) { pen.fillStyle = colors.mark; pen.globalAlpha = chosen ? .8 : .45; pen.fillRect(0, y, left - 1, row.height); pen.globalAlpha = 1; }
  write(pen, row.label, 20, middle + .5, colors.ink, `12px ${row.life && row.group !== 'Steps' ? MONO : SANS}`, left - 28);
  if (row.type === 'life') drawLife(pen, row, y);
  else drawPoints(pen, row, y);
}

const keyRow = row => row.run.index + ':' + (row.life ? row.group + row.life.object + row.life.label : row.key);

function drawLife(pen, row, y) {
  const run = row.run, list = eventsIn(row), { left, width } = state, steps = row.group === 'Steps';
  const from = lower(run.t, list, state.from), to = lower(run.t, list, state.to, from);
  const badges = [];
  if (!steps) for (let n = from; n < to && badges.length < 100; n++) {
    const number = run.flags[list[n]] & EVIDENCE ? run.evidence.indexOf(list[n]) + 1 : 0, x = xOf(run.t[list[n]]);
    if (number && run.object[list[n]] === row.life.object && !(badges.length && x - badges[badges.length - 1].x < 15)) badges.push({ x, number });
  }
  drawSpans(pen, row.life.spans, y + 3, LANE - 6, badges);
  if (row.life.under.length) drawTaints(pen, row.life.under, y + LANE - 1, TAINTS - 3);
  if (steps) return;
  for (let n = from, last = -9; n < to; n++) {
    const x = xOf(run.t[list[n]]);
    if (x < left || x - last < 2 && !(run.flags[list[n]] & BAD)) continue;
    last = x;
    pen.globalAlpha = .55;
    pen.fillStyle = run.flags[list[n]] & BAD ? colors.wrong : colors.ink;
    pen.fillRect(x - .5, y + LANE - 7, 1.25, 4);
    pen.globalAlpha = 1;
  }
  for (const b of badges) if (b.x >= left && b.x <= width) badge(pen, b.x, y + LANE / 2, b.number);
}

function drawSpans(pen, spans, y, height, badges) {
  const { left, width } = state, merge = Math.max(2 / scale(), 0);
  let from = 0, to = spans.length;
  while (from < to) { const middle = (from + to) >> 1; if (spans[middle].to < state.from) from = middle + 1; else to = middle; }
  for (let n = from; n < spans.length && spans[n].from <= state.to; n++) {
    let s = spans[n];
    if (s.to - s.from < merge) { // several within two pixels are one
      let last = n;
      while (last + 1 < spans.length && spans[last + 1].to - s.from < merge) last++;
      s = { ...spans[last], from: s.from };
      n = last;
    }
    const x1 = Math.max(xOf(s.from), left), x2 = Math.min(Math.max(xOf(s.to), x1 + 1.5), width + 2);
    if (x2 < left) continue;
    pen.fillStyle = colors[s.tone + '-fill'];
    pen.fillRect(x1, y, x2 - x1, height);
    pen.fillStyle = colors[s.tone];
    pen.fillRect(x1, y, Math.min(2, x2 - x1), height);
    // The words stand between the badges.
    let start = x1 + 6, stop = x2 - 4;
    for (const b of badges) {
      if (b.x + 10 < start || b.x - 10 > stop) continue;
      if (b.x - 10 - start < 44) start = Math.max(start, b.x + 12); else { stop = b.x - 10; break; }
    }
    write(pen, s.label, start, y + height / 2 + .5, colors[s.tone], `11.5px ${SANS}`, stop - start);
  }
}

// drawTaints shows a node's taints, without the domain that most have.
function drawTaints(pen, spans, y, height) {
  const { left, width } = state;
  for (const s of spans) {
    if (s.to < state.from || s.from > state.to || !s.label) continue;
    const x1 = Math.max(xOf(s.from), left), x2 = Math.min(xOf(s.to), width + 2);
    if (x2 - x1 < .75) continue;
    const hard = s.label.includes('NoExecute');
    line(pen, x1, y + .5, x2, y + .5, hard ? colors.wrong : colors.waiting, 1.5);
    line(pen, x1 + .5, y, x1 + .5, y + 4, hard ? colors.wrong : colors.waiting, 1);
    write(pen, s.label.replaceAll('node.kubernetes.io/', '').replaceAll('node.cloudprovider.kubernetes.io/', ''), x1 + 4, y + height / 2 + 2, hard ? colors.wrong : colors.waiting, `10.5px ${SANS}`, x2 - x1 - 6);
  }
}

// drawPoints draws a row's events: each by itself with its words where there is
// room, and how many there are where there is not.
function drawPoints(pen, row, y) {
  const run = row.run, list = eventsIn(row), { left, width } = state, middle = y + row.height / 2;
  const from = lower(run.t, list, state.from - 12 / scale()), to = lower(run.t, list, state.to, from);
  if (to - from > (width - left) / 3) {
    const step = 3, counts = [];
    let most = 1;
    for (let x = left, at = from; x < width; x += step) {
      const next = lower(run.t, list, timeAt(x + step), at, to);
      counts.push(next - at);
      if (next - at > most) most = next - at;
      at = next;
    }
    pen.fillStyle = colors.neutral;
    counts.forEach((n, i) => { if (n) { const h = Math.max(2, Math.log1p(n) / Math.log1p(most) * (row.height - 5)); pen.fillRect(left + i * step, y + row.height - 2 - h, step - .75, h); } });
    return;
  }
  let right = left - 9;
  for (let n = from; n < to;) {
    // Those within a few pixels are drawn as one: the one that says most.
    const x = xOf(run.t[list[n]]);
    let last = n, best = list[n], nth = 0;
    for (; last < to && xOf(run.t[list[last]]) - x < 7; last++) {
      const i = list[last], number = run.flags[i] & EVIDENCE ? run.evidence.indexOf(i) + 1 : 0;
      if (number && !nth || !nth && weight(run, i) > weight(run, best)) { best = i; nth = number; }
    }
    const flags = run.flags[best], kind = run.kinds[run.kind[best]], more = last - n - 1;
    const color = flags & BAD ? colors.wrong : flags & DECIDED ? colors.accent : flags & NOISE ? colors.faint : colors.neutral;
    if (x >= left - 4) {
      if (nth) badge(pen, x, middle, nth);
      else dot(pen, x, middle, flags & DECIDED ? 4.5 : 3.2, color, kind[VERB] === 'delete' || kind[VERB].startsWith('DELETE'));
    }
    const next = last < to ? xOf(run.t[list[last]]) - (run.flags[list[last]] & EVIDENCE ? 12 : 8) : width, start = Math.max(x + (nth ? 12 : 8), right);
    if (next - start > 36 && start >= left) {
      const count = more ? ` +${more}` : '', room = next - start - 4;
      pen.font = `11.5px ${SANS}`;
      const extra = count ? pen.measureText(count).width : 0;
      let at = start + write(pen, brief(run, best), start, middle + .5, colors.ink, `11.5px ${SANS}`, room - extra);
      if (count) at += write(pen, count, at, middle + .5, colors.soft, `11.5px ${SANS}`, next - at);
      right = at + 6;
    }
    n = last;
  }
}

// weight is how much an event says, for those that share a place.
const weight = (run, i) => (run.flags[i] & DECIDED ? 4 : 0) + (run.flags[i] & BAD ? 2 : 0) + (run.flags[i] & NOISE ? -1 : 0);

// drawLinks joins what belongs to what is selected.
function drawLinks(pen, from, to) {
  const chain = state.chain;
  if (!chain || chain.length < 2) return;
  let before = null;
  for (const { run, object } of chain) {
    const row = state.rows.find(r => r.run === run && r.life && r.life.object === object && !beside.has(r.group));
    if (!row) continue;
    const here = { x: Math.min(Math.max(xOf(row.life.spans[0].from), state.left), state.width), y: row.y - from + LANE / 2 };
    if (before && before.y !== here.y) {
      pen.strokeStyle = colors.accent;
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.moveTo(before.x, before.y);
      const bend = Math.max(30, Math.abs(here.x - before.x) / 2);
      pen.bezierCurveTo(before.x + bend, before.y, here.x - bend, here.y, here.x, here.y);
      pen.stroke();
      dot(pen, here.x, here.y, 3, colors.accent);
    }
    before = here;
  }
}

// charts are the curves that share a picture.
const charts = [
  { title: 'Pods', names: ['pods pending', 'pods running'], tones: ['waiting', 'good'] },
  { title: 'Machines', names: ['machines asked for', 'target size', 'instances', 'Nodes', 'Nodes Ready'], tones: ['accent', 'accent', 'wrong', 'neutral', 'good'] },
  { title: 'Rounds', names: ['round'], tones: ['accent'] },
  { title: 'Clock factor', names: ['clock factor'], tones: ['neutral'] },
  { title: 'Timer lag', names: ['timer lag'], tones: ['waiting'] },
  { title: 'Node-hours', names: ['node-hours'], tones: ['neutral'] },
  { title: 'Cost an hour', names: ['cost an hour'], tones: ['accent'] },
  { title: 'Cost', names: ['cost'], tones: ['accent'] },
];
const CHART = 58;
const shownCharts = () => charts.filter(c => state.runs.some(r => r.curves.some(k => c.names.includes(k.name) && k.at.length)));
const curvesHeight = () => shownCharts().length * CHART + 6;

function drawCurves(pen) {
  const { width, left } = state;
  pen.textBaseline = 'middle';
  const { list } = ticks(), height = curvesHeight();
  for (const t of list) { const x = Math.round(xOf(t)) + .5; if (x > left) line(pen, x, 0, x, height, colors.wash); }
  line(pen, 0, .5, width, .5, colors.line);
  shownCharts().forEach((chart, n) => drawChart(pen, chart, n * CHART));
  line(pen, left - .5, 0, left - .5, height, colors.line);
  for (const run of state.runs) { const at = symptom(run); if (at !== null && xOf(at) > left) line(pen, xOf(at), 0, xOf(at), height, colors.wrong, 1); }
  if (state.hover && state.hover.x > left) line(pen, state.hover.x, 0, state.hover.x, height, colors.faint, 1, [2, 3]);
}

// valueAt is a curve's value at a time.
function valueAt(curve, t) {
  let from = 0, to = curve.at.length;
  while (from < to) { const middle = (from + to) >> 1; if (curve.at[middle] <= t) from = middle + 1; else to = middle; }
  if (!from) return 0;
  if (!curve.straight || from === curve.at.length) return curve.value[from - 1];
  const part = (t - curve.at[from - 1]) / (curve.at[from] - curve.at[from - 1]);
  return curve.value[from - 1] + part * (curve.value[from] - curve.value[from - 1]);
}

const figure = (v, unit) => (/^[€$]/.test(unit) ? unit[0] + ' ' + v.toFixed(v < 1 ? 4 : 2) + unit.slice(1) : unit === 'h' ? v.toFixed(v < 10 ? 3 : 1) + ' h' : unit === 'x' ? v.toFixed(v < 10 ? 1 : 0) + '×' : unit === 'ms' ? v.toFixed(v < 10 ? 1 : 0) + ' ms' : number(Math.round(v * 100) / 100) + (unit ? ' ' + unit : ''));

function drawChart(pen, chart, y) {
  const { width, left } = state, top = y + 8, bottom = y + CHART - 6;
  const curves = [];
  for (const run of state.runs) for (const c of run.curves) { const n = chart.names.indexOf(c.name); if (n >= 0 && c.at.length) curves.push({ c, run, tone: chart.tones[n] }); }
  line(pen, 0, y + CHART - .5, width, y + CHART - .5, colors.wash);
  let most = 0;
  for (const curve of curves) {
    curve.path = outline(curve.c, curve.run);
    for (const [, , high] of curve.path) if (high > most) most = high;
  }
  most = most || 1;
  const up = v => bottom - v / most * (bottom - top);
  const at = state.hover && state.hover.x > left ? timeAt(state.hover.x) : null;
  write(pen, chart.title, 10, y + 13, colors.soft, `600 11.5px ${SANS}`, left - 20);
  const named = curves.filter(c => c.run === state.runs[0] || state.runs.length > 1);
  named.slice(0, 4).forEach((c, n) => {
    const v = at === null ? c.path.length ? c.path[c.path.length - 1][3] : 0 : valueAt(c.c, at);
    const label = state.runs.length < 2 ? c.c.name : (c.run.index ? 'right ' : 'left ') + (chart.names.length > 1 ? c.c.name : '');
    const half = (left - 20) / 2, x = 10 + (n % 2) * half, line = y + 28 + Math.floor(n / 2) * 14;
    if (chart.names.length === 1 && state.runs.length === 1) write(pen, figure(v, c.c.unit), 10, y + 29, colors[c.tone], `11px ${SANS}`, left - 20);
    else write(pen, `${figure(v, c.c.unit)} ${short(label)}`, x, line, colors[c.tone], `11px ${SANS}`, half - 4);
  });
  if (left > 150) { // on a telephone there is room for the title only
    pen.textAlign = 'right';
    write(pen, figure(most, curves[0].c.unit), left - 8, y + 13, colors.faint, `10.5px ${SANS}`);
    pen.textAlign = 'left';
  }
  for (const { path, tone, c, run } of curves) {
    pen.strokeStyle = colors[tone];
    pen.lineWidth = 1.5;
    pen.setLineDash(run.index ? [4, 3] : []);
    pen.beginPath();
    let first = true;
    for (const [x, low, high, last, start] of path) {
      if (first) { pen.moveTo(x, up(start)); first = false; } else pen.lineTo(x, up(start));
      if (low !== high) { pen.lineTo(x, up(high)); pen.lineTo(x, up(low)); }
      pen.lineTo(x, up(last));
    }
    pen.stroke();
    pen.setLineDash([]);
  }
}

const short = name => ({ 'pods pending': 'pending', 'pods running': 'running', 'machines asked for': 'asked', 'target size': 'target', 'Nodes Ready': 'Ready', 'left pods pending': 'pending ━', 'left pods running': 'running ━', 'right pods pending': 'pending ╌', 'right pods running': 'running ╌' }[name] || name.replace('left ', '━ ').replace('right ', '╌ ').replace('machines asked for', 'asked').replace('Nodes Ready', 'Ready'));

// outline is a curve in the window, a point a pixel: [x, low, high, last, value
// before].
function outline(curve, run) {
  const { at, value } = curve, { left, width } = state, path = [];
  const begin = Math.max(state.from, Math.min(at[0], run.begin)), end = Math.min(state.to, run.end);
  if (begin > end) return path;
  let i = 0, to = at.length;
  while (i < to) { const middle = (i + to) >> 1; if (at[middle] <= begin) i = middle + 1; else to = middle; }
  let last = valueAt(curve, begin);
  path.push([Math.max(xOf(begin), left), last, last, last, last]);
  while (i < at.length && at[i] <= end) {
    const x = xOf(at[i]), edge = timeAt(Math.floor(x) + 1), before = curve.straight ? value[i] : last;
    let low = Math.min(before, value[i]), high = Math.max(before, value[i]);
    do { last = value[i]; if (last < low) low = last; if (last > high) high = last; i++; } while (i < at.length && at[i] < edge && at[i] <= end);
    path.push([x, low, high, last, before]);
  }
  const stop = curve.straight ? valueAt(curve, end) : last;
  path.push([xOf(end), stop, stop, stop, stop]);
  return path;
}
