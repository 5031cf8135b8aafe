// One file comes out: dist/viewer.html with its script and its style in it, so that a page made
// from it opens from disk, without a server and without a network.
import { defineConfig } from "vite";

function oneFile() {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = Object.values(bundle).find((f) => f.fileName.endsWith(".html"));
      for (const file of Object.values(bundle)) {
        // a function as replacement: "$&" in minified code means nothing
        if (file.type === "chunk") {
          const code = file.code.replaceAll("</script", "<\\/script");
          page.source = page.source
            .replace(/<script[^>]*src="[^"]*"[^>]*><\/script>/, "")
            .replace("<!--code-->", () => `<script type="module">${code}</script>`);
        } else if (file.fileName.endsWith(".css")) {
          page.source = page.source.replace(/<link[^>]*\.css"[^>]*>/, () => `<style>${file.source}</style>`);
        } else {
          continue;
        }
        delete bundle[file.fileName];
      }
    },
  };
}

export default defineConfig({
  base: "./",
  build: {
    rollupOptions: { input: "viewer.html" },
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
  },
  plugins: [oneFile()],
});
