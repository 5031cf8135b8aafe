// Pictures as an animated GIF: one palette for all, and of every picture only what changed.

const bits = 5; // of each colour in the histogram that the palette is made from

const cellOf = (r, g, b) => ((r >> (8 - bits)) << (2 * bits)) | ((g >> (8 - bits)) << bits) | (b >> (8 - bits));

function histogram(pictures) {
  const count = new Uint32Array(1 << (3 * bits));
  for (const { data } of pictures) for (let i = 0; i < data.length; i += 4) count[cellOf(data[i], data[i + 1], data[i + 2])]++;
  const cells = [];
  const mask = (1 << bits) - 1;
  count.forEach((n, c) => n && cells.push({ n, at: [c >> (2 * bits), (c >> bits) & mask, c & mask] }));
  return cells;
}

// Median cut: the box with the most pixels times its longest side is halved until there are enough.
function palette(pictures, size) {
  const measure = (cells) => {
    const low = [255, 255, 255], high = [0, 0, 0];
    let n = 0;
    for (const c of cells) {
      n += c.n;
      c.at.forEach((v, k) => { low[k] = Math.min(low[k], v); high[k] = Math.max(high[k], v); });
    }
    const long = [0, 1, 2].sort((a, b) => high[b] - low[b] - (high[a] - low[a]))[0];
    return { cells, n, long, weight: n ** 0.6 * (high[long] - low[long]) };
  };
  const boxes = [measure(histogram(pictures))];
  while (boxes.length < size) {
    boxes.sort((a, b) => b.weight - a.weight);
    if (!(boxes[0].weight > 0)) break;
    const { cells, n, long } = boxes.shift();
    cells.sort((a, b) => a.at[long] - b.at[long]);
    let half = 0, i = 0;
    while (i < cells.length - 1 && (i === 0 || half + cells[i].n <= n / 2)) half += cells[i++].n;
    boxes.push(measure(cells.slice(0, i)), measure(cells.slice(i)));
  }
  const wide = 1 << (8 - bits);
  return boxes.map(({ cells, n }) => [0, 1, 2].map((k) => Math.round(cells.reduce((s, c) => s + c.n * (c.at[k] + 0.5) * wide, 0) / n)));
}

function nearestIn(colors) {
  const known = new Int16Array(1 << (3 * bits)).fill(-1);
  return (r, g, b) => {
    const cell = cellOf(r, g, b);
    if (known[cell] < 0) {
      let best = Infinity;
      colors.forEach(([x, y, z], i) => {
        const d = (r - x) ** 2 * 2 + (g - y) ** 2 * 4 + (b - z) ** 2;
        if (d < best) { best = d; known[cell] = i; }
      });
    }
    return known[cell];
  };
}

// The codes of GIF's LZW, in blocks of 255 bytes.
function lzw(pixels, depth, out) {
  const clear = 1 << depth, end = clear + 1;
  let table = new Map(), next = end + 1, width = depth + 1, hold = 0, held = 0;
  const bytes = [];
  const emit = (code) => {
    hold |= code << held;
    held += width;
    for (; held >= 8; held -= 8, hold >>>= 8) bytes.push(hold & 255);
  };
  emit(clear);
  let prefix = pixels[0];
  for (let i = 1; i < pixels.length; i++) {
    const key = (prefix << 8) | pixels[i], known = table.get(key);
    if (known !== undefined) { prefix = known; continue; }
    emit(prefix);
    if (next < 4096) {
      if (next === 1 << width && width < 12) width++;
      table.set(key, next++);
    } else {
      emit(clear);
      table = new Map();
      next = end + 1;
      width = depth + 1;
    }
    prefix = pixels[i];
  }
  emit(prefix);
  if (next === 1 << width && width < 12) width++;
  emit(end);
  if (held > 0) bytes.push(hold & 255);
  out.push(depth);
  for (let i = 0; i < bytes.length; i += 255) {
    const part = bytes.slice(i, i + 255);
    out.push(part.length, ...part);
  }
  out.push(0);
}

const word = (v) => [v & 255, v >> 8];

// pictures: ImageData of one size; delay: hundredths of a second. Gives the bytes of the file.
export function makeGif(pictures, delay) {
  const { width, height } = pictures[0];
  const some = pictures.filter((_, i) => i % Math.ceil(pictures.length / 12) === 0);
  const colors = palette(some, 255), same = 255; // the last one stands for "as before"
  const nearest = nearestIn(colors);
  const out = [...new TextEncoder().encode("GIF89a"), ...word(width), ...word(height), 0xf7, 0, 0];
  for (let i = 0; i < 256; i++) out.push(...(colors[i] ?? [0, 0, 0]));
  out.push(0x21, 0xff, 11, ...new TextEncoder().encode("NETSCAPE2.0"), 3, 1, 0, 0, 0);
  let before = null;
  for (const { data } of pictures) {
    const now = new Uint8Array(width * height), shown = new Uint8Array(width * height);
    for (let i = 0; i < now.length; i++) {
      now[i] = nearest(data[4 * i], data[4 * i + 1], data[4 * i + 2]);
      shown[i] = before && before[i] === now[i] ? same : now[i];
    }
    out.push(0x21, 0xf9, 4, 0x05, ...word(delay), same, 0, 0x2c, 0, 0, 0, 0, ...word(width), ...word(height), 0);
    lzw(shown, 8, out);
    before = now;
  }
  out.push(0x3b);
  return Uint8Array.from(out);
}
