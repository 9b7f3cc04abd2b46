'use strict';
(() => {
  const form = document.getElementById('find'), rows = [...document.querySelectorAll('#failures > li')];
  const [text, system, component, release] = ['text', 'system', 'component', 'release'].map(id => document.getElementById(id));
  const keys = { text, system, component, release };
  function show() {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const own = row.dataset.text.toLowerCase();
      row.hidden = !(words.every(w => own.includes(w)) && (!system.value || row.dataset.system === system.value) &&
        (!component.value || row.dataset.component === component.value) &&
        (!release.value || row.dataset.releases.split(' ').includes(release.value)));
      if (!row.hidden) shown++;
    }
    document.getElementById('shown').textContent = shown < rows.length ? `${shown} of ${rows.length}` : '';
    const chosen = Object.entries(keys).filter(([, of]) => of.value).map(([key, of]) => [key, of.value]);
    history.replaceState(null, '', chosen.length ? '#' + new URLSearchParams(chosen) : location.pathname + location.search);
  }
  // A link can name what to find: index.html#release=karpenter%40v1.6.4
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) if (keys[key]) keys[key].value = value;
  form.addEventListener('input', show);
  form.addEventListener('submit', event => event.preventDefault());
  document.addEventListener('keydown', event => {
    if (event.key === '/' && document.activeElement !== text) { event.preventDefault(); text.focus(); }
    if (event.key === 'Escape') { text.value = ''; show(); }
  });
  show();
})();
