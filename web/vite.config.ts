// Builds the client into the files that the gateway serves under /web/.
import { addTypenameToDocument } from "@apollo/client/utilities";
import { print } from "graphql";
import { defineConfig, type Plugin } from "vite";
import { Notices } from "../graphiql/notices.js";
import { HomeFeedDocument } from "./src/gen/graphql";

const notices = new Notices(`Third parties' notices

The files in this folder are built from web and contain code of these packages.
`);

export default defineConfig({
  base: "/web/",
  plugins: [notices.collector(), notices.writer(), preloadMain()],
  define: { __HOME_FEED__: JSON.stringify(homeFeed()) },
  // Apollo's hooks are written for React; Preact's compatible build is a tenth of its size.
  resolve: { alias: { react: "preact/compat", "react-dom": "preact/compat" } },
  build: {
    outDir: process.env.PINWAY_WEB_OUT ?? "../gateway/static/web",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    reportCompressedSize: false,
  },
  // `npm run dev` beside `make run`: the API and the pictures come from the gateway.
  server: { proxy: { "/graphql": gateway(), "/images": gateway(), "^/web/(boot.json|sign-in)": gateway() } },
});

// The query of src/early.ts, with the type names that the cache needs.
function homeFeed(): string {
  return print(addTypenameToDocument(HomeFeedDocument)).replace(/\s+/g, " ");
}

// The browser loads the client together with its entry, which imports the client.
function preloadMain(): Plugin {
  return {
    name: "preload-main",
    transformIndexHtml: {
      order: "post",
      handler(_html, { bundle }) {
        const main = Object.values(bundle ?? {}).find((file) => file.name === "main");
        const href = `/web/${main?.fileName}`;
        return main && [{ tag: "link", attrs: { rel: "modulepreload", crossorigin: true, href }, injectTo: "head" }];
      },
    },
  };
}

function gateway() {
  return process.env.PINWAY_URL ?? "http://127.0.0.1:8000";
}
