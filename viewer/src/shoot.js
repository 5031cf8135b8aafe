// Pictures of frames, for carom render: one, several on a sheet, or a film.
import { makeGif } from "./gif.js";

const finer = 2; // a picture is drawn so many times larger, then made smaller: smooth edges

async function letters(blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  if (bytes.toBase64) return bytes.toBase64();
  let text = "";
  for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
  return btoa(text);
}

const png = (canvas) => new Promise((done) => canvas.toBlob(done, "image/png")).then(letters);

// host: {view, prepare(frame) -> Promise<caption>, ink, paper}
export class Shooter {
  constructor(host) {
    this.host = host;
  }

  // The stage at a frame, on a canvas of this size.
  async canvas(frame, width, height, captioned, scale = finer) {
    const caption = await this.host.prepare(frame);
    const out = document.createElement("canvas");
    Object.assign(out, { width, height });
    const pen = out.getContext("2d", { willReadFrequently: true });
    pen.imageSmoothingQuality = "high";
    pen.drawImage(this.host.view.drawSized(width, height, scale), 0, 0, width, height);
    if (captioned) this.write(pen, caption, 12, height - 12, Math.max(11, Math.round(height / 26)));
    return out;
  }

  write(pen, text, x, y, size) {
    pen.font = `${size}px system-ui, sans-serif`;
    pen.fillStyle = this.host.ink();
    pen.textBaseline = "alphabetic";
    pen.fillText(text, x, y);
  }

  async still(frame, width, height, captioned = false) {
    return png(await this.canvas(frame, width, height, captioned));
  }

  // Frames beside and below each other, each with its time.
  async sheet(frames, width, height) {
    if (frames.length === 1) return this.still(frames[0], width, height);
    const columns = Math.min(frames.length, frames.length <= 3 ? frames.length : Math.ceil(Math.sqrt(frames.length)));
    const rows = Math.ceil(frames.length / columns), gap = 4;
    const w = Math.floor((width - (columns - 1) * gap) / columns), h = Math.round((w * height) / width);
    const all = document.createElement("canvas");
    Object.assign(all, { width: columns * w + (columns - 1) * gap, height: rows * h + (rows - 1) * gap });
    const pen = all.getContext("2d");
    pen.fillStyle = this.host.paper();
    pen.fillRect(0, 0, all.width, all.height);
    for (let i = 0; i < frames.length; i++) {
      pen.drawImage(await this.canvas(frames[i], w, h, true), (i % columns) * (w + gap), Math.floor(i / columns) * (h + gap));
    }
    return png(all);
  }

  async gif(frames, width, height, delay) {
    const pictures = [];
    for (const frame of frames) {
      const canvas = await this.canvas(frame, width, height, false, 1);
      pictures.push(canvas.getContext("2d").getImageData(0, 0, width, height));
    }
    return letters(new Blob([makeGif(pictures, delay)]));
  }
}
