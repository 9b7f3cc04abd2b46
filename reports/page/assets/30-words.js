// Times and events in words.

const pad = (n, width) => String(n).padStart(width, '0');

// clock is a time as hours:minutes:seconds, with as many decimals as a step of
// the axis needs.
function clock(us, decimals = 3) {
  const sign = us < 0 ? '−' : '', unit = 10 ** (6 - decimals);
  let n = Math.round(Math.abs(us) / unit);
  const per = 10 ** decimals, fraction = n % per;
  n = Math.floor(n / per);
  return sign + Math.floor(n / 3600) + ':' + pad(Math.floor(n / 60) % 60, 2) + ':' + pad(n % 60, 2) + (decimals ? '.' + pad(fraction, decimals) : '');
}

function span(us) {
  const s = us / 1e6;
  if (s < 0.001) return Math.round(us) + ' µs';
  if (s < 1) return (us / 1e3).toPrecision(3) + ' ms';
  if (s < 60) return s.toFixed(s < 10 ? 2 : 1) + ' s';
  if (s < 3600) return Math.floor(s / 60) + ' min ' + Math.round(s % 60) + ' s';
  return Math.floor(s / 3600) + ' h ' + Math.round(s % 3600 / 60) + ' min';
}

const number = n => n.toLocaleString('en');

function value(v) {
  if (typeof v === 'string') return clean(v);
  if (Array.isArray(v)) return v.map(value).join(', ');
  if (v && typeof v === 'object') return typeof v.name === 'string' && Object.keys(v).length <= 2 ? clean(v.namespace ? v.namespace + '/' + v.name : v.name) : Object.entries(v).map(([k, x]) => clean(k) + ' ' + value(x)).join(', ');
  return String(v);
}

const items = v => Array.isArray(v) ? v : []; // a history may say anything

const role = { Context: 'Given', Action: 'When', Outcome: 'Then' };

// brief is an event in a few words, for a picture.
function brief(run, i) {
  const kind = run.kinds[run.kind[i]], facts = run.facts(i), name = run.objects[run.object[i]][2];
  switch (kind[SOURCE]) {
    case 'log': if (!facts.message) return [kind[VERB], name, ...Object.keys(facts).sort().map(k => k + ' ' + value(facts[k]))].filter(Boolean).join(' ');
      return value(facts.message) + (facts.NodeClaim ? ' ' + value(facts.NodeClaim) : facts.Pods ? ': ' + value(facts.Pods) : '');
    case 'step': return `${role[facts.kind] || ''} ${value(facts.text || '')}`.trim();
    case 'cloud': return [kind[VERB], name, facts.asked ? `${items(facts.instances).length} of ${value(facts.asked)}` : '', ...items(facts.messages).map(value), kind[CODE] || '', facts.dryRun ? '' : value(facts.error || '')].filter(Boolean).join(' ');
  }
  const taints = [...items(facts.added).map(t => '+' + value(t)), ...items(facts.removed).map(t => '−' + value(t))].join(' ');
  return [kind[VERB], kind[SUBRESOURCE] || '', name, kind[CODE] >= 300 ? kind[CODE] : '', taints, kind[SOURCE] === 'api' && facts.reason ? value(facts.reason) : ''].filter(Boolean).join(' ');
}

// what is an event in one line: what happened to what, and the facts.
function what(run, i) {
  const kind = run.kinds[run.kind[i]], facts = { ...run.facts(i) };
  let words;
  if (kind[SOURCE] === 'step') words = [kind[VERB], role[facts.kind], value(facts.text || '')];
  else if (kind[SOURCE] === 'log') words = facts.message ? [facts.level, value(facts.message)] : [kind[VERB], run.nameOf(run.object[i])];
  else words = [kind[VERB], run.nameOf(run.object[i]), kind[SUBRESOURCE] && `(${kind[SUBRESOURCE]})`, kind[CODE]];
  for (const key of ['text', 'kind', 'level', 'message', 'subresource', 'agent']) if (kind[SOURCE] === 'step' || kind[SOURCE] === 'log' || key === 'subresource' || key === 'agent') delete facts[key];
  const rest = Object.keys(facts).sort().map(key => clean(key) + '=' + value(facts[key]));
  return [...words, ...rest].filter(Boolean).join(' ');
}
