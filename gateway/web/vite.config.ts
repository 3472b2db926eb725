// Builds the client into the files that the gateway serves under /web/.
import { defineConfig } from "vite";
import { Notices } from "../graphiql/notices.js";

const notices = new Notices(`Third parties' notices

The files in this folder are built from gateway/web and contain code of these packages.
`);

export default defineConfig({
  base: "/web/",
  plugins: [notices.collector(), notices.writer()],
  // Apollo's hooks are written for React; Preact's compatible build is a tenth of its size.
  resolve: { alias: { react: "preact/compat", "react-dom": "preact/compat" } },
  build: {
    outDir: process.env.PINWAY_WEB_OUT ?? "../static/web",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    reportCompressedSize: false,
  },
  // `npm run dev` beside `make run`: the API and the pictures come from the gateway.
  server: { proxy: { "/graphql": gateway(), "/images": gateway(), "^/web/(boot.json|sign-in)": gateway() } },
});

function gateway() {
  return process.env.PINWAY_URL ?? "http://127.0.0.1:8000";
}
