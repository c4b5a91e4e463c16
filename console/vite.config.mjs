import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vite";

/** Writes the licences of the bundled packages to `licenses.txt`, because MIT requires the notice in every copy. */
function licenses() {
  return {
    name: "licenses",
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((chunk) => Object.keys(chunk.modules ?? {}));
      const names = modules.map((id) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1]).filter(Boolean);
      const source = [...new Set(names)].sort().map(notice).join("\n\n");
      this.emitFile({ type: "asset", fileName: "licenses.txt", source });
    },
  };
}

/** Returns the notice of a package, or the name of its licence if the package has no file with a notice. */
function notice(name) {
  const file = readdirSync(`node_modules/${name}`).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file
    ? readFileSync(`node_modules/${name}/${file}`, "utf8").trim()
    : JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).license;
  return `${name}\n\n${text}\n`;
}

export default defineConfig({
  // Relative URLs also work below the stage of an API Gateway.
  base: "./",
  plugins: [licenses()],
  esbuild: { jsx: "automatic", legalComments: "none" },
  build: {
    target: "es2022",
    sourcemap: false,
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rollupOptions: {
      output: {
        entryFileNames: "app.js",
        assetFileNames: (asset) => (asset.names.some((name) => name.endsWith(".css")) ? "app.css" : "[name][extname]"),
        // The only dynamic import is `src/editor`: it keeps the large packages out of the first transfer.
        chunkFileNames: "editor.js",
      },
    },
  },
});
