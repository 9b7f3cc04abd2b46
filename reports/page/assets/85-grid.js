// The events and the log lines of the window: tables of any length, of which
// only the visible rows exist.

const ROW = 22, TALLEST = 8e6; // browsers draw no higher

const grid = {
  logs: false, run: null, component: 0, from: 0, to: 0, rows: 0,

  source() { return this.run && this.run.components && this.run.components[this.component]; },

  update() {
    this.run = state.runs[Number(byID('which').value) || 0] || state.runs[0];
    const run = this.run, log = this.source(), within = (t, list) => [lower(t, list, state.from), lower(t, list, state.to)];
    [this.from, this.to] = within(run.t, run.shown);
    byID('count-records').textContent = number(this.to - this.from);
    let lines = [0, 0];
    if (log) { log.order ||= Uint32Array.from(log.t, (_, i) => i); lines = log.timeless ? [0, log.t.length] : within(log.t, log.order); }
    byID('count-logs').textContent = log ? number(lines[1] - lines[0]) : '';
    byID('tab-logs').hidden = !run.components || !run.components.length;
    if (this.logs) [this.from, this.to] = lines;
    this.rows = this.to - this.from;
    this.listed = run.shown;
    const box = byID('grid');
    box.setAttribute('aria-rowcount', this.rows);
    box.setAttribute('aria-label', this.logs ? 'Log lines' : 'Events');
    byID('filler').style.height = Math.min(this.rows * ROW, TALLEST) + 'px';
    this.draw();
  },

  // first is the first visible row: in a table that is too high for a browser the
  // place of the scroll bar counts.
  first() {
    const box = byID('grid'), height = this.rows * ROW;
    if (height <= TALLEST) return Math.floor(box.scrollTop / ROW);
    return Math.round(box.scrollTop / Math.max(TALLEST - box.clientHeight, 1) * (this.rows - Math.floor(box.clientHeight / ROW)));
  },

  draw() {
    if (!this.run || this.run.shown !== this.listed) return; // an update is due
    const box = byID('grid'), filler = byID('filler'), first = Math.max(0, Math.min(this.first(), this.rows - 1)), n = Math.ceil(box.clientHeight / ROW) + 1;
    const rows = [], exact = this.rows * ROW <= TALLEST, log = this.source();
    for (let k = first; k < Math.min(first + n, this.rows); k++) {
      const row = this.logs ? this.line(log, this.from + k) : this.record(this.run.shown[this.from + k]);
      row.style.top = (exact ? k * ROW : box.scrollTop + (k - first) * ROW) + 'px';
      row.setAttribute('aria-rowindex', k + 1);
      rows.push(row);
    }
    if (!this.rows) rows.push(el('div', { class: 'empty' }, this.logs ? 'No line of this log in the window.' : 'No event in the window. Zoom out, or change what is shown.'));
    filler.replaceChildren(...rows);
  },

  record(i) {
    const run = this.run, kind = run.kinds[run.kind[i]], bad = run.flags[i] & BAD ? ' bad' : '';
    const on = state.selected && state.selected.run === run && state.selected.event === i ? ' on' : '';
    return el('div', { class: 'row' + on, role: 'row', 'data-event': i, onclick: () => select(run, { event: i }) },
      el('span', { role: 'cell', class: 'seq' }, el('button', { tabindex: -1, 'aria-pressed': String(marks.has(run, i)), title: 'Mark it for a symptom', onclick: e => { e.stopPropagation(); marks.toggle(run, i); } }, run.seq[i])),
      el('span', { role: 'cell', class: 'at' }, clock(run.t[i])), el('span', { role: 'cell', class: 'source' }, kind[SOURCE]),
      el('span', { role: 'cell', class: 'actor' }, kind[ACTOR]), el('span', { role: 'cell', class: 'what' + bad }, what(run, i).slice(0, 600)));
  },

  line(log, i) {
    const text = clean(log.text.get(i)).slice(0, 2000), bad = /^[EF]\d{4} |"level":"(error|fatal)"/i.test(text) ? ' bad' : '';
    return el('div', { class: 'row', role: 'row' }, el('span', { role: 'cell', class: 'at' }, clock(log.t[i])),
      el('span', { role: 'cell', class: 'day', title: 'time of day, as in the line' }, log.timeless ? '' : dayTime(this.run, log.t[i])), el('span', { role: 'cell', class: 'what' + bad }, text));
  },

  // mark shows the chosen event in the table, if it is there.
  mark() {
    const chosen = state.selected;
    if (this.logs || !chosen || chosen.run !== this.run || !(chosen.event >= 0) || this.run.shown !== this.listed) return;
    const list = this.run.shown;
    let n = lower(this.run.t, list, this.run.t[chosen.event]);
    while (n < this.to && list[n] < chosen.event) n++;
    const box = byID('grid'), k = n - this.from;
    if (list[n] === chosen.event && k >= 0 && k < this.rows && this.rows * ROW <= TALLEST && (k * ROW < box.scrollTop || (k + 1) * ROW > box.scrollTop + box.clientHeight)) box.scrollTop = Math.max(0, k * ROW - box.clientHeight / 2);
    this.draw();
  },

  choose(logs) {
    this.logs = logs;
    byID('tab-records').setAttribute('aria-selected', String(!logs));
    byID('tab-logs').setAttribute('aria-selected', String(logs));
    byID('tab-records').tabIndex = logs ? -1 : 0;
    byID('tab-logs').tabIndex = logs ? 0 : -1;
    byID('component').hidden = !logs;
    byID('grid').scrollTop = 0;
    this.components();
    this.update();
  },

  components() {
    const list = (this.run || state.runs[0]).components || [], select = byID('component');
    const fresh = list.map((c, n) => el('option', { value: n }, c.name + (c.note ? ` (${c.note})` : '')));
    const own = list.findIndex(c => c.name === (this.run || state.runs[0]).run.autoscaler);
    select.replaceChildren(...fresh);
    if (!this.chosen) this.component = Math.max(own, 0);
    select.value = String(this.component);
  },

  listen() {
    byID('grid').addEventListener('scroll', () => this.draw());
    byID('tab-records').addEventListener('click', () => this.choose(false));
    byID('tab-logs').addEventListener('click', () => this.choose(true));
    for (const id of ['tab-records', 'tab-logs']) byID(id).addEventListener('keydown', e => { if (e.key === 'ArrowLeft' || e.key === 'ArrowRight') { const other = id === 'tab-records' ? 'tab-logs' : 'tab-records'; byID(other).focus(); byID(other).click(); } });
    byID('component').addEventListener('change', e => { this.component = Number(e.target.value); this.chosen = true; this.update(); });
    byID('which').addEventListener('change', () => { this.update(); this.components(); this.update(); });
  },
};

// windowChanged follows the picture.
let waiting = 0;
function windowChanged() {
  clearTimeout(waiting);
  waiting = setTimeout(() => grid.update(), 30);
}
