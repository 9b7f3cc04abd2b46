// Marks on events, of which nodestorm symptom makes a symptom.

const marks = {
  run: -1, seqs: new Set(),

  has(run, i) { return this.run === run.index && this.seqs.has(run.seq[i]); },

  // toggle marks an event or takes its mark away. Marks are of one run: one in the other run begins anew.
  toggle(run, i) {
    if (this.run !== run.index) this.seqs.clear();
    this.run = run.index;
    const seq = run.seq[i], gone = this.seqs.delete(seq);
    if (!gone) this.seqs.add(seq);
    this.show();
    grid.draw();
    if (!byID('record').hidden && state.selected && state.selected.event === i) byID('record').querySelector('.tick')?.setAttribute('aria-pressed', String(!gone));
    say(`Event ${seq} is ${gone ? 'not marked any more' : 'marked'}. ${this.seqs.size} ${this.seqs.size === 1 ? 'mark' : 'marks'} in all.`);
  },

  clear() { this.seqs.clear(); this.show(); grid.draw(); say('No event is marked.'); },

  // folder is where the run lies, if the page lies in it: a page from a server does not know.
  folder() {
    const path = location.protocol === 'file:' && /^(.*)\/report\.html$/.exec(decodeURIComponent(location.pathname));
    if (!path || state.runs.length > 1) return 'RUN';
    return /^[\w@%+=:,./-]+$/.test(path[1]) ? path[1] : `'${path[1].replaceAll("'", `'\\''`)}'`;
  },

  command() {
    const run = state.runs.find(r => r.index === this.run);
    const order = [...this.seqs].sort((a, b) => run.bySeq(a) - run.bySeq(b)); // of time, as the events are
    return `nodestorm symptom ${this.folder()} --lines ${order.join(',')}`;
  },

  show() {
    const n = this.seqs.size;
    byID('marks').hidden = !n;
    byID('count-marks').textContent = n === 1 ? '1 mark: set one more at least' : `${n} marks`;
    byID('command').value = n ? this.command() : '';
  },

  listen() {
    byID('unmark').addEventListener('click', () => this.clear());
    byID('command').addEventListener('focus', e => e.target.select());
    byID('copy').addEventListener('click', () => {
      byID('command').select();
      say(document.execCommand('copy') ? 'The command is copied.' : 'The browser copies nothing: the command is selected.');
    });
  },
};
