// SvgPen takes what a canvas's context takes, as far as drawing needs it, and
// makes an SVG of it: sharp on paper, and a file to keep.

const SVG = 'http://www.w3.org/2000/svg';
const ruler = document.createElement('canvas').getContext('2d');
const round = n => Math.round(n * 100) / 100;

class SvgPen {
  constructor(width, height) {
    this.root = this.node('svg', { xmlns: SVG, viewBox: `0 0 ${width} ${height}`, width, height });
    this.group = this.root;
    this.globalAlpha = 1; this.dash = []; this.textAlign = 'left'; this.font = '12px sans-serif'; this.path = '';
    this.fillStyle = colors.panel;
    this.fillRect(0, 0, width, height);
  }

  node(name, attributes) {
    const e = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    return e;
  }

  add(name, attributes) {
    if (this.globalAlpha < 1) attributes.opacity = this.globalAlpha;
    const e = this.node(name, attributes);
    this.group.append(e);
    return e;
  }

  // part begins a part of the picture, moved and cut.
  part(y, width, height) {
    const id = `part-${y}`;
    const cut = this.node('clipPath', { id });
    cut.append(this.node('rect', { x: 0, y: 0, width, height }));
    this.group = this.node('g', { transform: `translate(0 ${y})`, 'clip-path': `url(#${id})` });
    this.root.append(cut, this.group);
  }

  fillRect(x, y, width, height) { if (width > 0 && height > 0) this.add('rect', { x: round(x), y: round(y), width: round(width), height: round(height), fill: this.fillStyle }); }
  beginPath() { this.path = ''; }
  moveTo(x, y) { this.path += `M${round(x)} ${round(y)}`; }
  lineTo(x, y) { this.path += `L${round(x)} ${round(y)}`; }
  bezierCurveTo(...p) { this.path += 'C' + p.map(round).join(' '); }
  arc(x, y, r) { this.path += `M${round(x - r)} ${round(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`; }
  fill() { this.add('path', { d: this.path, fill: this.fillStyle }); }
  stroke() { this.add('path', { d: this.path, fill: 'none', stroke: this.strokeStyle, 'stroke-width': this.lineWidth, ...(this.dash.length ? { 'stroke-dasharray': this.dash.join(' ') } : {}) }); }
  setLineDash(dash) { this.dash = dash; }
  measureText(text) { ruler.font = this.font; return ruler.measureText(text); }

  fillText(text, x, y) {
    const [, weight, size, family] = /^(\d+ )?([\d.]+)px (.*)$/.exec(this.font) || [, '', '12', 'sans-serif'];
    const e = this.add('text', { x: round(x), y: round(y), fill: this.fillStyle, 'font-size': size, 'font-family': family, 'dominant-baseline': 'central', ...(weight ? { 'font-weight': weight.trim() } : {}), ...(this.textAlign === 'left' ? {} : { 'text-anchor': this.textAlign === 'center' ? 'middle' : 'end' }) });
    e.textContent = text;
  }
}

// picture is the window as an SVG, with at most so many rows' height.
function picture(width, most) {
  const kept = { width: state.width, left: state.left, hover: state.hover, density: state.density };
  Object.assign(state, { width, left: 190, hover: null, density: null });
  const height = Math.min(state.height, most), below = curvesHeight();
  const pen = new SvgPen(width, axisHeight() + height + below);
  pen.part(0, width, axisHeight());
  drawAxis(pen);
  pen.part(axisHeight(), width, height);
  drawRows(pen, 0, height);
  pen.part(axisHeight() + height, width, below);
  drawCurves(pen);
  Object.assign(state, kept);
  return pen.root;
}
