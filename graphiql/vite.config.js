// Builds the page into the files that the gateway serves under /graphiql/.
import { defineConfig } from "vite";
import { Notices } from "./notices.js";

const notices = new Notices();

export default defineConfig({
  base: "/graphiql/",
  plugins: [notices.collector(), notices.writer()],
  worker: { format: "es", plugins: () => [notices.collector()] },
  build: {
    outDir: process.env.PINWAY_GRAPHIQL_OUT ?? "../gateway/static/graphiql",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 5000,
  },
});
