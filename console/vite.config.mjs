import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

const BUNDLED = ["react", "react-dom", "scheduler", "openapi-fetch"];

/** Writes the licences of the bundled packages to `licenses.txt`, because MIT requires the notice in every copy. */
function licenses() {
  const text = (name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
  return {
    name: "licenses",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "licenses.txt", source: BUNDLED.map(text).join("\n\n") });
    },
  };
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
        inlineDynamicImports: true,
      },
    },
  },
});
