// Monaco runs its language services in workers; each is a file of our own, built by Vite. Together they
// are larger than what the page needs to show itself, so they are loaded when somebody first uses the
// page: until then, nothing is completed, checked or formatted.
import EditorWorker from "monaco-editor/esm/vs/editor/editor.worker.js?worker";
import JsonWorker from "monaco-editor/esm/vs/language/json/json.worker.js?worker";
import GraphQLWorker from "monaco-graphql/esm/graphql.worker.js?worker";

const workers = { json: JsonWorker, graphql: GraphQLWorker };
const USES = ["focusin", "keydown", "pointerdown"];

const used = new Promise((resolve) => {
  for (const event of USES) addEventListener(event, resolve, { once: true, capture: true, passive: true });
});

globalThis.MonacoEnvironment = {
  async getWorker(_id, label) {
    await used;
    return new (workers[label] ?? EditorWorker)();
  },
};
