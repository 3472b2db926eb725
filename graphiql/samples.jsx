// A pane that lists the sample operations and opens one in a new tab.
import { useGraphiQL, useGraphiQLActions } from "@graphiql/react";

const Icon = () => (
  <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="1.5">
    <path d="M12 3a6 6 0 0 1 6 6c0 4-6 12-6 12S6 13 6 9a6 6 0 0 1 6-6Z" />
    <circle cx="12" cy="9" r="2.2" />
  </svg>
);

// The first comment line of a sample says what it does.
const summary = (query) => /^#\s*(.+)$/m.exec(query)?.[1] ?? "";

function Samples({ samples }) {
  const { addTab } = useGraphiQLActions();
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const open = (sample) => {
    addTab();
    queryEditor?.setValue(sample.query);
    variableEditor?.setValue(sample.variables);
  };
  return (
    <section aria-label="Sample operations" className="pinway-samples">
      <h2>Samples</h2>
      {samples.map((sample) => (
        <button key={sample.title} type="button" onClick={() => open(sample)}>
          <strong>{sample.title}</strong>
          <span>{summary(sample.query)}</span>
        </button>
      ))}
    </section>
  );
}

export const samplesPlugin = (samples) => ({
  title: "Sample operations",
  icon: Icon,
  content: () => <Samples samples={samples} />,
});
