'use strict';
(() => {
  const box = document.getElementById('filter'), odd = document.getElementById('odd');
  const rows = [...document.querySelectorAll('tbody tr')];
  function filter() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const own = row.dataset.text.toLowerCase();
      let any = false;
      for (const cell of row.querySelectorAll('td[data-text]')) {
        const text = own + ' ' + cell.dataset.text.toLowerCase();
        const is = words.every(w => text.includes(w)) && (!odd.checked || !cell.classList.contains('good'));
        cell.classList.toggle('dim', !is);
        any = any || is;
      }
      row.hidden = !any && (words.length > 0 || odd.checked);
      if (!row.hidden) shown++;
    }
    document.getElementById('shown').textContent = shown < rows.length ? `${shown} of ${rows.length}` : '';
  }
  box.addEventListener('input', filter);
  odd.addEventListener('change', filter);
})();
