// Builds the client into the files that the gateway serves under /web/.
import { createHash } from "node:crypto";
import { addTypenameToDocument } from "@apollo/client/utilities";
import { type DocumentNode, type OperationDefinitionNode, print } from "graphql";
import { defineConfig, type Plugin } from "vite";
import { Notices } from "../graphiql/notices.js";
import * as generated from "./src/gen/graphql";

const notices = new Notices(`Third parties' notices

The files in this folder are built from web and contain code of these packages.
`);

// The documents as Apollo Client sends them, by their hashes; and the hashes by the operations' names.
const documents: Record<string, string> = {};
const hashes: Record<string, string> = {};
for (const document of Object.values(generated) as DocumentNode[]) {
  const operation = document.definitions.find(
    (one): one is OperationDefinitionNode => one.kind === "OperationDefinition",
  );
  if (!operation?.name) continue; // a fragment, which is in the documents of its operations
  const text = print(addTypenameToDocument(document));
  const hash = createHash("sha256").update(text).digest("hex");
  documents[hash] = text;
  hashes[operation.name.value] = hash;
}

export default defineConfig({
  base: "/web/",
  plugins: [notices.collector(), notices.writer(), preloadMain(), manifest()],
  define: { __HASHES__: JSON.stringify(hashes), __HOME_FEED__: JSON.stringify(hashes["HomeFeed"]) },
  // Apollo's hooks are written for React; Preact's compatible build is a tenth of its size.
  resolve: { alias: { react: "preact/compat", "react-dom": "preact/compat" } },
  build: {
    outDir: process.env.PINWAY_WEB_OUT ?? "../gateway/static/web",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    reportCompressedSize: false,
  },
  // `npm run dev` beside `make run`: the API, the pictures and the users' own data come from the gateway.
  server: {
    proxy: {
      "/graphql": gateway(),
      "/images": gateway(),
      "/exports": gateway(),
      "^/web/(boot.json|sign-in)": gateway(),
    },
  },
});

// The manifest from which the gateway knows the client's documents: ids and texts, as GraphQL Code
// Generator writes them.
function manifest(): Plugin {
  return {
    name: "persisted-documents",
    generateBundle() {
      const source = `${JSON.stringify(documents, Object.keys(documents).sort(), 1)}\n`;
      this.emitFile({ type: "asset", fileName: "persisted-documents.json", source });
    },
  };
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
