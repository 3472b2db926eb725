// GraphiQL for Pinway: signed in as the viewer that the server names, with its samples in tabs.
import "./workers.js";
import "@graphiql/react/style.css";
import "@graphiql/plugin-doc-explorer/style.css";
import "@graphiql/plugin-history/style.css";
import "@graphiql/plugin-explorer/style.css";
import "graphiql/graphiql.css";
import "./style.css";
import { explorerPlugin } from "@graphiql/plugin-explorer";
import { HISTORY_PLUGIN } from "@graphiql/plugin-history";
import { useGraphiQL, useGraphiQLActions, useMonaco } from "@graphiql/react";
import { createGraphiQLFetcher, createLocalStorage } from "@graphiql/toolkit";
import { GraphiQL } from "graphiql";
import { useEffect } from "react";
import { createRoot } from "react-dom/client";
import { loadBoot, signedFetch } from "./boot.js";
import { withSubscriptions } from "./live.js";
import { currentOperation } from "./operation.js";
import { plainTabs } from "./plain_tabs.js";
import { registerImagePreview } from "./preview.js";
import { samplesPlugin } from "./samples.jsx";
import { NAMESPACE, prepareTabs } from "./tabs.js";
import { traced, tracePlugin } from "./trace.jsx";

function ImagePreview() {
  const monaco = useMonaco((state) => state.monaco);
  useEffect(() => {
    const provider = monaco && registerImagePreview(monaco);
    return () => provider?.dispose();
  }, [monaco]);
  return null;
}

// The page takes on the system's colors at once; GraphiQL's editors only at the start.
function SystemColors() {
  const { setTheme } = useGraphiQLActions();
  const theme = useGraphiQL((state) => state.theme);
  useEffect(() => {
    if (theme) return;
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => setTheme(null);
    scheme.addEventListener("change", follow);
    return () => scheme.removeEventListener("change", follow);
  }, [theme, setTheme]);
  return null;
}

function PlainTabs() {
  useEffect(
    () => plainTabs(document.querySelector(".graphiql-tabs"), document.getElementById("graphiql-session")),
    [],
  );
  return null;
}

function Banner({ viewer }) {
  return viewer ? (
    <h1 className="pinway-banner" title="The development server signed this page in.">
      Pinway · signed in as <strong>{viewer}</strong>
    </h1>
  ) : (
    <h1 className="pinway-banner" title='Set {"Authorization": "Bearer …"} in the Headers pane.'>
      Pinway · <strong>not signed in</strong>
    </h1>
  );
}

async function start() {
  const boot = await loadBoot();
  prepareTabs(localStorage, boot.tabs);
  const send = createGraphiQLFetcher({
    url: boot.endpoint,
    fetch: signedFetch(boot),
    enableIncrementalDelivery: true,
  });
  const ask = withSubscriptions(traced(send), boot.endpoint);
  const fetcher = (request, options) => ask(currentOperation(request), options);
  const plugins = [HISTORY_PLUGIN, explorerPlugin(), samplesPlugin(boot.tabs), tracePlugin()];
  createRoot(document.getElementById("root")).render(
    <GraphiQL
      fetcher={fetcher}
      plugins={plugins}
      storage={createLocalStorage({ namespace: NAMESPACE })}
      defaultEditorToolsVisibility="variables"
    >
      <GraphiQL.Logo>
        <Banner viewer={boot.viewer} />
      </GraphiQL.Logo>
      <ImagePreview />
      <SystemColors />
      <PlainTabs />
    </GraphiQL>,
  );
}

start();
