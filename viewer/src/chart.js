// Lines over time (or iterations), with a mark at the present one that can be dragged.

// One look at the style sheet for every change of theme.
let theme = null, known = {};
function style(name) {
  if (theme !== document.documentElement.dataset.theme) {
    theme = document.documentElement.dataset.theme;
    known = {};
  }
  return (known[name] ??= read(name));
}
const read = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// About `count` round numbers from low to high.
function ticks(low, high, count) {
  const rough = (high - low) / count;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((m) => m * power >= rough) * power;
  const list = [];
  for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step; v += step) list.push(Math.abs(v) < 1e-9 * step ? 0 : v);
  return list;
}

export const short = (v) => (Number.isFinite(v) ? String(+v.toPrecision(4)) : "–");

export class Chart {
  // pick(index) is called when the user points at a place.
  constructor(canvas, pick) {
    this.canvas = canvas;
    this.lines = [];
    this.x = [];
    this.at = 0;
    this.log = false;
    const point = (e) => {
      const box = canvas.getBoundingClientRect();
      const u = (e.clientX - box.left - this.left) / (box.width - this.left - this.right);
      pick(this.nearest(this.x[0] + u * (this.x[this.x.length - 1] - this.x[0])));
    };
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      point(e);
    });
    canvas.addEventListener("pointermove", (e) => e.buttons && point(e));
  }

  nearest(x) {
    let low = 0, high = this.x.length - 1;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.x[mid] < x) low = mid + 1;
      else high = mid;
    }
    return low > 0 && x - this.x[low - 1] < this.x[low] - x ? low - 1 : low;
  }

  // lines: [{name, y, color}]; log: powers of ten apart, when all is positive.
  set(x, lines, log = false) {
    this.x = x;
    this.lines = lines;
    this.log = log && lines.every((l) => l.y.every((v) => v > 0));
    this.picture = null;
    let low = Infinity, high = -Infinity;
    for (const { y } of lines) for (let i = 0; i < y.length; i++) {
      const v = this.log ? Math.log10(y[i]) : y[i];
      if (Number.isFinite(v)) {
        low = Math.min(low, v);
        high = Math.max(high, v);
      }
    }
    if (!(low < high)) {
      const middle = Number.isFinite(low) ? low : 0;
      low = middle - (Math.abs(middle) || 1);
      high = middle + (Math.abs(middle) || 1);
    }
    const air = 0.06 * (high - low);
    this.low = low - air;
    this.high = high + air;
    this.draw();
  }

  mark(at) {
    this.at = at;
    this.draw();
  }

  left = 52;
  right = 10;

  // The lines are drawn once, the mark over them each time.
  draw() {
    const { canvas } = this;
    const w = canvas.clientWidth, h = canvas.clientHeight, ratio = window.devicePixelRatio || 1;
    if (!w || !h || !this.x.length) return;
    if (!this.picture || this.drawn !== `${w} ${h} ${ratio} ${style("--ink")}`) {
      this.drawn = `${w} ${h} ${ratio} ${style("--ink")}`;
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
      this.picture = document.createElement("canvas");
      this.picture.width = canvas.width;
      this.picture.height = canvas.height;
      this.drawLines(this.picture.getContext("2d"), w, h, ratio);
    }
    const c = canvas.getContext("2d");
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, canvas.width, canvas.height);
    c.drawImage(this.picture, 0, 0);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    const x = this.px(this.x[this.at] ?? 0, w);
    c.strokeStyle = style("--soft");
    c.beginPath();
    c.moveTo(x, 4);
    c.lineTo(x, h - 16);
    c.stroke();
    for (const { y, color } of this.lines) {
      const v = this.log ? Math.log10(y[this.at]) : y[this.at];
      if (!Number.isFinite(v)) continue;
      c.fillStyle = color;
      c.beginPath();
      c.arc(x, this.py(v, h), 3, 0, 7);
      c.fill();
    }
  }

  px(x, w) {
    const first = this.x[0], last = this.x[this.x.length - 1];
    return this.left + ((x - first) / (last - first || 1)) * (w - this.left - this.right);
  }

  py(v, h) {
    return 4 + ((this.high - v) / (this.high - this.low)) * (h - 22);
  }

  drawLines(c, w, h, ratio) {
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.font = "11px system-ui, sans-serif";
    c.fillStyle = style("--soft");
    c.strokeStyle = style("--line");
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (const v of ticks(this.low, this.high, 3)) {
      if (this.log && v % 1) continue;
      const y = this.py(v, h);
      c.beginPath();
      c.moveTo(this.left, y);
      c.lineTo(w - this.right, y);
      c.stroke();
      c.fillText(this.log ? `1e${v}` : short(v), this.left - 6, y);
    }
    c.textAlign = "center";
    c.textBaseline = "bottom";
    for (const v of ticks(this.x[0], this.x[this.x.length - 1], Math.max(2, w / 110))) c.fillText(short(v), this.px(v, w), h);
    for (const { y, color } of this.lines) this.drawLine(c, y, color, w, h);
  }

  drawLine(c, y, color, w, h) {
    c.strokeStyle = color;
    c.lineWidth = 1.6;
    c.lineJoin = "round";
    c.beginPath();
    let pen = false;
    for (let i = 0; i < y.length; i++) {
      const v = this.log ? Math.log10(y[i]) : y[i];
      if (!Number.isFinite(v)) {
        pen = false;
        continue;
      }
      const px = this.px(this.x[i], w), py = this.py(v, h);
      if (pen) c.lineTo(px, py);
      else c.moveTo(px, py);
      pen = true;
    }
    c.stroke();
  }
}
